import type { Comparator, Condition } from '../../../policy/condition.js';
import { all, any, not } from '../../../policy/condition.js';
import { attributeOf, type AccessObject } from '../../../policy/object.js';
import { attributesOf, type ObjectType } from '../../../policy/schema.js';
import type { Random } from '../random.js';
import { randomTagLeaf } from './random-beside.js';

/** A condition over objects of a type, that asks for values which some of them have; where some have tags, for those too. */
export function randomCondition(
  random: Random,
  type: ObjectType,
  objects: readonly AccessObject[],
  depth = 2,
): Condition {
  if (depth === 0 || random.chance(0.3)) return randomLeaf(random, type, objects);
  const below = (): Condition => randomCondition(random, type, objects, depth - 1);
  return random.pick([
    () => all(random.list(1, 3, below)),
    () => any(random.list(1, 3, below)),
    () => any(random.list(1, 3, below)),
    () => not(below()),
  ])();
}

function randomLeaf(random: Random, type: ObjectType, objects: readonly AccessObject[]): Condition {
  const someUids = (): string[] => random.list(1, 4, () => random.pick(objects).uid);
  if (random.chance(0.15)) return { kind: 'uid', among: someUids() };
  if (objects.some(({ tags }) => Object.keys(tags).length > 0) && random.chance(0.15))
    return randomTagLeaf(random);
  // Marks and categories are named before a query is made.
  const asked = Object.keys(attributesOf(type)).filter((name) => name !== 'marks' && name !== 'categories');
  const attribute = random.pick(asked);
  const values = objects.flatMap((object) => attributeOf(object, attribute) ?? []);
  const { kind } = attributesOf(type)[attribute]!;
  if (values.length === 0 || random.chance(0.1)) return { kind: 'has', attribute };
  const [one, other] = [random.pick(values), random.pick(values)];
  if (kind === 'Set<String>')
    return random.chance(0.1)
      ? { kind: 'empty', attribute }
      : { kind: 'contains', attribute, among: [String(one), String(other), 'COMPOSITION'] };
  if (kind === 'datetime' && random.chance(0.7))
    return {
      kind: 'compare',
      attribute,
      comparator: random.pick<Comparator>(['<', '<=', '>', '>=']),
      time: Number(one),
    };
  if (kind === 'datetime' || random.chance(0.6)) return { kind: 'equals', attribute, among: [one, other] };
  const text = String(one);
  const cut = random.below(text.length + 1);
  const pattern = random.pick([
    [text.slice(0, cut), null],
    [null, text.slice(cut)],
    [text.slice(0, cut), null, text.slice(cut + 1)],
    [null, text.slice(cut, cut + 2), null],
    [text],
  ]);
  return { kind: 'like', attribute, pattern };
}
