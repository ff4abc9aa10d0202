import type { JsonValue } from '../../base/json.js';
import { attributesOf, concreteClasses, isLocatable } from '../../rm/model/classes.js';
import type { RmAttribute } from '../../rm/model/define.js';
import { concreteClass } from '../example/sample.js';
import type { Multiplicity } from '../opt/constraint.js';
import { multiplicityText } from '../opt/constraint-text.js';
import { conforms, type AttributeMatcher, type ObjectMatcher } from '../validate/matcher.js';
import { isUnconstrained } from './classes.js';
import { changeOf, type Comparison } from './change.js';
import {
  compareChildren,
  countOutside,
  isCountWithin,
  possibleSize,
  sizeOf,
  type AttributePair,
} from './children.js';

/** Compares the attributes of two objects that stand for each other. */
export function compareAttributes(before: ObjectMatcher, after: ObjectMatcher, comparison: Comparison): void {
  for (const name of new Set([...before.attributes.keys(), ...after.attributes.keys()])) {
    const asked = [before, after].map(({ rmType }) => attributesOf(rmType).get(name));
    const attribute = asked.find((each) => each !== undefined);
    const pair = {
      rmType: before.rmType,
      path: `${before.node.aqlPath}/${name}`,
      from: before.attributes.get(name) ?? unmentioned(before, name, attribute),
      to: after.attributes.get(name) ?? unmentioned(after, name, attribute),
    };
    compareAttribute(pair, comparison);
  }
}

/**
 * What may stand in an attribute that a template does not mention: anything below a node that it does not constrain, and
 * else what is no node of an archetype, or what the reference model asks for.
 */
function unmentioned(
  matcher: ObjectMatcher,
  name: string,
  attribute: RmAttribute | undefined,
): AttributeMatcher {
  const takesOthers = attribute !== undefined && (!isLocatable(attribute.type) || attribute.required);
  return { ...UNMENTIONED, name, isOpen: matcher.isOpen || takesOthers };
}

const UNMENTIONED: Omit<AttributeMatcher, 'name' | 'isOpen'> = {
  min: 0,
  isForbidden: false,
  byNodeId: new Map(),
  values: [],
  takesOthers: false,
  slots: [],
  counted: [],
  cardinality: null,
};

function compareAttribute(pair: AttributePair, comparison: Comparison): void {
  const { from, to, path } = pair;
  if (holdsNothing(from) && holdsNothing(to)) return;
  const [before, after] = [existenceOf(from, pair), existenceOf(to, pair)];
  compareExistence(pair, [before, after], comparison);
  if (to.isForbidden) return;
  comparison.below(from.isForbidden || isNeverFull(pair), () => {
    if (from.isOpen) compareConstrained(pair, comparison);
    else if (to.isOpen) {
      const said = { path, what: 'content', from: 'constrained', to: null, example: undefined } as const;
      comparison.add(changeOf({ ...said, isWithin: true, isNotMore: false }));
    } else compareChildren(pair, comparison);
    compareCardinality(pair, comparison);
  });
}

/** The nodes of a container cannot add up to its size: no instance is valid that has it. */
function isNeverFull({ from, rmType }: AttributePair): boolean {
  const { min, max } = possibleSize(from, rmType);
  return from.counted.length > 0 && max !== -1 && min > max;
}

/** Nothing of an archetype may stand there, as where a template does not mention an attribute for nodes. */
function holdsNothing({ isOpen, byNodeId, values, slots }: AttributeMatcher): boolean {
  return !isOpen && byNodeId.size === 0 && values.length === 0 && slots.length === 0;
}

function existenceOf(attribute: AttributeMatcher, { rmType }: AttributePair): Multiplicity {
  const asked = attributesOf(rmType).get(attribute.name);
  const isRequired = attribute.min > 0 || (asked?.required === true && !asked.multiple);
  return { min: isRequired ? 1 : 0, max: attribute.isForbidden || holdsNothing(attribute) ? 0 : 1 };
}

function compareExistence(
  { from, to, path }: AttributePair,
  [before, after]: readonly [Multiplicity, Multiplicity],
  comparison: Comparison,
): void {
  if (before.min > before.max) return;
  const lost = [before.min, before.max].find((count) => count < after.min || count > after.max);
  const isNotMore = after.min >= before.min && after.max <= before.max;
  // What came or went as a whole says so itself.
  if (lost === undefined && (isNotMore || holdsNothing(from) || holdsNothing(to))) return;
  comparison.add(
    changeOf({
      path,
      what: 'existence',
      from: multiplicityText(before.min, before.max),
      to: multiplicityText(after.min, after.max),
      isWithin: lost === undefined,
      isNotMore,
      example: lost,
    }),
  );
}

/** Of an attribute in which anything could stand. */
function compareConstrained({ from, to, path, rmType }: AttributePair, comparison: Comparison): void {
  if (to.isOpen || isUnconstrainedAttribute(to)) return;
  const { name } = from;
  const type = attributesOf(rmType).get(name)?.type ?? '';
  const others = concreteClasses(type).find(
    (each) => !to.takesOthers && !to.values.some(({ matcher }) => conforms(each, matcher.rmType)),
  );
  const isOfNodes = isLocatable(type) && to.values.length === 0;
  const example: JsonValue | undefined = isOfNodes
    ? { archetype_node_id: foreignNode(type, to) }
    : others === undefined || isLocatable(type)
      ? undefined
      : { _type: others };
  const said = { path, what: 'content', from: null, to: shownContent(to) } as const;
  comparison.add(changeOf({ ...said, isWithin: false, isNotMore: true, example }));
}

/** What no node of the attribute is, and no slot takes. */
function foreignNode(type: string, { slots, byNodeId }: AttributeMatcher): string {
  const id = `openEHR-EHR-${concreteClass(type)}.example.v1`;
  return byNodeId.has(id) || slots.some((slot) => slot.allows(id)) ? 'at9999' : id;
}

function isUnconstrainedAttribute({ byNodeId, slots, values, counted }: AttributeMatcher): boolean {
  if (byNodeId.size > 0 || slots.length > 0 || counted.some(({ min, max }) => min > 0 || max !== -1))
    return false;
  return values.every(({ matcher }) => isUnconstrained(matcher));
}

function shownContent({ byNodeId, values, slots }: AttributeMatcher): JsonValue {
  return [
    ...byNodeId.keys(),
    ...values.map(({ matcher }) => matcher.node.rmType),
    ...slots.map(({ nodeId }) => nodeId),
  ];
}

/** The size of a container as a whole: what its nodes add up to limits it as well. */
function compareCardinality({ from, to, path, rmType }: AttributePair, comparison: Comparison): void {
  if (from.cardinality === null && to.cardinality === null) return;
  const [declared, after] = [sizeOf(from, rmType), sizeOf(to, rmType)];
  const possible = possibleSize(from, rmType);
  const isWithin = isCountWithin(possible, after);
  const lost = countOutside(possible, after);
  // Without events a HISTORY must have a summary.
  const isKnown = rmType !== 'HISTORY' || lost > 0;
  if (isWithin && (holdsNothing(from) || holdsNothing(to))) return;
  comparison.add(
    changeOf({
      path,
      what: 'cardinality',
      from: multiplicityText(declared.min, declared.max),
      to: multiplicityText(after.min, after.max),
      isWithin,
      isNotMore: isCountWithin(after, declared),
      example: isKnown ? lost : undefined,
    }),
  );
}
