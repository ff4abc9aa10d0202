import type { FunctionName } from '../syntax/ast.js';
import type { Domain } from './scope/types.js';

/**
 * Domain of what each function gives; the CURRENT_… functions give texts in ISO 8601 form
 * (docs/spec/aql.md#functions).
 */
export const FUNCTION_DOMAINS: Readonly<Record<FunctionName, Domain>> = {
  LENGTH: 'number',
  CONTAINS: 'boolean',
  POSITION: 'number',
  SUBSTRING: 'text',
  CONCAT: 'text',
  CONCAT_WS: 'text',
  ABS: 'number',
  MOD: 'number',
  CEIL: 'number',
  FLOOR: 'number',
  ROUND: 'number',
  CURRENT_DATE: 'text',
  CURRENT_TIME: 'text',
  CURRENT_DATE_TIME: 'text',
  NOW: 'text',
  CURRENT_TIMEZONE: 'text',
};

const NUMERIC: ReadonlySet<FunctionName> = new Set<FunctionName>(['ABS', 'MOD', 'CEIL', 'FLOOR', 'ROUND']);

/** Domain that an argument of a function must have. */
export function argumentDomain(name: FunctionName, index: number): 'number' | 'text' {
  return NUMERIC.has(name) || (name === 'SUBSTRING' && index > 0) ? 'number' : 'text';
}

/** Whether a function gives the same text in every row: the present time. */
export function isPresentTime(name: FunctionName): boolean {
  return name.startsWith('CURRENT_') || name === 'NOW';
}
