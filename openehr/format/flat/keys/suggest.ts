import { CdrError } from '../../../base/errors.js';
import type { FlatValue } from './keys.js';
import type { PlanNode } from '../plan.js';
import { tableOf } from '../value/type-table.js';

/** So many keys get a suggestion; a body of thousands of wrong keys is answered without. */
const MAX_SUGGESTIONS = 5;
/** So many keys are named: what is wrong with a body of thousands of wrong keys is seen in the first ones. */
const MAX_NAMED = 1000;
const MAX_LENGTH = 200;
const SUFFIXES_OF_TEXTS = ['code', 'value', 'terminology'];

/**
 * The error for keys that no node takes: names them (of very many the first ones) and, for the first few, the
 * nearest key that the template knows (docs/spec/formats.md#flat-errors).
 */
export function unconsumed(left: readonly FlatValue[], root: PlanNode): CdrError {
  const names = left.slice(0, MAX_NAMED).map((value) => value.key);
  const others = left.length > MAX_NAMED ? ` and ${left.length - MAX_NAMED} more` : '';
  const nearest = names
    .slice(0, MAX_SUGGESTIONS)
    .map((key) => nearestKey(key, root))
    .filter((key) => key !== null);
  const suggestion = nearest.length === 0 ? '' : `; nearest valid keys [${[...new Set(nearest)].join(', ')}]`;
  return new CdrError('invalid', `Could not consume Parts [${names.join(', ')}]${others}${suggestion}`);
}

/** The key nearest to a wrong one: its path as far as it is valid, then the child or suffix most alike. */
function nearestKey(key: string, root: PlanNode): string | null {
  const bar = key.indexOf('|', key.lastIndexOf('/') + 1);
  const segments = (bar < 0 ? key : key.slice(0, bar)).split('/');
  const [first = ''] = segments;
  if (withoutIndex(first) !== root.id) return root.id;
  let plan = root;
  const path = [first];
  for (const segment of segments.slice(1)) {
    const children = reachable(plan);
    const child = children.find((candidate) => candidate.id === withoutIndex(segment));
    if (child === undefined) {
      const best = mostAlike(
        withoutIndex(segment),
        children.map((candidate) => candidate.id ?? ''),
      );
      return best === null ? null : [...path, best].join('/');
    }
    plan = child;
    path.push(segment);
  }
  const suffix = bar < 0 ? '' : key.slice(bar + 1);
  const best = mostAlike(suffix, suffixesOf(plan));
  return best === null ? null : path.join('/') + (best === '' ? '' : `|${best}`);
}

/** The nodes whose ids may follow that of a node. */
function reachable(plan: PlanNode): PlanNode[] {
  return plan.children.flatMap((child) => (child.id === null ? reachable(child) : [child]));
}

function suffixesOf(plan: PlanNode): string[] {
  const value = plan.isStructure ? plan.children.find((child) => child.isInline) : plan;
  if (value === undefined) return [];
  const { fields } = tableOf(value.type);
  const isText = ['DV_TEXT', 'DV_CODED_TEXT', 'CODE_PHRASE'].includes(value.type);
  const inputs = value.inputs.map((input) => input.suffix ?? '');
  return [...fields.flatMap((field) => field.suffixes), ...(isText ? SUFFIXES_OF_TEXTS : []), ...inputs];
}

function mostAlike(text: string, candidates: readonly string[]): string | null {
  let best: { candidate: string; distance: number } | null = null;
  for (const candidate of candidates) {
    const distance = editDistance(text.slice(0, MAX_LENGTH), candidate.slice(0, MAX_LENGTH));
    if (best === null || distance < best.distance) best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

function withoutIndex(segment: string): string {
  const colon = segment.lastIndexOf(':');
  return colon < 0 ? segment : segment.slice(0, colon);
}

/** Levenshtein. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
