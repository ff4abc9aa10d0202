import { call, fieldRef } from '../../plan/expression.js';
import type { JsonValue } from '../../../openehr/base/json.js';
import type { Column } from '../../semantics/scope-types.js';
import { accumulation } from './aggregate.js';
import { cellOf } from './cell.js';
import type { Cell } from './cell.js';
import type { Expression } from '../../plan/expression.js';
import type { ValueState } from '../path/operand.js';
import type { SortValue } from './order.js';
import type { Step } from '../../plan/steps.js';
import { counted } from '../../../openehr/base/work.js';

/** What `$group` gets, and the columns read from its documents. */
export interface Group {
  /** The columns that make a group; null = all rows are one. */
  readonly id: Readonly<Record<string, Expression>> | null;
  readonly accumulators: Record<string, Expression>;
  readonly cells: readonly Cell[];
  /** Sort value of each aggregate column. */
  readonly results: readonly (SortValue | null)[];
  /** The row of aggregates over nothing. */
  readonly empty: readonly JsonValue[];
  /** Sets of sort values after the group. */
  readonly sortFields: Step[];
}

/** The groups of DISTINCT (no accumulators) or of aggregates; literals make no group. docs/spec/aql.md#aggregates */
export function groupOf(columns: readonly Column[], state: ValueState): Group {
  const id: Record<string, Expression> = {};
  const accumulators: Record<string, Expression> = {};
  const results: (SortValue | null)[] = [];
  const empty: JsonValue[] = [];
  const cells = counted(columns).map(({ expression }, index): Cell => {
    results.push(null);
    empty.push(null);
    if (expression.kind === 'aggregate') {
      const made = accumulation(expression, `a${index}`, state);
      Object.assign(accumulators, made.accumulators);
      results[index] = made.sort;
      empty[index] = made.empty;
      return { kind: made.kind, value: made.result, segs: null, documentId: null };
    }
    const cell = cellOf(expression, state);
    if (expression.kind !== 'path' && expression.kind !== 'function') {
      empty[index] = 'value' in expression ? expression.value : null;
      return cell;
    }
    id[`c${index}`] = call('$ifNull', [cell.value, null]);
    const value = fieldRef(`_id.c${index}`);
    return { ...cell, value };
  });
  const isOne = Object.keys(id).length === 0;
  const isAggregated = counted(columns).some(({ expression }) => expression.kind === 'aggregate');
  return { id: isOne && isAggregated ? null : id, accumulators, cells, results, empty, sortFields: [] };
}
