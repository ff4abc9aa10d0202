import { fieldRef } from '../expression.js';
import type { LogicalPlan, PassContext, ProbePlan } from '../logical-plan.js';
import { isOneBranch } from '../steps.js';
import type { DocumentsStep, Step } from '../steps.js';
import { counted } from '../../../openehr/base/work.js';

/** Fewest documents of a probe. */
const MIN_DOCUMENTS = 50;
/** For more rows than this the whole pipeline is as good. */
const MAX_ROWS = 100;

/**
 * ORDER BY … DESC LIMIT over a leaf that WHERE compares: the leaf index gives the highest values first, so a few
 * documents show how low the sort value of a row can be at all. Adds the probe that finds that out.
 */
export function boundByProbe(plan: LogicalPlan, { sortedLeaf }: PassContext): LogicalPlan {
  const { order, page } = plan;
  const rows = page.offset + (page.limit ?? Infinity);
  const [first, ...others] = plan.steps;
  if (rows > MAX_ROWS || page.top !== null || order === null || order.direction !== -1) return plan;
  // A rank before the value means that there are several kinds of values, of which the leaf has one.
  if (order.isRanked || sortedLeaf === null || first?.kind !== 'documents') return plan;
  if (boundLeaf(first) !== sortedLeaf) return plan;
  const documents = Math.max(MIN_DOCUMENTS, 2 * rows);
  const at = counted(others).findIndex(({ kind }) => kind !== 'set');
  const steps: Step[] = [
    ...[first, { kind: 'limit', count: documents } as const],
    ...others.slice(0, at),
    { kind: 'count', field: 'docs' },
    ...counted(others.slice(at)).flatMap((step) => withoutOffset(step, rows)),
  ];
  const row = { ...plan.row, top: fieldRef(order.field), docs: fieldRef('docs') };
  const probe: ProbePlan = { steps, row, documents, rows, offset: page.offset };
  return { ...plan, probe };
}

/** Key of the leaf condition that can take a bound: the first one, where it is not repeated in branches. */
function boundLeaf(first: DocumentsStep): string | null {
  const leaf = counted(first.index).find(({ kind }) => kind === 'leaf');
  return leaf?.kind === 'leaf' && isOneBranch(first) ? leaf.key : null;
}

function withoutOffset(step: Step, rows: number): Step[] {
  if (step.kind === 'skip') return [];
  return [step.kind === 'limit' ? { kind: 'limit', count: rows } : step];
}
