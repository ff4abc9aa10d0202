import { fromClass } from '../../../aql/semantics/classes.js';
import { stepsOf, type Catalogue } from './catalogue.js';
import { placeOfClass, stepFrom, type Place } from './path-classes.js';
import type { WrittenClass } from './tokens.js';

/** A path before the cursor is looked for in so many characters. */
const LONGEST_PATH = 4_000;
const PREDICATE = String.raw`(?:\[[^[\]]*\])?`;
const PATH = new RegExp(String.raw`(?:^|[^\w$/.\]:-])([A-Za-z]\w*)((?:${PREDICATE}(?:/\w+${PREDICATE})*))$`);

/** A path that is being written. */
export interface WrittenPath {
  readonly variable: string;
  /** What follows the variable. */
  readonly rest: string;
}

/** The path that ends where the text ends, null when none does. */
export function pathBefore(text: string): WrittenPath | null {
  const [, variable, rest] = PATH.exec(text.slice(-LONGEST_PATH)) ?? [];
  return variable === undefined || rest === undefined ? null : { variable, rest };
}

/** Where a path leads, null when FROM has no such variable. */
export function placeOf(
  { variable, rest }: WrittenPath,
  classes: readonly WrittenClass[],
  catalogue: Catalogue | null,
): Place | null {
  const start = classes.find((each) => each.variable?.toLowerCase() === variable.toLowerCase());
  if (start === undefined || fromClass(start.className) === undefined) return null;
  const own = /^\[([^[\]]*)\]/.exec(rest)?.[1]?.trim();
  const archetype = own?.includes('-') === true ? own : (start.archetypes[0] ?? null);
  let place = placeOfClass(start.className, archetype);
  for (const step of stepsOf(rest)) place = stepFrom(place, step, catalogue);
  return place;
}

/** The archetype of a class of FROM or of the nearest above it. */
export function archetypeAround(written: WrittenClass | null): string | null {
  for (let here = written; here !== null; here = here.parent)
    if (here.archetypes[0] !== undefined) return here.archetypes[0];
  return null;
}
