import { fieldsOf, fieldsOfMatch } from './expression.js';
import { rootOf } from './liveness.js';
import type { LookupStep, Step } from './steps.js';

/**
 * Moves joins behind the last limit when nothing before it reads them: what only a cell shows is fetched for
 * the rows that are answered, not for all.
 */
export function deferLookups(steps: readonly Step[]): readonly Step[] {
  const limit = steps.findLastIndex(({ kind }) => kind === 'limit');
  if (limit < 0) return steps;
  const before = steps.slice(0, limit + 1);
  const needed = neededFields(before);
  const late = new Set<string>();
  const kept: Step[] = [];
  const moved: Step[] = [];
  for (const step of before) {
    const field = step.kind === 'lookup' ? step.as : step.kind === 'set' ? step.field : null;
    const isFree = field !== null && !needed.has(field);
    const isLate = isFree && (step.kind === 'lookup' || readsAny(step, late));
    if (isLate) late.add(field);
    (isLate ? moved : kept).push(step);
  }
  return [...kept, ...moved, ...steps.slice(limit + 1)];
}

/** Top-level fields that decide which rows there are and in which order. */
function neededFields(steps: readonly Step[]): ReadonlySet<string> {
  const needed = new Set<string>();
  for (const step of [...steps].reverse()) addNeeds(step, needed);
  return needed;
}

function addNeeds(step: Step, needed: Set<string>): void {
  switch (step.kind) {
    case 'match':
      add(needed, fieldsOfMatch(step.match));
      break;
    case 'unwind':
      needed.add(rootOf(step.field));
      break;
    case 'sort':
      add(needed, new Set(step.keys.map(([field]) => field)));
      break;
    case 'group':
      add(needed, fieldsOf([step.id, ...Object.values(step.accumulators)]));
      break;
    case 'set':
      if (needed.has(step.field)) add(needed, fieldsOf(step.value));
      break;
    case 'lookup':
      if (needed.has(step.as)) addJoin(needed, step);
      break;
    case 'merge':
      if (needed.has(step.field)) add(needed, new Set(step.parts));
      break;
    default:
  }
}

function addJoin(needed: Set<string>, step: LookupStep): void {
  if (step.localField !== null) needed.add(rootOf(step.localField));
  add(needed, fieldsOf(step.variables));
}

function add(needed: Set<string>, fields: ReadonlySet<string>): void {
  for (const field of fields) needed.add(rootOf(field));
}

function readsAny(step: Step, fields: ReadonlySet<string>): boolean {
  if (step.kind !== 'set') return false;
  return [...fieldsOf(step.value)].some((field) => fields.has(rootOf(field)));
}
