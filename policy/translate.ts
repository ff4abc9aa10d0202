import { comparison, equality, isOfType, membership } from './comparisons.js';
import { all, any, constant, FALSE, isLike, not, TRUE } from './condition.js';
import { knownText, subjectValue } from './known.js';
import { operatorOf, partsOf, type Expression } from './policy-json.js';
import { contained, containedMembers, isEmptySet, type Truth } from './sets.js';
import { isVariable, NoTranslation, requireObject, termOf, textOf, type Pair } from './terms.js';

/** What an expression asks for, each name once. */
interface Asked {
  /** Attributes of who asks. */
  readonly reads: ReadonlySet<string>;
  /** Attributes of the object. */
  readonly asks: ReadonlySet<string>;
  /** Whether tags of the object are. */
  readonly asksTags: boolean;
}

/** What an expression asks for, found in one walk: there may be ten thousand policies. */
export function askedBy(expression: Expression): Asked {
  const asked = { reads: new Set<string>(), asks: new Set<string>(), asksTags: false };
  noteAsked(expression, asked);
  return asked;
}

interface Noted extends Asked {
  readonly reads: Set<string>;
  readonly asks: Set<string>;
  asksTags: boolean;
}

function noteAsked(expression: Expression, asked: Noted): void {
  const [name, operands] = operatorOf(expression);
  if (name === '.' || name === 'has') {
    const { left, attr } = operands as { left: Expression; attr: string | readonly string[] };
    const attribute = typeof attr === 'string' ? attr : (attr[0] ?? '');
    if (isVariable(left, 'resource')) asked.asks.add(attribute);
    else if (isVariable(left, 'principal')) asked.reads.add(attribute);
    else noteAsked(left, asked);
    return;
  }
  // Who he is tells his id.
  if (name === 'Var' && operands === 'principal') asked.reads.add('sub');
  if (name === 'hasTag' || name === 'getTag') asked.asksTags = true;
  for (const part of partsOf(expression)) noteAsked(part, asked);
}

/** Translates a condition of a policy. @throws NoTranslation */
export function truthOf(expression: Expression): Truth {
  const [name, operands] = operatorOf(expression);
  const translate = TRUTHS[name];
  if (translate !== undefined) return translate(operands as never, expression);
  const term = termOf(expression);
  if (term.of !== 'known')
    throw new NoTranslation(expression, 'only what is true or false can be a condition');
  return (request) => constant(term.value(request) === true);
}

type Translate = (operands: never, expression: Expression) => Truth;

const TRUTHS: Readonly<Record<string, Translate | undefined>> = {
  '!': ({ arg }: { arg: Expression }) => {
    const truth = truthOf(arg);
    return (request) => not(truth(request));
  },
  // The right one may need what the left one asks for: it is not looked at where the left one decides.
  '&&': ({ left, right }: Pair) => {
    const [one, other] = [truthOf(left), truthOf(right)];
    return (request) => {
      const first = one(request);
      return first === FALSE ? FALSE : all([first, other(request)]);
    };
  },
  '||': ({ left, right }: Pair) => {
    const [one, other] = [truthOf(left), truthOf(right)];
    return (request) => {
      const first = one(request);
      return first === TRUE ? TRUE : any([first, other(request)]);
    };
  },
  'if-then-else': (branches: { if: Expression; then: Expression; else: Expression }) => {
    const [asked, then, otherwise] = [truthOf(branches.if), truthOf(branches.then), truthOf(branches.else)];
    return (request) => {
      const condition = asked(request);
      if (condition.kind === 'constant') return (condition.value ? then : otherwise)(request);
      return any([all([condition, then(request)]), all([not(condition), otherwise(request)])]);
    };
  },
  '==': (pair: Pair, expression) => equality(pair, expression),
  '!=': (pair: Pair, expression) => {
    const equal = equality(pair, expression);
    return (request) => not(equal(request));
  },
  '<': (pair: Pair, expression) => comparison(pair, expression, '<'),
  '<=': (pair: Pair, expression) => comparison(pair, expression, '<='),
  '>': (pair: Pair, expression) => comparison(pair, expression, '>'),
  '>=': (pair: Pair, expression) => comparison(pair, expression, '>='),
  is: isOfType,
  in: ({ left, right }: Pair, expression) => membership(left, right, expression),
  has: hasAttribute,
  hasTag: ({ left, right }: Pair, expression) => {
    requireObject(left, expression);
    const key = textOf(right, expression);
    return (request) => ({ kind: 'tagged', key: key(request) });
  },
  like: isLikePattern,
  contains: contained,
  containsAny: (pair: Pair, expression) => containedMembers(pair, expression, any),
  containsAll: (pair: Pair, expression) => containedMembers(pair, expression, all),
  isEmpty: isEmptySet,
};

function hasAttribute(
  { left, attr }: { left: Expression; attr: string | readonly string[] },
  expression: Expression,
): Truth {
  const [attribute, ...deeper] = typeof attr === 'string' ? [attr] : attr;
  if (attribute === undefined || deeper.length > 0)
    throw new NoTranslation(expression, 'no attribute has attributes of its own');
  if (isVariable(left, 'resource')) return () => ({ kind: 'has', attribute });
  if (isVariable(left, 'principal'))
    return ({ subject }) => constant(subjectValue(subject, attribute) !== undefined);
  throw new NoTranslation(expression, 'has is asked of principal and resource');
}

function isLikePattern(
  { left, pattern }: { left: Expression; pattern: readonly ('Wildcard' | { Literal: string })[] },
  expression: Expression,
): Truth {
  const term = termOf(left);
  const pieces = pattern.map((piece) => (piece === 'Wildcard' ? null : piece.Literal));
  if (term.of === 'known') return (request) => constant(isLike(knownText(term.value(request)), pieces));
  if (term.of !== 'attribute')
    throw new NoTranslation(expression, 'like is asked of an attribute of the object');
  const { name: attribute } = term;
  return () => ({ kind: 'like', attribute, pattern: pieces });
}
