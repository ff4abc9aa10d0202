import type { JsonValue } from '../../base/json.js';
import { step } from '../../base/work.js';
import { attributesOf, concreteClasses } from '../../rm/model/classes.js';
import { conforms, type ObjectMatcher } from '../validate/matcher.js';
import { compareAttributes } from './attributes.js';
import { foreignClass } from './classes.js';
import { changeOf, type Comparison } from './change.js';
import { compareValues } from './value-pair.js';

/** Compares two objects that stand for each other, and all that is below them. */
export function compareObjects(before: ObjectMatcher, after: ObjectMatcher, comparison: Comparison): void {
  step();
  const { constraint } = before.node;
  if (constraint?.kind === 'object' && constraint.archetype !== null)
    comparison.roots.set(before.node, after.node);
  const classes = classesAt(before);
  comparison.below(classes.length === 0, () => {
    if (compareClasses([before, after], classes, comparison)) return;
    compareDefaults(before, after, comparison);
    compareValues(before, after, comparison);
    compareAttributes(before, after, comparison);
  });
}

/** Whether no comparison of what the classes hold makes sense. */
function compareClasses(
  [before, after]: readonly [ObjectMatcher, ObjectMatcher],
  classes: readonly string[],
  comparison: Comparison,
): boolean {
  if (before.rmType === after.rmType) return false;
  const lost = classes.find((name) => !conforms(name, after.rmType));
  const isNotMore = foreignClass(after.rmType, before.rmType) === undefined;
  comparison.add(
    changeOf({
      path: before.node.aqlPath,
      what: 'type',
      from: before.node.rmType,
      to: after.node.rmType,
      isWithin: lost === undefined,
      isNotMore,
      example: lost === undefined ? undefined : { _type: lost },
    }),
  );
  return lost !== undefined;
}

/** The classes of which an instance may be there by template and reference model. */
function classesAt({ node, rmType }: ObjectMatcher): readonly string[] {
  const classes = concreteClasses(rmType);
  const type = attributesOf(node.parent?.rmType ?? '').get(node.attribute)?.type;
  if (classes.length === 0) return [rmType];
  return type === undefined ? classes : classes.filter((name) => conforms(name, type));
}

function compareDefaults(
  { node: before }: ObjectMatcher,
  { node: after }: ObjectMatcher,
  comparison: Comparison,
): void {
  const [from, to] = [before, after].map(({ inputs }): JsonValue => {
    const given = inputs.map(({ suffix, defaultValue }) => [suffix ?? '', defaultValue] as const);
    const known = given.flatMap(([suffix, value]) => (value === undefined ? [] : [[suffix, value] as const]));
    return known.length === 0 ? null : Object.fromEntries(known);
  });
  if (from === undefined || to === undefined || JSON.stringify(from) === JSON.stringify(to)) return;
  comparison.add({
    path: before.aqlPath,
    kind: 'changed',
    what: 'default',
    verdict: 'text',
    from,
    to,
    reason: 'only forms begin with it',
  });
}
