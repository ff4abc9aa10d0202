import { aqlError } from '../syntax/aql-error.js';
import type { Position } from '../syntax/ast.js';
import { counted } from '../../openehr/base/work.js';

/**
 * The variable or alias that a name stands for: the one written just so, else the only one that differs in case alone;
 * null when there is none (docs/spec/aql.md#lexical-rules). @throws invalid when several differ in case alone
 */
export function writtenName(name: string, names: Iterable<string>, at: Position): string | null {
  const alike = counted([...names]).filter((each) => each.toLowerCase() === name.toLowerCase());
  const [only, another] = alike;
  if (alike.includes(name)) return name;
  if (another !== undefined)
    throw aqlError(
      at,
      `'${name}' may be ${alike.join(' or ')}, which differ in case: write the one you mean`,
    );
  return only ?? null;
}
