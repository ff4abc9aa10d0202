import type { CompiledTemplate } from '../compile.js';
import type { OperationalTemplate } from '../opt/constraint.js';
import { Comparison, verdictOf, type Change, type DifferenceVerdict } from './change.js';
import { withMoves } from './moves.js';
import { compareObjects } from './objects.js';
import { compareWords } from './words.js';

/** What differs from one template to another. */
export interface TemplateDifference {
  readonly verdict: DifferenceVerdict;
  readonly changes: readonly Change[];
}

/**
 * What differs from one template to another, and what each change means for the data that are valid by the earlier one
 * (docs/spec/formats.md#template-differences). Ids of the templates do not count.
 */
export function compareTemplates(before: CompiledTemplate, after: CompiledTemplate): TemplateDifference {
  const comparison = new Comparison(before, after, compareObjects);
  compareRoots(comparison);
  compareWords(comparison);
  const changes = withMoves(comparison);
  const all = changes.length > 0 || contentOf(before.opt) === contentOf(after.opt) ? changes : [OTHER];
  return { verdict: verdictOf(all), changes: all };
}

const OTHER: Change = {
  path: '',
  kind: 'changed',
  what: 'other',
  verdict: 'text',
  from: null,
  to: null,
  reason: 'the order of parts, or what neither validation nor forms read',
};

function compareRoots(comparison: Comparison): void {
  const [before, after] = [comparison.before.matcher, comparison.after.matcher];
  const [from, to] = [before.node.archetypeNodeId, after.node.archetypeNodeId];
  if (from !== to)
    comparison.add({
      path: '',
      kind: 'changed',
      what: 'node',
      verdict: 'breaking',
      from,
      to,
      reason: 'the root is of another archetype',
    });
  comparison.objects(before, after);
}

/** All that a template says but who it is. */
function contentOf(opt: OperationalTemplate): string {
  return JSON.stringify(opt, (key, value: unknown) => {
    if (IDS.has(key)) return undefined;
    return value instanceof Map ? [...(value as ReadonlyMap<unknown, unknown>)] : value;
  });
}

const IDS = new Set(['templateId', 'uid']);
