import { isJsonObject, type JsonValue } from '../openehr/base/json.js';
import { knownText, subjectValue, timeOf, type Known, type Request } from './known.js';
import { operatorOf, type Expression } from './policy-json.js';
import { OBJECT_ATTRIBUTES, type AttributeKind } from './schema.js';

/** A part of a policy that cannot become a condition over stored objects. */
export class NoTranslation extends Error {
  /** `expression`: the part; its operator is where the mistake is shown. */
  constructor(
    readonly expression: Expression,
    reason: string,
  ) {
    super(reason);
    this.name = 'NoTranslation';
  }
}

/** A value, once it is known who asks. */
type Value = (request: Request) => Known;

/** What a condition compares. */
export type Term =
  | { readonly of: 'known'; readonly value: Value }
  | { readonly of: 'attribute'; readonly name: string; readonly kind: AttributeKind }
  | { readonly of: 'tag'; readonly key: Value }
  | { readonly of: 'object' };

/** The two sides of an operator. */
export interface Pair {
  readonly left: Expression;
  readonly right: Expression;
}

/** Why two sides cannot be compared. */
export const EQUAL_SIDES =
  'an attribute of the object can be compared with what the policy or the principal says, not with another attribute of it';

const NO_MEANING =
  'this has no meaning for stored objects: there are comparisons, sets, like, has, tags, if, &&, || and !';

/** What an operand stands for. @throws NoTranslation */
export function termOf(expression: Expression): Term {
  const [name, operands] = operatorOf(expression);
  switch (name) {
    case 'Value':
      return known(literalOf(operands, expression));
    case 'Var':
      return variable(operands, expression);
    case '.':
      return attributeTerm(operands as { left: Expression; attr: string }, expression);
    case 'getTag': {
      const { left, right } = operands as Pair;
      requireObject(left, expression);
      return { of: 'tag', key: textOf(right, expression) };
    }
    case 'Set':
      return setTerm(operands as readonly Expression[], expression);
    case 'datetime':
      return known(timeLiteral(operands as readonly Expression[], expression));
    case 'if-then-else':
      throw new NoTranslation(
        expression,
        'a choice between values has no translation: choose between conditions',
      );
    default:
      throw new NoTranslation(expression, NO_MEANING);
  }
}

function known(value: Known): Term {
  return { of: 'known', value: () => value };
}

function literalOf(value: unknown, expression: Expression): Known {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (isJsonObject(value) && isJsonObject(value.__entity)) {
    const { type, id } = value.__entity;
    return { entity: literalText(type), id: literalText(id) };
  }
  throw new NoTranslation(expression, 'this literal has no translation');
}

function literalText(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw new TypeError('a name of Cedar is text');
  return value;
}

function variable(name: unknown, expression: Expression): Term {
  if (name === 'resource') return { of: 'object' };
  if (name === 'principal')
    return { of: 'known', value: ({ subject }) => ({ entity: 'User', id: subject.sub }) };
  if (name === 'action') return { of: 'known', value: ({ action }) => ({ entity: 'Action', id: action }) };
  throw new NoTranslation(expression, 'the context is empty: who asks is in principal');
}

function attributeTerm({ left, attr }: { left: Expression; attr: string }, expression: Expression): Term {
  if (isVariable(left, 'resource')) {
    const kind = KINDS.get(attr);
    if (kind === undefined) throw new NoTranslation(expression, `no object has an attribute ${attr}`);
    return { of: 'attribute', name: attr, kind };
  }
  if (!isVariable(left, 'principal'))
    throw new NoTranslation(expression, 'attributes are those of principal and resource');
  return { of: 'known', value: ({ subject }) => required(subjectValue(subject, attr)) };
}

/** Kinds do not differ from type to type. */
const KINDS: ReadonlyMap<string, AttributeKind> = new Map(
  Object.values(OBJECT_ATTRIBUTES)
    .flatMap((attributes) => Object.entries(attributes))
    .map(([name, { kind }]) => [name, kind]),
);

function required(value: Known | undefined): Known {
  if (value === undefined)
    throw new TypeError('a valid policy asks before it reads what a principal may lack');
  return value;
}

function setTerm(members: readonly Expression[], expression: Expression): Term {
  const values = members.map((member) => {
    const term = termOf(member);
    if (term.of !== 'known')
      throw new NoTranslation(expression, 'a set must not have an attribute of the object as a member');
    return term.value;
  });
  return { of: 'known', value: (request) => values.map((each) => each(request)) };
}

function timeLiteral([text]: readonly Expression[], expression: Expression): Known {
  const time = typeof text?.['Value'] === 'string' ? timeOf(text['Value']) : null;
  if (time === null)
    throw new NoTranslation(expression, 'a time is written as datetime("2026-01-31T12:00:00Z")');
  return { time };
}

/** @throws NoTranslation for what is not the object */
export function requireObject(expression: Expression, whole: Expression): void {
  if (!isVariable(expression, 'resource')) throw new NoTranslation(whole, 'only resource has tags');
}

/** A text that does not depend on the object. @throws NoTranslation */
export function textOf(expression: Expression, whole: Expression): (request: Request) => string {
  const term = termOf(expression);
  if (term.of !== 'known')
    throw new NoTranslation(whole, 'the key of a tag must not be an attribute of the object');
  return (request) => knownText(term.value(request));
}

/** Whether an expression is a variable of Cedar. */
export function isVariable(expression: Expression, name: string): boolean {
  return expression['Var'] === name;
}
