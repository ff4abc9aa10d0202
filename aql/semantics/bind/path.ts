import { CdrError } from '../../../openehr/base/errors.js';
import type {
  NodePredicate,
  Parameter,
  PathStep,
  Predicate,
  PredicateComparison,
  PredicateCondition,
  ObjectPath,
  Placeholder,
} from '../../syntax/ast.js';
import { partnerOfClasses, readingsOf, stringParameter, type QueryParameters } from './parameters.js';
import { stepType, typesAlong } from '../typing.js';
import { isArchetypeId, isNodeCode } from '../../syntax/words.js';
import { templateIdReadings, type Text } from './template-id.js';
import { counted, expressionNodes } from '../../../openehr/base/work.js';

/** Most AND groups that ambiguous texts in one predicate may make. */
const MAX_GROUPS = 1000;

/** The steps of a path with parameters in their predicates replaced. @throws invalid */
export function bindSteps(
  steps: readonly PathStep<Placeholder>[],
  start: ReadonlySet<string>,
  parameters: QueryParameters,
): readonly PathStep[] {
  const all = counted(steps);
  if (all.every((step): step is PathStep => step.predicate === null)) return all;
  let classes = start;
  return counted(steps).map((step) => {
    classes = stepType(classes, step.attribute).classes;
    return { ...step, predicate: bindPredicate(step.predicate, classes, parameters) };
  });
}

/** A predicate on elements of `classes` with its parameters replaced. @throws invalid */
export function bindPredicate(
  predicate: Predicate<Placeholder> | null,
  classes: ReadonlySet<string>,
  parameters: QueryParameters,
): Predicate | null {
  if (predicate === null) return null;
  const alternatives = counted(predicate.alternatives).flatMap((group) =>
    bindGroup(group, classes, parameters),
  );
  return { ...predicate, alternatives };
}

/** One AND group; a text with two readings makes two groups. */
function bindGroup(
  group: readonly PredicateCondition<Placeholder>[],
  classes: ReadonlySet<string>,
  parameters: QueryParameters,
): readonly (readonly PredicateCondition[])[] {
  let groups: readonly (readonly PredicateCondition[])[] = [[]];
  for (const condition of counted(group)) {
    const bound = bindCondition(condition, classes, parameters);
    // `!=` must hold for every reading, so they all stay in the one group.
    const isBoth = condition.kind === 'predicate-comparison' && condition.operator === '!=';
    groups = isBoth
      ? counted(groups).map((each) => [...each, ...bound])
      : counted(groups).flatMap((each) => counted(bound).map((one) => [...each, one]));
    if (groups.length > MAX_GROUPS) throw new CdrError('invalid', 'a predicate has too many parameters');
  }
  // As many as were written are counted since they were read.
  expressionNodes(groups.length * (groups[0]?.length ?? 0) - group.length);
  return groups;
}

function bindCondition(
  condition: PredicateCondition<Placeholder>,
  classes: ReadonlySet<string>,
  parameters: QueryParameters,
): readonly PredicateCondition[] {
  switch (condition.kind) {
    case 'node':
      return [bindName(condition, parameters)];
    case 'node-parameter':
      return [boundNode(condition.parameter, parameters)];
    case 'predicate-regex':
      return [{ ...condition, path: bindObjectPath(condition.path, classes, parameters) }];
    case 'predicate-comparison':
      return bindComparison(condition, classes, parameters);
  }
}

function bindComparison(
  condition: PredicateComparison<Placeholder>,
  classes: ReadonlySet<string>,
  parameters: QueryParameters,
): readonly PredicateCondition[] {
  const path = bindObjectPath(condition.path, classes, parameters);
  const { operand } = condition;
  if (operand.kind === 'object-path')
    return [{ ...condition, path, operand: bindObjectPath(operand, classes, parameters) }];
  const meant = <T extends { readonly kind: string }>(each: T): readonly (T | Text)[] =>
    templateIdReadings(path.steps, condition.operator, each);
  if (operand.kind !== 'parameter')
    return counted(meant(operand)).map((each) => ({ ...condition, path, operand: each }));
  if (isNodeIdPath(condition)) textOfNodeId(operand, parameters);
  const along = typesAlong(classes, path.steps);
  const partner = partnerOfClasses(along[along.length - 1]?.classes ?? new Set());
  const readings = counted(readingsOf(operand, parameters, partner)).flatMap(meant);
  return counted(readings).map((reading) => ({ ...condition, path, operand: reading }));
}

function bindObjectPath(
  path: ObjectPath<Placeholder>,
  classes: ReadonlySet<string>,
  parameters: QueryParameters,
): ObjectPath {
  return { ...path, steps: bindSteps(path.steps, classes, parameters) };
}

function isNodeIdPath({ path, operator }: PredicateComparison<Placeholder>): boolean {
  return path.steps.length === 1 && path.steps[0]?.attribute === 'archetype_node_id' && operator === '=';
}

function bindName(condition: NodePredicate<Placeholder>, parameters: QueryParameters): NodePredicate {
  const { name } = condition;
  if (name?.kind !== 'parameter') return { ...condition, name };
  return {
    ...condition,
    name: { kind: 'string', value: stringParameter(name, parameters, 'a text'), at: name.at },
  };
}

function boundNode(parameter: Parameter, parameters: QueryParameters): NodePredicate {
  const value = textOfNodeId(parameter, parameters);
  const { at } = parameter;
  return {
    kind: 'node',
    id: { kind: 'node-id', value, isArchetypeId: isArchetypeId(value), at },
    name: null,
    at,
  };
}

function textOfNodeId(parameter: Parameter, parameters: QueryParameters): string {
  const text = stringParameter(parameter, parameters, 'an archetype id or at-code');
  if (!isArchetypeId(text) && !isNodeCode(text))
    throw new CdrError('invalid', `the parameter $${parameter.name} must be an archetype id or at-code`);
  return text;
}
