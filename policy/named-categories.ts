import { CATEGORIES_ATTRIBUTE } from './categories.js';
import { operatorOf, partsOf, type Expression, type PolicyJson } from './policy-json.js';
import { isVariable, type Pair } from './terms.js';

/** A category that a policy asks for. */
interface NamedCategory {
  readonly name: string;
  /** The part that names it. */
  readonly part: Expression;
}

const ASKING: ReadonlySet<string> = new Set(['contains', 'containsAny', 'containsAll']);

/** Names of the categories that a policy asks for. */
export function namedCategories({ conditions }: Pick<PolicyJson, 'conditions'>): readonly NamedCategory[] {
  return conditions.flatMap(({ body }) => namedIn(body));
}

function namedIn(expression: Expression): NamedCategory[] {
  const [name, operands] = operatorOf(expression);
  const inParts = partsOf(expression).flatMap((part) => namedIn(part));
  if (!ASKING.has(name)) return inParts;
  const { left, right } = operands as Pair;
  if (isCategories(left)) return textsOf(right);
  return isCategories(right) ? textsOf(left) : inParts;
}

function isCategories(expression: Expression): boolean {
  const { left, attr } = (expression['.'] ?? {}) as { left?: Expression; attr?: unknown };
  return attr === CATEGORIES_ATTRIBUTE && left !== undefined && isVariable(left, 'resource');
}

/** What is written out: nothing else is translated. */
function textsOf(expression: Expression): NamedCategory[] {
  const [name, operands] = operatorOf(expression);
  if (name === 'Value' && typeof operands === 'string') return [{ name: operands, part: expression }];
  return name === 'Set' ? (operands as readonly Expression[]).flatMap((each) => textsOf(each)) : [];
}
