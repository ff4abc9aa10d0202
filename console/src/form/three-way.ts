import type { WebTemplate } from '@everchart/client';
import { kindOf, placesOf } from './form-tree.js';
import { placesAbove, withValues, type FlatValues } from './values.js';

/** Whose value of a field goes on. */
export type Side = 'mine' | 'theirs';

/** A field that somebody else changed meanwhile, with what it said before and what it says to each. */
export interface FieldChange {
  /** The place of the field; of what no field shows, its key. */
  readonly path: string;
  readonly before: FlatValues;
  readonly mine: FlatValues;
  readonly theirs: FlatValues;
  /** Whether both changed it, to something else: somebody has to choose. */
  readonly isContested: boolean;
}

/** Three states of one document as FLAT: what both began from, what is typed, what was saved meanwhile. */
export interface ThreeWay {
  readonly template: WebTemplate;
  readonly before: FlatValues;
  readonly mine: FlatValues;
  readonly theirs: FlatValues;
}

/** The fields that were changed meanwhile, in the order of the form. */
export function changesOf({ template, before, mine, theirs }: ThreeWay): FieldChange[] {
  const fields = new Map<string, string[]>();
  const all = { ...before, ...mine, ...theirs };
  const leaves = leavesOf(template, all);
  for (const path of leaves) fields.set(path, []);
  for (const key of Object.keys(all)) {
    if (key === `${template.tree.id}/_uid`) continue; // says which version it is
    const path = placesAbove(key).find((place) => leaves.has(place)) ?? key;
    fields.set(path, [...(fields.get(path) ?? []), key]);
  }
  return [...fields].flatMap(([path, keys]) => {
    const [was, is, became] = [before, mine, theirs].map((values) => picked(values, keys));
    if (was === undefined || is === undefined || became === undefined || isSame(was, became)) return [];
    return [
      { path, before: was, mine: is, theirs: became, isContested: !isSame(was, is) && !isSame(is, became) },
    ];
  });
}

/**
 * What is typed on top of what was saved meanwhile: what only one changed is as he changed it, what both changed as it was
 * chosen.
 */
export function mergedValues(
  mine: FlatValues,
  changes: readonly FieldChange[],
  choices: ReadonlyMap<string, Side>,
): FlatValues {
  let merged = mine;
  for (const change of changes) {
    if (change.isContested && choices.get(change.path) !== 'theirs') continue;
    const cleared = Object.fromEntries(Object.keys(change.mine).map((key) => [key, undefined]));
    merged = withValues(merged, { ...cleared, ...change.theirs });
  }
  return merged;
}

function leavesOf(template: WebTemplate, values: FlatValues): Set<string> {
  const leaves = new Set<string>();
  for (const [path, node] of placesOf(template, values)) if (kindOf(node) === 'field') leaves.add(path);
  return leaves;
}

function picked(values: FlatValues, keys: readonly string[]): FlatValues {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = values[key];
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}

function isSame(left: FlatValues, right: FlatValues): boolean {
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key]);
}

/** The value of a field in a line: `12 mg`, `Sitting`. Empty where it has none. */
export function fieldText(parts: FlatValues): string {
  const named = Object.keys(parts).find((key) => key.endsWith('|value'));
  return named === undefined ? Object.values(parts).map(String).join(' ') : String(parts[named]);
}
