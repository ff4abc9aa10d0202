import type { LinearPattern } from '../../base/linear-pattern.js';
import { isKindOf } from '../../rm/model/classes.js';
import type { SlotAssertion, SlotConstraint } from './constraint.js';
import { wholeTextPattern } from './whole-text-pattern.js';

/** Whether an archetype may stand in a slot. */
export type SlotCheck = (archetypeId: string) => boolean;

const ANYTHING = new Set(['.*', '.+', '/.*/', '/.+/']);
/** Archetype ids are short; patterns are not run against longer texts. */
const MAX_ARCHETYPE_ID_LENGTH = 255;

/**
 * The check of a slot: RM class, includes, excludes (docs/spec/formats.md#template-rules). An exclusion of
 * everything leaves what is included; without includes everything is, and any other exclusion wins.
 */
export function slotCheck(slot: SlotConstraint): SlotCheck {
  const includes = assertionPatterns(slot.includes);
  const excludes = assertionPatterns(slot.excludes);
  const isClosed = slot.excludes.some((assertion) => isAnything(assertion));
  return (archetypeId) => {
    if (archetypeId.length > MAX_ARCHETYPE_ID_LENGTH) return false;
    const rmClass = /^[\w]+-[\w]+-(\w+)\./.exec(archetypeId)?.[1];
    if (rmClass === undefined || !isKindOf(rmClass, slot.rmType)) return false;
    const isIncluded = includes.some((pattern) => pattern.test(archetypeId));
    if (isClosed) return isIncluded;
    if (includes.length > 0 && !isIncluded) return false;
    return !excludes.some((pattern) => pattern.test(archetypeId));
  };
}

function assertionPatterns(assertions: readonly SlotAssertion[]): LinearPattern[] {
  return assertions.flatMap(({ archetypeIdPattern }) =>
    archetypeIdPattern === null ? [] : [wholeTextPattern(archetypeIdPattern)],
  );
}

/** Whether an assertion is true of any archetype. */
export function isAnything({ archetypeIdPattern }: SlotAssertion): boolean {
  return archetypeIdPattern !== null && ANYTHING.has(archetypeIdPattern);
}
