import { distance } from 'fastest-levenshtein';
import { CdrError } from '../../../base/errors.js';
import { violationAt, type Violation } from '../../../base/violation.js';
import type { FlatValue } from './keys.js';
import type { PlanNode } from '../plan.js';
import { tableOf } from '../value/fields.js';
import { counted } from '../../../base/work.js';

/** So many keys get a suggestion; a body of thousands of wrong keys is answered without. */
const MAX_SUGGESTIONS = 5;
/** So many keys are named of a body for another template: all of them begin wrongly. */
const MAX_WRONG_ROOTS = 5;
/** So many keys are reported as data. */
const MAX_PROBLEMS = 100;
/** So many keys are named: what is wrong with a body of thousands of wrong keys is seen in the first ones. */
const MAX_NAMED = 1000;
const MAX_LENGTH = 200;
const SUFFIXES_OF_TEXTS = ['code', 'value', 'terminology'];

/**
 * The error for keys that no node takes: names them (of very many the first ones) and, for the first few, the
 * nearest key that the template knows (docs/spec/formats.md#flat-errors). `hasRoot`: some key begins as all must.
 */
export function unconsumed(left: readonly FlatValue[], root: PlanNode, hasRoot: boolean): CdrError {
  const most = hasRoot ? MAX_NAMED : MAX_WRONG_ROOTS;
  const names = counted(left.slice(0, most)).map((value) => value.key);
  const others = left.length > most ? ` and ${left.length - most} more` : '';
  const message = `Could not consume Parts [${names.join(', ')}]${others}`;
  const suggested = counted(left.slice(0, MAX_SUGGESTIONS)).map(({ key }) => nearestKey(key, root));
  const problems = counted(left.slice(0, MAX_PROBLEMS)).map(({ key }, index) =>
    unknownKey(key, suggested[index] ?? null),
  );
  if (!hasRoot) {
    const rule = `every key but those of ctx/ must begin with ${root.id ?? ''}/`;
    return new CdrError('invalid', `${rule}; ${message}`, { problems });
  }
  const nearest = counted(suggested).filter((key) => key !== null);
  const suggestion = nearest.length === 0 ? '' : `; nearest valid keys [${[...new Set(nearest)].join(', ')}]`;
  return new CdrError('invalid', `${message}${suggestion}`, { problems });
}

function unknownKey(key: string, nearest: string | null): Violation {
  const violation = violationAt('/', 'no node of the template takes this key', 'unknown-key');
  return { ...violation, flatPath: key, ...(nearest === null ? {} : { expected: [nearest] }) };
}

/** The key nearest to a wrong one: its path as far as it is valid, then the child or suffix most alike. */
function nearestKey(key: string, root: PlanNode): string | null {
  const bar = key.indexOf('|', key.lastIndexOf('/') + 1);
  const segments = (bar < 0 ? key : key.slice(0, bar)).split('/');
  const [first = ''] = segments;
  if (withoutIndex(first) !== root.id) return root.id;
  let plan = root;
  const path = [first];
  for (const segment of counted(segments.slice(1))) {
    const children = reachable(plan);
    const child = counted(children).find((candidate) => candidate.id === withoutIndex(segment));
    if (child === undefined) {
      const best = mostAlike(
        withoutIndex(segment),
        counted(children).map((candidate) => candidate.id ?? ''),
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
  return counted(plan.children).flatMap((child) => (child.id === null ? reachable(child) : [child]));
}

function suffixesOf(plan: PlanNode): string[] {
  const value = plan.isStructure ? counted(plan.children).find((child) => child.isInline) : plan;
  if (value === undefined) return [];
  const { fields } = tableOf(value.type);
  const isText = ['DV_TEXT', 'DV_CODED_TEXT', 'CODE_PHRASE'].includes(value.type);
  const inputs = counted(value.inputs).map((input) => input.suffix ?? '');
  return [
    ...counted(fields).flatMap((field) => field.suffixes),
    ...(isText ? SUFFIXES_OF_TEXTS : []),
    ...inputs,
  ];
}

function mostAlike(text: string, candidates: readonly string[]): string | null {
  let best: { candidate: string; slips: number } | null = null;
  for (const candidate of counted(candidates)) {
    const slips = distance(text.slice(0, MAX_LENGTH), candidate.slice(0, MAX_LENGTH));
    if (best === null || slips < best.slips) best = { candidate, slips };
  }
  return best?.candidate ?? null;
}

function withoutIndex(segment: string): string {
  const colon = segment.lastIndexOf(':');
  return colon < 0 ? segment : segment.slice(0, colon);
}
