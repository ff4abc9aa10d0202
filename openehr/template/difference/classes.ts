import type { JsonValue } from '../../base/json.js';
import { concreteClasses } from '../../rm/model/classes.js';
import { multiplicityText } from '../opt/constraint-text.js';
import { conforms, type ObjectMatcher } from '../validate/matcher.js';
import type { WebTemplateNode } from '../web-template/web-template.js';
import type { Change, ChangedPart, ChangeKind, ChangeVerdict } from './change.js';

/** A class of instances of one class that may not stand where the other is asked for; undefined: all may. */
export function foreignClass(inner: string, outer: string): string | undefined {
  if (inner === outer) return undefined;
  const classes = concreteClasses(inner);
  return classes.length === 0 ? inner : classes.find((name) => !conforms(name, outer));
}

/** Whether an instance of one class may stand where the other is asked for. */
export function haveCommonClass(one: string, other: string): boolean {
  return one === other || concreteClasses(one).some((name) => conforms(name, other));
}

/** Whether a node says nothing of what stands there but its class. */
export function isUnconstrained(matcher: ObjectMatcher): boolean {
  if (matcher.check !== null || matcher.valueSetUrl !== null || !matcher.isOpen) return false;
  return [...matcher.attributes.values()].every(
    ({ isForbidden, isOpen, min, cardinality, byNodeId, slots, values }) =>
      !isForbidden &&
      min === 0 &&
      cardinality === null &&
      byNodeId.size === 0 &&
      slots.length === 0 &&
      (isOpen || values.every((value) => isUnconstrained(value.matcher))),
  );
}

/** A node as a change shows it. */
function shownNode({ rmType, name, min, max }: WebTemplateNode): JsonValue {
  return { rm_type: rmType, name, occurrences: multiplicityText(min, max) };
}

/** What a change of a whole node is. */
interface WholeNode {
  readonly kind: Extract<ChangeKind, 'added' | 'removed'>;
  readonly what?: ChangedPart;
  readonly verdict: ChangeVerdict;
  readonly reason: string;
}

/** A node that only one of the templates has. */
export function wholeNode(node: WebTemplateNode, { what = 'node', ...said }: WholeNode): Change {
  const [from, to] = said.kind === 'removed' ? [shownNode(node), null] : [null, shownNode(node)];
  return { path: node.aqlPath, what, ...said, from, to };
}
