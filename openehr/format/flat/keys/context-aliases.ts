import { childOf, conflict, type FlatScope } from './keys.js';
import { childPlan, type PlanNode } from '../plan.js';
import { counted } from '../../../base/work.js';

/** Keys of the context that clients also write directly below the root. */
const ALIASES = [
  'start_time',
  'setting',
  '_end_time',
  '_location',
  '_health_care_facility',
  '_participation',
] as const;

/**
 * Moves keys of the context that stand directly below the root to where they belong, for templates that do not
 * mention the context (docs/spec/formats.md#flat-structures).
 *
 * @throws invalid when both places give different values
 */
export function moveContextAliases(plan: PlanNode, root: FlatScope): void {
  const context = childPlan(plan, 'context');
  if (context?.id == null || context.node.constraint !== null) return;
  const { id } = context;
  for (const alias of ALIASES) {
    const instances = root.children.get(alias);
    if (instances === undefined || plan.claimed.has(alias)) continue;
    root.children.delete(alias);
    mergeInstances(contextScope(root, id), alias, instances);
  }
}

function contextScope(root: FlatScope, id: string): FlatScope {
  const known = childOf(root, id);
  if (known !== undefined) return known;
  const scope: FlatScope = { path: `${root.path}/${id}`, values: new Map(), children: new Map() };
  root.children.set(id, new Map([[0, scope]]));
  return scope;
}

function mergeInstances(into: FlatScope, id: string, instances: ReadonlyMap<number, FlatScope>): void {
  const known = into.children.get(id) ?? new Map<number, FlatScope>();
  into.children.set(id, known);
  for (const [index, scope] of counted(instances)) {
    const before = known.get(index);
    if (before === undefined) known.set(index, scope);
    else mergeScopes(before, scope);
  }
}

function mergeScopes(into: FlatScope, from: FlatScope): void {
  for (const [attribute, value] of counted(from.values)) {
    const before = into.values.get(attribute);
    if (before === undefined) into.values.set(attribute, value);
    else if (before.value !== value.value) throw conflict(before.key, value.key);
    else value.used = true;
  }
  for (const [id, instances] of counted(from.children)) mergeInstances(into, id, instances);
}
