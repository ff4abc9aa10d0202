import { aqlError } from '../../syntax/aql-error.js';
import type { MatchItem, MatchList, Unbound } from '../../syntax/ast.js';
import { MAX_ALL_LIST_VALUES, MAX_LIST_VALUES } from '../../syntax/limits.js';
import type { QueryParameters } from './parameters.js';
import { counted } from '../../../openehr/base/work.js';

/** Counts the values in the lists of one query, those of parameters with them, before they are read. */
export class ListBudget {
  private count = 0;

  /** @throws invalid past `MAX_LIST_VALUES` in this list or `MAX_ALL_LIST_VALUES` in all lists so far */
  add({ items, at }: MatchList<Unbound>, parameters: QueryParameters): void {
    let count = 0;
    for (const item of counted(items)) count += itemCount(item, parameters);
    if (count > MAX_LIST_VALUES)
      throw aqlError(
        at,
        `a list of MATCHES can have at most ${MAX_LIST_VALUES} values, this one has ${count}`,
      );
    this.count += count;
    if (this.count > MAX_ALL_LIST_VALUES)
      throw aqlError(
        at,
        `all lists of MATCHES together can have at most ${MAX_ALL_LIST_VALUES} values, here are ${this.count}`,
      );
  }
}

function itemCount(item: MatchItem<Unbound>, { values }: QueryParameters): number {
  const value = item.kind === 'parameter' ? values.get(item.name) : undefined;
  return Array.isArray(value) ? value.length : 1;
}
