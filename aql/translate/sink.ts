import { fieldsOf, fieldsOfMatch } from './expression.js';
import type { LookupStep, Step } from './stages.js';

/**
 * Moves joins behind the last limit when nothing before it reads them: what only a cell shows is fetched for
 * the rows that are answered, not for all.
 */
export function sinkLookups(steps: readonly Step[]): readonly Step[] {
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
  for (const step of [...steps].reverse()) {
    if (step.kind === 'match') add(needed, fieldsOfMatch(step.match));
    else if (step.kind === 'unwind') needed.add(rootOf(step.field));
    else if (step.kind === 'sort') add(needed, new Set(step.keys.map(([field]) => field)));
    else if (step.kind === 'merge' && needed.has(step.field)) for (const part of step.parts) needed.add(part);
    else if (step.kind === 'group') add(needed, fieldsOf([step.id, ...Object.values(step.accumulators)]));
    else if (step.kind === 'set' && needed.has(step.field)) add(needed, fieldsOf(step.value));
    else if (step.kind === 'lookup' && needed.has(step.as)) addJoin(needed, step);
  }
  return needed;
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

function rootOf(field: string): string {
  const dot = field.indexOf('.');
  return dot < 0 ? field : field.slice(0, dot);
}
