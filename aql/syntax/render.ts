import type {
  Aggregate,
  ClassExpression,
  Condition,
  FromExpression,
  FunctionCall,
  IdentifiedPath,
  Literal,
  MatchItem,
  MatchSet,
  NodeId,
  ObjectPath,
  Parameter,
  PathStep,
  Predicate,
  PredicateCondition,
  ParsedQuery,
  TermCode,
  TerminologyCall,
  Unbound,
  Placeholder,
} from './ast.js';
import { unreachable } from '../../openehr/base/errors.js';
import { encodeString } from './string-literal.js';

/** The query as AQL text on one line; reading it gives the same tree. */
export function renderAql(query: ParsedQuery): string {
  const { select, from, where, orderBy, limit } = query;
  const parts = ['SELECT'];
  if (select.distinct) parts.push('DISTINCT');
  if (select.top !== null)
    parts.push(`TOP ${select.top.count}${select.top.direction === 'backward' ? ' BACKWARD' : ''}`);
  const columns = select.columns.map(
    ({ expression, alias }) => renderValue(expression) + (alias === null ? '' : ` AS ${alias}`),
  );
  parts.push(columns.join(', '), 'FROM', renderFrom(from));
  if (where !== null) parts.push('WHERE', renderCondition(where));
  if (orderBy.length > 0) {
    const keys = orderBy.map((item) => renderValue(item.expression) + (item.descending ? ' DESC' : ''));
    parts.push('ORDER BY', keys.join(', '));
  }
  if (limit !== null && limit.limit !== null) parts.push(`LIMIT ${renderValue(limit.limit)}`);
  if (limit !== null && limit.offset !== null) parts.push(`OFFSET ${renderValue(limit.offset)}`);
  return parts.join(' ');
}

/** A path, value, function or aggregate as AQL text. */
export function renderValue(
  value:
    | IdentifiedPath<Placeholder>
    | ObjectPath<Placeholder>
    | Literal
    | Parameter
    | FunctionCall<Unbound>
    | TerminologyCall
    | Aggregate<Unbound>
    | MatchItem<Unbound>,
): string {
  switch (value.kind) {
    case 'path':
      return `${value.variable}${renderPredicate(value.predicate)}${value.steps.map((step) => `/${renderStep(step)}`).join('')}`;
    case 'object-path':
      return value.steps.map(renderStep).join('/');
    case 'parameter':
      return `$${value.name}`;
    case 'function':
      return `${value.name}(${value.args.map(renderValue).join(', ')})`;
    case 'terminology':
      return `TERMINOLOGY(${value.args.map(renderValue).join(', ')})`;
    case 'aggregate':
      return `${value.name}(${value.distinct ? 'DISTINCT ' : ''}${value.argument === null ? '*' : renderValue(value.argument)})`;
    default:
      return renderLiteral(value);
  }
}

function renderLiteral(value: Exclude<MatchItem<Unbound>, Parameter | TerminologyCall>): string {
  switch (value.kind) {
    case 'string':
      return encodeString(value.value);
    case 'code':
      return encodeString(value.code);
    case 'integer':
      return String(value.value);
    case 'real': {
      const text = String(value.value);
      return /[.e]/.test(text) ? text : `${text}.0`;
    }
    case 'boolean':
      return String(value.value);
    case 'null':
      return 'NULL';
    default:
      return unreachable(value);
  }
}

function renderStep(step: PathStep<Placeholder>): string {
  return step.attribute + renderPredicate(step.predicate);
}

/** `[…]`, or nothing for null. */
export function renderPredicate(predicate: Predicate<Placeholder> | null): string {
  if (predicate === null) return '';
  return `[${predicate.alternatives.map((group) => group.map(renderPredicateCondition).join(' and ')).join(' or ')}]`;
}

function renderPredicateCondition(condition: PredicateCondition<Placeholder>): string {
  switch (condition.kind) {
    case 'node':
      return (
        renderNodeName(condition.id) + (condition.name === null ? '' : `, ${renderNodeName(condition.name)}`)
      );
    case 'node-parameter':
      return `$${condition.parameter.name}`;
    case 'predicate-comparison': {
      const { path, operator, operand } = condition;
      const right = operand.kind === 'node-id' ? operand.value : renderValue(operand);
      return `${renderValue(path)}${operator}${right}`;
    }
    case 'predicate-regex': {
      const assumed = condition.assumed === null ? '' : `; ${encodeString(condition.assumed)}`;
      return `${renderValue(condition.path)} matches {/${condition.pattern}/${assumed}}`;
    }
    default:
      return unreachable(condition);
  }
}

function renderNodeName(name: NodeId | TermCode | Parameter | Literal): string {
  if (name.kind === 'node-id') return name.value;
  if (name.kind !== 'term-code') return renderValue(name);
  const version = name.version === null ? '' : `(${name.version})`;
  return `${name.terminology}${version}::${name.code}${name.text === null ? '' : `|${name.text}|`}`;
}

function renderFrom(from: FromExpression<Placeholder>): string {
  if (from.kind === 'class') return renderClass(from);
  const word = from.kind === 'from-and' ? ' AND ' : ' OR ';
  return from.operands.map((operand) => renderFromOperand(operand)).join(word);
}

/** CONTAINS takes all that follows, so an operand with one needs parentheses, as does a boolean. */
function renderFromOperand(operand: FromExpression<Placeholder>): string {
  const isSimple = operand.kind === 'class' && operand.contains === null;
  return isSimple ? renderFrom(operand) : `(${renderFrom(operand)})`;
}

function renderClass(expression: ClassExpression<Placeholder>): string {
  const { className, variable, versions, predicate, contains } = expression;
  const brackets =
    versions === null
      ? renderPredicate(predicate)
      : versions === 'all'
        ? '[ALL_VERSIONS]'
        : '[LATEST_VERSION]';
  const self = className + (variable === null ? '' : ` ${variable}`) + brackets;
  if (contains === null) return self;
  const child = contains.child;
  const inner = child.kind === 'class' ? renderClass(child) : `(${renderFrom(child)})`;
  return `${self}${contains.negated ? ' NOT' : ''} CONTAINS ${inner}`;
}

function renderCondition(condition: Condition<Unbound>): string {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const word = condition.kind === 'and' ? ' AND ' : ' OR ';
      return condition.operands.map((operand) => renderConditionOperand(operand, condition.kind)).join(word);
    }
    case 'not':
      return `NOT ${renderConditionOperand(condition.operand, 'not')}`;
    case 'exists':
      return `EXISTS ${renderValue(condition.path)}`;
    case 'comparison':
      return `${renderValue(condition.left)} ${condition.operator} ${renderValue(condition.right)}`;
    case 'like':
      return `${renderValue(condition.left)}${condition.negated ? ' NOT' : ''} LIKE ${renderValue(condition.pattern)}`;
    case 'matches':
      return `${renderValue(condition.left)}${condition.negated ? ' NOT' : ''} MATCHES ${renderMatchSet(condition.set)}`;
    default:
      return unreachable(condition);
  }
}

/** Only AND below OR goes without parentheses. */
function renderConditionOperand(condition: Condition<Unbound>, above: 'and' | 'or' | 'not'): string {
  const isFree = condition.kind === 'and' ? above === 'or' : condition.kind !== 'or';
  return isFree ? renderCondition(condition) : `(${renderCondition(condition)})`;
}

function renderMatchSet(set: MatchSet<Unbound>): string {
  if (set.kind === 'uri') return `{${set.uri}}`;
  return `{${set.items.map(renderValue).join(', ')}}`;
}
