import { CATEGORIES_ATTRIBUTE } from './categories.js';
import { any, constant, FALSE, type Condition } from './condition.js';
import { hasMember, knownText, type Known, type Request } from './known.js';
import { operatorOf, type Expression } from './policy-json.js';
import { EQUAL_SIDES, NoTranslation, termOf, type Pair, type Term } from './terms.js';

/** How conditions count together: `all` or `any`. */
type Joining = (conditions: readonly Condition[]) => Condition;

/** What an operator says of objects, once it is known who asks. */
export type Truth = (request: Request) => Condition;

/** `contains`. @throws NoTranslation */
export function contained({ left, right }: Pair, expression: Expression): Truth {
  const [set, member] = [termOf(left), termOf(right)];
  if (set.of === 'known') {
    if (member.of === 'known')
      return (request) => constant(hasMember(listed(set.value(request)), member.value(request)));
    if (member.of !== 'attribute') throw new NoTranslation(expression, EQUAL_SIDES);
    const { name: attribute } = member;
    return (request) => equalsAny(attribute, listed(set.value(request)));
  }
  requireWritten(set, right, expression);
  const has = hasMembers(set, expression);
  if (member.of !== 'known') throw new NoTranslation(expression, EQUAL_SIDES);
  return (request) => has(request, [member.value(request)]);
}

function equalsAny(attribute: string, values: readonly Known[]): Condition {
  return values.length === 0
    ? FALSE
    : { kind: 'equals', attribute, among: values.map((each) => scalar(each)) };
}

/** Says that a set of the object has at least one of some members. */
function hasMembers(
  set: Term,
  expression: Expression,
): (request: Request, members: readonly Known[]) => Condition {
  if (set.of === 'attribute') {
    const { name: attribute } = set;
    return (_, members) => ({ kind: 'contains', attribute, among: members.map((each) => knownText(each)) });
  }
  if (set.of !== 'tag') throw new NoTranslation(expression, 'this is no set');
  return (request, members) => ({
    kind: 'tag',
    key: knownText(set.key(request)),
    among: members.map((each) => knownText(each)),
  });
}

/** `containsAny`, `containsAll`; `joined`: how the members of the right set count together. @throws NoTranslation */
export function containedMembers({ left, right }: Pair, expression: Expression, joined: Joining): Truth {
  const [one, other] = [termOf(left), termOf(right)];
  if (one.of === 'known' && other.of === 'known')
    return (request) => {
      const set = listed(one.value(request));
      return joined(listed(other.value(request)).map((each) => constant(hasMember(set, each))));
    };
  const [set, members] = one.of === 'known' && joined === any ? [other, one] : [one, other];
  if (members.of !== 'known')
    throw new NoTranslation(
      expression,
      'the members that are asked for must not be those of an attribute of the object',
    );
  requireWritten(set, set === one ? right : left, expression);
  const has = hasMembers(set, expression);
  return (request) => joined(listed(members.value(request)).map((each) => has(request, [each])));
}

/** Which categories there are is known when a policy is stored: those that it asks for are, too. @throws NoTranslation */
function requireWritten(set: Term, members: Expression, expression: Expression): void {
  if (set.of !== 'attribute' || set.name !== CATEGORIES_ATTRIBUTE || isWritten(members)) return;
  throw new NoTranslation(expression, 'categories are asked for by their names, as "psychiatry"');
}

function isWritten(expression: Expression): boolean {
  const [name, operands] = operatorOf(expression);
  if (name === 'Set') return (operands as readonly Expression[]).every((each) => isWritten(each));
  return name === 'Value' && typeof operands === 'string';
}

/** `isEmpty`. @throws NoTranslation */
export function isEmptySet({ arg }: { arg: Expression }, expression: Expression): Truth {
  const term = termOf(arg);
  if (term.of === 'known') return (request) => constant(listed(term.value(request)).length === 0);
  if (term.of === 'attribute') {
    const { name: attribute } = term;
    return () => ({ kind: 'empty', attribute });
  }
  if (term.of === 'tag') return (request) => ({ kind: 'emptyTag', key: knownText(term.key(request)) });
  throw new NoTranslation(expression, 'this is no set');
}

/** The members of a set; of anything else itself. */
export function listed(value: Known): readonly Known[] {
  return Array.isArray(value) ? (value as readonly Known[]) : [value];
}

/** Text, or ms of a time. */
export function scalar(value: Known): string | number {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && 'time' in value) return value.time;
  throw new TypeError('a valid policy compares an attribute with a value of its type');
}
