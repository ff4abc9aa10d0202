import { parseEhrId, uidParts } from '../../openehr/base/object-version-id.js';
import { isJsonObject, type JsonValue } from '../../openehr/base/json.js';
import { counted, step } from '../../openehr/base/work.js';
import type {
  ComparisonOperator,
  NodeId,
  NodePredicate,
  PathStep,
  Predicate,
  PredicateComparison,
  PredicateCondition,
  PredicateRegex,
} from '../syntax/ast.js';
import { parseVersionOperand, type VersionOperand } from '../semantics/identifier-operand.js';
import { compiledRegex } from '../semantics/regex.js';
import type { PathType } from '../semantics/scope-types.js';
import { pathType, stepType } from '../semantics/typing.js';
import { isSpecialisation } from '../semantics/specialisation.js';
import { attributeValues, compareKeys, compareReadings, compareWithLiteral, holds } from './value.js';
import { readingOf, textForm, type Found } from './value.js';

/** What of the request the comparisons depend on. */
export interface Rules {
  readonly systemId: string;
  readonly subsumption: boolean;
}

/** Whether an element of one of `classes` fits a predicate (docs/spec/aql.md#predicates). */
export function fits(
  element: Found,
  predicate: Predicate | null,
  classes: ReadonlySet<string>,
  rules: Rules,
): boolean {
  if (predicate === null) return true;
  step(predicate.alternatives.length);
  return counted(predicate.alternatives).some((group) =>
    counted(group).every((condition) => evaluatesTrue(element, condition, classes, rules)),
  );
}

function evaluatesTrue(
  element: Found,
  condition: PredicateCondition,
  classes: ReadonlySet<string>,
  rules: Rules,
): boolean {
  switch (condition.kind) {
    case 'node':
      return hasNodeId(element, condition.id, rules) && hasName(element, condition.name);
    case 'predicate-comparison':
      return comparesTrue(element, condition, classes, rules);
    case 'predicate-regex':
      return matchesRegex(element, condition, classes, rules);
  }
}

function hasNodeId(element: Found, id: NodeId, rules: Rules): boolean {
  const nodeId = attributeValue(element, 'archetype_node_id');
  return typeof nodeId === 'string' && isNodeIdMatch(nodeId, id.value, rules.subsumption);
}

/**
 * Whether a node id is the wanted one; with subsumption also a specialisation of that archetype
 * (docs/spec/aql.md#node-predicates-in-from).
 */
export function isNodeIdMatch(nodeId: string, wanted: string, subsumption: boolean): boolean {
  return nodeId === wanted || (subsumption && isSpecialisation(nodeId, wanted));
}

function hasName(element: Found, name: NodePredicate['name']): boolean {
  if (name === null) return true;
  const given = attributeValue(element, 'name');
  if (!isJsonObject(given)) return false;
  if (name.kind === 'string') return given['value'] === name.value;
  const code = given['defining_code'];
  if (!isJsonObject(code)) return false;
  const terminology = code['terminology_id'];
  const isSame = (wanted: string, codeString: string): boolean =>
    code['code_string'] === codeString && isJsonObject(terminology) && terminology['value'] === wanted;
  return name.kind === 'node-id' ? isSame('local', name.value) : isSame(name.terminology, name.code);
}

function attributeValue(element: Found, attribute: string): JsonValue {
  return isJsonObject(element.value) ? (element.value[attribute] ?? null) : null;
}

/** A predicate's path holds when any of the values that it reaches does. */
function comparesTrue(
  element: Found,
  condition: PredicateComparison,
  classes: ReadonlySet<string>,
  rules: Rules,
): boolean {
  const { path, operator, operand } = condition;
  const values = valuesAlong(element, path.steps, classes, rules);
  if (operand.kind === 'null') return values.length > 0 === (operator === '!=');
  if (operand.kind === 'object-path') {
    const others = valuesAlong(element, operand.steps, classes, rules);
    return counted(values).some((value) =>
      counted(others).some((other) => compareReadings(readingOf(value), operator, readingOf(other))),
    );
  }
  const literal = operand.kind === 'node-id' ? { ...operand, kind: 'string' as const } : operand;
  const identifier = pathType(classes, path.steps)?.identifier ?? null;
  const isNodeId = path.steps.length === 1 && path.steps[0]?.attribute === 'archetype_node_id';
  return counted(values).some((value) => {
    if (literal.kind === 'string' && identifier !== null)
      return compareIdentifier(value, operator, literal.value, { kind: identifier, rules });
    if (literal.kind === 'string' && isNodeId && operator === '=')
      return typeof value.value === 'string' && isNodeIdMatch(value.value, literal.value, rules.subsumption);
    return compareWithLiteral(readingOf(value), operator, literal);
  });
}

function matchesRegex(
  element: Found,
  condition: PredicateRegex,
  classes: ReadonlySet<string>,
  rules: Rules,
): boolean {
  const regex = compiledRegex(condition.pattern, condition.at);
  return counted(valuesAlong(element, condition.path.steps, classes, rules)).some((value) => {
    const text = textForm(value);
    return text !== null && regex.test(text);
  });
}

/** All values that steps reach from an element, through every list on the way. */
export function valuesAlong(
  element: Found,
  steps: readonly PathStep[],
  classes: ReadonlySet<string>,
  rules: Rules,
): readonly Found[] {
  step();
  const [next, ...rest] = steps;
  if (next === undefined) return [element];
  const inner = stepType(classes, next.attribute).classes;
  return counted(attributeValues(element, next.attribute))
    .filter((value) => fits(value, next.predicate, inner, rules))
    .flatMap((value) => valuesAlong(value, rest, inner, rules));
}

/** `uid/value` or `ehr_id/value` compared with a text in its operand forms (docs/spec/aql.md#version-uids). */
export function compareIdentifier(
  left: Found,
  operator: ComparisonOperator,
  text: string,
  context: { readonly kind: NonNullable<PathType['identifier']>; readonly rules: Rules },
): boolean {
  step();
  if (operator === '!=') return !compareIdentifier(left, '=', text, context);
  const value = typeof left.value === 'string' ? left.value : '';
  if (context.kind === 'ehr') return holds(compareKeys(value, parseEhrId(text) ?? text), operator);
  const operand = parseVersionOperand(text, context.rules.systemId);
  // The uid of a FOLDER is whatever it was given.
  const isText = operand === null || (context.kind === 'folder' && operand.otherSystem !== null);
  if (isText) return context.kind === 'folder' && holds(compareKeys(value, text), operator);
  return compareVersion(value, operator, { operand, isOfSystem: context.kind === 'version' });
}

/** The order is that of the uuids, then of the numbers; `isOfSystem`: equal are only those of one system. */
function compareVersion(
  value: string,
  operator: ComparisonOperator,
  { operand, isOfSystem }: { readonly operand: VersionOperand; readonly isOfSystem: boolean },
): boolean {
  step();
  const [versionedObjectUid = '', system, version] = uidParts(value);
  const { versionUid } = operand;
  const isNamed = operator === '=' && isOfSystem && versionUid !== null;
  if (isNamed && uidParts(versionUid)[1] !== system) return false;
  const order = compareKeys(versionedObjectUid.toLowerCase(), operand.versionedObjectUid);
  if (order !== 0 || operand.version === null) return holds(order, operator);
  return holds(Number(version ?? 0) - operand.version, operator);
}
