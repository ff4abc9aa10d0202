import { CdrError } from '../../openehr/base/errors.js';
import { domainOf } from '../../openehr/rm/ordered-value.js';

const PRIMITIVES = ['Integer', 'Integer64', 'Real'];

/** Whether SUM and AVG add the values of a class as numbers (docs/spec/aql.md#aggregates). */
export function isSummable(name: string): boolean {
  return PRIMITIVES.includes(name) || domainOf(name) === 'number';
}

/** What SUM and AVG add by its seconds, to nothing else. */
export const DURATION = 'DV_DURATION';

/** Points in time: what two of them would add up to means nothing. */
export const POINTS_IN_TIME: readonly string[] = ['DV_DATE', 'DV_DATE_TIME', 'DV_TIME'];

/** Refuses a sum or average in which a value of a class stands that cannot be added to the others. */
export function refusedTotal(column: string, name: string): CdrError {
  const why =
    name === DURATION
      ? 'it has numbers and durations, which cannot be added to each other'
      : `it has a ${name}, and points in time cannot be added`;
  return new CdrError(
    'invalid',
    `SUM and AVG: column ${column} cannot be summed, as ${why}: name the nodes to add in the path`,
  );
}
