import { all, any, compares, constant, FALSE, TRUE, type Comparator, type Condition } from './condition.js';
import { hasMember, isEqual, type EntityName, type Known, type Request } from './known.js';
import type { Expression } from './policy-json.js';
import { OBJECT_ATTRIBUTES, type ObjectType } from './schema.js';
import { listed, scalar, type Truth } from './sets.js';
import { EQUAL_SIDES, NoTranslation, termOf, type Pair } from './terms.js';

/** `==`. @throws NoTranslation */
export function equality({ left, right }: Pair, expression: Expression): Truth {
  const [one, other] = [termOf(left), termOf(right)];
  const [term, known] = one.of === 'known' ? [other, one] : [one, other];
  if (known.of !== 'known') throw new NoTranslation(expression, EQUAL_SIDES);
  const { value } = known;
  if (term.of === 'known') return (request) => constant(isEqual(term.value(request), value(request)));
  if (term.of === 'object') return (request) => itself(value(request));
  if (term.of === 'tag' || term.kind === 'Set<String>')
    throw new NoTranslation(
      expression,
      'a set of the object is asked with contains, containsAny, containsAll or isEmpty',
    );
  const { name: attribute } = term;
  return (request) => ({ kind: 'equals', attribute, among: [scalar(value(request))] });
}

/** An object is named by its type and its id. */
function itself(name: Known): Condition {
  const { entity, id } = name as EntityName;
  if (entity === 'Ehr')
    return all([
      { kind: 'is', type: 'Ehr' },
      { kind: 'uid', among: [id] },
    ]);
  return entity === 'Version'
    ? all([
        { kind: 'is', type: 'Version' },
        { kind: 'uid', among: [id] },
      ])
    : FALSE;
}

const TURNED = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

/** `<` and its like. @throws NoTranslation */
export function comparison({ left, right }: Pair, expression: Expression, comparator: Comparator): Truth {
  const [one, other] = [termOf(left), termOf(right)];
  if (one.of === 'known' && other.of === 'known')
    return (request) => constant(compares(size(one.value(request)), comparator, size(other.value(request))));
  const [term, known] = one.of === 'known' ? [other, one] : [one, other];
  if (term.of !== 'attribute' || known.of !== 'known') throw new NoTranslation(expression, EQUAL_SIDES);
  const { name: attribute } = term;
  const turned = one.of === 'known' ? TURNED[comparator] : comparator;
  return (request) => ({ kind: 'compare', attribute, comparator: turned, time: size(known.value(request)) });
}

function size(value: Known): number {
  return typeof value === 'number' ? value : Number(scalar(value));
}

/** `is`, also with `in`. @throws NoTranslation */
export function isOfType(
  { left, entity_type: type, in: within }: { left: Expression; entity_type: string; in?: Expression },
  expression: Expression,
): Truth {
  const term = termOf(left);
  const inside = within === undefined ? () => TRUE : membership(left, within, expression);
  if (term.of === 'object')
    return (request) => (isObjectType(type) ? all([{ kind: 'is', type }, inside(request)]) : FALSE);
  if (term.of !== 'known')
    throw new NoTranslation(expression, 'only principal, action and resource have a type');
  return (request) => {
    const value = term.value(request);
    return isEntity(value) && value.entity === type ? inside(request) : FALSE;
  };
}

function isObjectType(type: string): type is ObjectType {
  return Object.hasOwn(OBJECT_ATTRIBUTES, type);
}

/** `in`: a VERSION is in its EHR, everything in itself. @throws NoTranslation */
export function membership(left: Expression, right: Expression, expression: Expression): Truth {
  const [term, group] = [termOf(left), termOf(right)];
  if (group.of !== 'known' || term.of === 'tag' || term.of === 'attribute')
    throw new NoTranslation(expression, 'what is in something is resource in Ehr::"…"');
  const namesOf = (request: Request): readonly Known[] => listed(group.value(request));
  if (term.of === 'known') return (request) => constant(hasMember(namesOf(request), term.value(request)));
  return (request) => any(namesOf(request).map((name) => any([itself(name), partOf(name)])));
}

function partOf(name: Known): Condition {
  return isEntity(name) && name.entity === 'Ehr'
    ? all([
        { kind: 'is', type: 'Version' },
        { kind: 'equals', attribute: 'ehr_id', among: [name.id] },
      ])
    : FALSE;
}

function isEntity(value: Known): value is EntityName {
  return typeof value === 'object' && 'entity' in value;
}
