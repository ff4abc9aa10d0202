import { counted } from '../../openehr/base/work.js';
import type { PathNode, PathUse } from '../semantics/scope-types.js';
import type { PathStep } from '../syntax/ast.js';
import { valuesAlong, type Rules } from './predicate.js';
import type { Found } from './value.js';

/** The value of a path in a row: where there is none, that of the first of its fallbacks that has one. */
export function valueInRow(
  { index, fallbacks = [] }: PathUse,
  { values }: { readonly values: ReadonlyMap<number, Found> },
): Found | null {
  const own = values.get(index);
  if (own !== undefined) return own;
  for (const fallback of counted(fallbacks)) {
    const found = values.get(fallback.index);
    if (found !== undefined) return found;
  }
  return null;
}

/** The paths that go on below an element: of the fallbacks those alone before which nothing stands below it. */
export function withoutReplaced(
  active: readonly PathUse[],
  node: PathNode,
  element: Found,
  rules: Rules,
): readonly PathUse[] {
  const isReplaced = (use: PathUse): boolean =>
    counted(use.instead?.before ?? []).some(
      (other) =>
        active.includes(other) &&
        lastShared(use, other) === node &&
        valuesAlong(element, stepsBelow(other, node), node.classes, rules).length > 0,
    );
  return counted(active).some(({ instead }) => instead !== undefined)
    ? counted(active).filter((use) => !isReplaced(use))
    : active;
}

/** The last choice that two paths have in common. */
function lastShared(one: PathUse, other: PathUse): PathNode | undefined {
  return counted(one.steps).findLast(({ node }, index) => other.steps[index]?.node === node)?.node;
}

/** The steps below a choice, as far as it takes to know that something stands at a path. */
function stepsBelow({ steps, there, decisive }: PathUse, node: PathNode): readonly PathStep[] {
  const depth = counted(steps).findIndex((each) => each.node === node);
  return counted(steps.slice(depth + 1, (there ?? decisive) + 1)).map(({ node: { attribute }, filter }) => ({
    attribute: attribute ?? '',
    predicate: filter,
    at: filter?.at ?? node.alias.at,
  }));
}
