import type { Expression, Stage } from './expression.js';
import { fieldsOf } from './expression.js';
import type { Probe } from './plan.js';
import { deferLookups } from './defer-lookups.js';
import { emitStages } from './stages.js';
import type { Finish } from './start-order.js';
import { COLLECTION_FIELDS } from './steps.js';
import type { SortKeys, Step } from './steps.js';

/** Fewest documents of a probe. */
const FEWEST_DOCUMENTS = 50;
/** For more rows than this the whole pipeline is as good. */
const MOST_ROWS = 100;

/**
 * The probe of a plan, null where the first sort value of a row is not the highest leaf that the first match can
 * find. `steps` are the plan's, `shape` its rows.
 */
export function probeOf(query: Finish, keys: SortKeys, steps: readonly Step[], shape: Stage): Probe | null {
  const { offset, limit, top } = query.page;
  const rows = offset + (limit ?? Infinity);
  const [first, ...others] = steps;
  const [key] = keys;
  if (rows > MOST_ROWS || top !== null || key === undefined || key[1] !== -1) return null;
  if (first?.kind !== 'match' || query.sortedLeaf === null) return null;
  // A rank before the value means that there are several kinds of values, of which the leaf has one.
  if (!key[0].startsWith('k') || leafOf(first.match) !== query.sortedLeaf) return null;
  const documents = Math.max(FEWEST_DOCUMENTS, 2 * rows);
  const counted = others.findIndex(({ kind }) => kind !== 'set');
  const probed: Step[] = [
    ...[first, { kind: 'limit', count: documents } as const],
    ...others.slice(0, counted),
    { kind: 'count', field: 'docs' },
    ...others.slice(counted).flatMap((step) => withoutOffset(step, rows)),
  ];
  const project = { ...shape, top: `$${key[0]}`, docs: '$docs' };
  const stages = emitStages(deferLookups(probed), fieldsOf(project), COLLECTION_FIELDS[query.collection]);
  return { pipeline: [...stages, { $project: project }], documents, rows, offset };
}

function withoutOffset(step: Step, rows: number): Step[] {
  if (step.kind === 'skip') return [];
  return [step.kind === 'limit' ? { kind: 'limit', count: rows } : step];
}

/** Key of the one leaf condition that a match has beside its other fields. */
function leafOf({ lv }: Stage): Expression | null {
  const leaf = lv as { readonly $elemMatch?: { readonly k?: string } } | undefined;
  return leaf?.$elemMatch?.k ?? null;
}
