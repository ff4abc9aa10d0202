import { SEGMENT_FIELD } from '../../index/document.js';
import type {
  NodePredicate,
  PathStep,
  Predicate,
  PredicateComparison,
  PredicateCondition,
  PredicateRegex,
} from '../../syntax/ast.js';
import { literalTruth, operandTruth } from '../value/comparison.js';
import type { Operand } from '../value/comparison.js';
import {
  and,
  any,
  member,
  bind,
  call,
  conjunction,
  disjunction,
  equal,
  listOf,
  literal,
  not,
  present,
  variable,
  when,
} from '../../plan/expression.js';
import type { Expression, Field, Reference } from '../../plan/expression.js';
import { asIdentifier, identifierTruth } from '../value/identifier.js';
import { archetypeHolds, isOfTemplate } from './node-id.js';
import { pathType, stepType } from '../../semantics/typing.js';
import { canBeStub } from '../../semantics/node-classes.js';
import { domainValues, textForm, typeIs } from '../value/values.js';
import type { ValueRef } from '../value/values.js';
import { counted, step } from '../../../openehr/base/work.js';

/** What an expression about one document needs beside the element itself. */
export interface Environment {
  /** The `segs` of the document: nested segments are found there. */
  readonly segs: Field;
  readonly systemId: string;
  readonly subsumption: boolean;
  /** Next free number for `$$e<n>` variables. */
  readonly depth: number;
}

/** An element that a predicate filters. */
export interface Element {
  /** The RM object, nested segment already followed. */
  readonly object: Reference;
  readonly nodeId: Reference;
  readonly name: Reference;
  readonly classes: ReadonlySet<string>;
  /** Whether `uid/value` is an OBJECT_VERSION_ID with its operand forms. */
  readonly versioned: boolean;
}

/** An RM object as an element. */
export function elementOf(object: Reference, classes: ReadonlySet<string>, versioned = false): Element {
  return {
    object,
    nodeId: member(object, 'archetype_node_id'),
    name: member(object, 'name.value'),
    classes,
    versioned,
  };
}

/**
 * Whether an element fits a predicate: AQL 1.1 standard and node predicates, `AND`, `OR`
 * (docs/spec/aql.md#predicates).
 */
export function predicateHolds(predicate: Predicate | null, element: Element, env: Environment): Expression {
  if (predicate === null) return true;
  return disjunction(
    counted(predicate.alternatives).map((conditions) =>
      conjunction(counted(conditions).map((condition) => conditionHolds(condition, element, env))),
    ),
  );
}

function conditionHolds(condition: PredicateCondition, element: Element, env: Environment): Expression {
  switch (condition.kind) {
    case 'node':
      return nodeHolds(condition, element, env);
    case 'predicate-comparison':
      return comparisonHolds(condition, element, env);
    case 'predicate-regex':
      return regexHolds(condition, element, env);
  }
}

function nodeHolds({ id, name, template }: NodePredicate, element: Element, env: Environment): Expression {
  const sameId = archetypeHolds(element.nodeId, id, env.subsumption);
  const sameNode = template === undefined ? sameId : and(sameId, isOfTemplate(env.segs, template));
  if (name === null) return sameNode;
  const code = member(element.object, 'name.defining_code');
  const coded = (terminology: string, codeString: string): Expression =>
    and(
      sameNode,
      equal(member(code, 'code_string'), literal(codeString)),
      equal(member(code, 'terminology_id.value'), literal(terminology)),
    );
  switch (name.kind) {
    case 'string':
      return and(sameNode, equal(element.name, literal(name.value)));
    case 'term-code':
      return coded(name.terminology, name.code);
    case 'node-id':
      return coded('local', name.value);
  }
}

function comparisonHolds(condition: PredicateComparison, element: Element, env: Environment): Expression {
  const { operator, operand } = condition;
  const from = { object: element.object, classes: element.classes, versioned: element.versioned };
  if (operand.kind === 'null') {
    const found = someAlong(from, condition.path.steps, env, (end) => present(end.raw));
    return operator === '=' ? not(found) : found;
  }
  return someAlong(from, condition.path.steps, env, (end, inner) => {
    if (operand.kind === 'object-path')
      return someAlong(
        from,
        operand.steps,
        inner,
        (other) => operandTruth(pathOperand(end), operator, pathOperand(other)).yes,
      );
    const item = operand.kind === 'node-id' ? { ...operand, kind: 'string' as const } : operand;
    if (item.kind === 'string' && element.versioned && isUid(condition.path.steps))
      return identifierTruth(end.raw, operator, item.value, env.systemId).yes;
    const identifier = pathType(element.classes, condition.path.steps)?.identifier ?? null;
    return literalTruth(pathOperand(end), operator, asIdentifier(item, identifier)).yes;
  });
}

/**
 * PCRE backtracks, but MongoDB gives it a limit of steps (`match_limit`): a pattern that needs more is an error that
 * `models/cross-collection/run-pipeline.ts` answers with 400, and `maxTimeMS` bounds the whole query. `checkScope` has refused what RE2 cannot
 * compile. `\\z` and not `$`, which would leave a line break at the end unseen.
 */
function regexHolds(condition: PredicateRegex, element: Element, env: Environment): Expression {
  const from = { object: element.object, classes: element.classes };
  // The database takes no pattern with a NUL in it.
  const regex = `^(?:${condition.pattern.replaceAll('\0', '\\x{0}')})\\z`;
  return someAlong(from, condition.path.steps, env, (end) => {
    const text = textForm(end);
    // $cond, not $and: $regexMatch fails on anything that is no text.
    return call('$cond', [
      typeIs(text, 'string'),
      call('$regexMatch', { input: text, regex: literal(regex), options: 's' }),
      false,
    ]);
  });
}

function isUid(steps: readonly PathStep[]): boolean {
  return steps.length === 2 && steps[0]?.attribute === 'uid' && steps[1]?.attribute === 'value';
}

/** A path's end as an operand of a comparison. */
export function pathOperand(ref: ValueRef): Operand {
  return { values: domainValues(ref), present: present(ref.raw) };
}

/** Where a relative path starts. */
export interface PathStart {
  readonly object: Reference;
  readonly classes: ReadonlySet<string>;
}

/**
 * Whether `test` holds at any end of a path, through every list on the way. Nested segments are followed;
 * a step that no class allows is never reached.
 */
export function someAlong(
  start: PathStart,
  steps: readonly PathStep[],
  env: Environment,
  test: (end: ValueRef, env: Environment) => Expression,
): Expression {
  return along({ raw: start.object, parent: null, classes: start.classes }, steps, env, test);
}

function along(
  here: ValueRef,
  steps: readonly PathStep[],
  env: Environment,
  test: (end: ValueRef, env: Environment) => Expression,
): Expression {
  step();
  const [first, ...rest] = steps;
  if (first === undefined) return test(here, env);
  const { attribute, predicate } = first;
  const { classes, multiple } = stepType(here.classes, attribute);
  if (classes.size === 0) return false;
  const value = member(here.raw, attribute);
  const next = (raw: Reference, inner: Environment): Expression => {
    const filtered = predicateHolds(predicate, elementOf(raw, classes), inner);
    return and(filtered, along({ raw, parent: here.raw, classes }, rest, inner, test));
  };
  const stub = canBeStub(classes, predicate);
  const rubric = rubricOf(here.raw, attribute);
  if (rubric === null && !multiple && !stub) return next(value, env);
  const name = `e${env.depth}`;
  const inner = { ...env, depth: env.depth + 1 };
  if (rubric !== null) return bind(name, rubric, next(variable(name), inner));
  if (!multiple) return bind(name, followStub(value, env.segs), next(variable(name), inner));
  if (!stub) return any(listOf(value), name, next(variable(name), inner));
  const target = `e${inner.depth}`;
  const deeper = { ...inner, depth: inner.depth + 1 };
  const followed = followStub(variable(name), env.segs);
  return any(listOf(value), name, bind(target, followed, next(variable(target), deeper)));
}

const CODE = /(?:^|\.)defining_code$/;

/**
 * `preferred_term` of a `defining_code`: where it has none, the value of the DV_CODED_TEXT that it is the code of. Null for
 * any other attribute.
 */
export function rubricOf(code: Reference, attribute: string): Expression | null {
  if (attribute !== 'preferred_term' || !CODE.test(code.path)) return null;
  const coded = { ...code, path: code.path.replace(CODE, '') };
  return when(present(code), call('$ifNull', [member(code, attribute), member(coded, 'value')]));
}

/** The RM object behind a value that may be the stub of a nested segment. */
export function followStub(value: Reference, segs: Field): Expression {
  const followed = bind(
    'g',
    call('$arrayElemAt', [segs, member(value, 'seg')]),
    variable('g', SEGMENT_FIELD.object),
  );
  return call('$cond', [present(member(value, 'seg')), followed, value]);
}
