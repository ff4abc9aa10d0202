/**
 * The syntax tree of AQL 1.1 with the extensions we accept (docs/spec/aql.md#grammar).
 * Everything is readonly plain data. `at` is where a node starts in the text; two trees are the same
 * query when they differ in `at` and `SelectColumn.text` only.
 */
import type { FunctionName } from './functions.js';

/** Position in the query text: both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What a query holds only until parameters are bound and terminology is resolved. */
export type Unbound = Placeholder | Unanswered;

/** A parameter, `[$p]` too: nothing else is left to be replaced in paths, predicates, FROM and LIMIT. */
export type Placeholder = Parameter | NodeParameter;

/** What stays after `bindParameters`, until `resolveTerminology`. */
export type Unanswered = TerminologyCall | MatchUri;

/** A query as it was read. */
export type ParsedQuery = Query<Unbound>;

/** A query without parameters and calls of terminology services: what all later phases take. */
export type BoundQuery = Query;

/** A whole query. `P`: which nodes it may still hold that have to be replaced; without, none (also of its parts). */
export interface Query<P extends Unbound = never> {
  readonly select: SelectClause<P>;
  readonly from: FromExpression<Extract<P, Placeholder>>;
  readonly where: Condition<P> | null;
  /** Empty when there is no ORDER BY. */
  readonly orderBy: readonly OrderItem<P>[];
  readonly limit: LimitClause<Extract<P, Placeholder>> | null;
}

// ---------------------------------------------------------------- SELECT

export interface SelectClause<P extends Unbound = never> {
  readonly distinct: boolean;
  readonly top: TopClause | null;
  readonly columns: readonly SelectColumn<P>[];
}

/** `TOP n [FORWARD|BACKWARD]`. */
export interface TopClause {
  readonly count: number;
  readonly direction: 'forward' | 'backward';
  readonly at: Position;
}

export interface SelectColumn<P extends Unbound = never> {
  readonly expression: ColumnExpression<P>;
  /** As written, null without AS. */
  readonly alias: string | null;
  /** Source text of the expression as written. */
  readonly text: string;
  readonly at: Position;
}

export type ColumnExpression<P extends Unbound = never> =
  | IdentifiedPath<Extract<P, Placeholder>>
  | Literal
  | FunctionCall<P>
  | Extract<P, TerminologyCall>
  | Aggregate<P>;

export type AggregateName = 'COUNT' | 'MIN' | 'MAX' | 'SUM' | 'AVG';

/** `COUNT(*)` has a null argument; `distinct` only with COUNT. */
export interface Aggregate<P extends Unbound = never> {
  readonly kind: 'aggregate';
  readonly name: AggregateName;
  readonly distinct: boolean;
  readonly argument: IdentifiedPath<Extract<P, Placeholder>> | FunctionCall<P> | null;
  readonly at: Position;
}

// ---------------------------------------------------------------- FROM

export type FromExpression<P extends Placeholder = never> = ClassExpression<P> | FromBoolean<P>;

/** Two or more operands of one AND or OR chain; parentheses make a nested node. */
interface FromBoolean<P extends Placeholder = never> {
  readonly kind: 'from-and' | 'from-or';
  readonly operands: readonly FromExpression<P>[];
  readonly at: Position;
}

/** `Class variable[predicate] [[NOT] CONTAINS …]`, also VERSION. */
export interface ClassExpression<P extends Placeholder = never> {
  readonly kind: 'class';
  /** Upper-cased RM class name. */
  readonly className: string;
  /** As written; compare lower-cased. */
  readonly variable: string | null;
  /** Only with VERSION (and its subclasses): null when neither word was written. */
  readonly versions: 'latest' | 'all' | null;
  readonly predicate: Predicate<P> | null;
  readonly contains: Containment<P> | null;
  readonly at: Position;
}

export interface Containment<P extends Placeholder = never> {
  /** NOT CONTAINS. */
  readonly negated: boolean;
  readonly child: FromExpression<P>;
}

// ---------------------------------------------------------------- WHERE

export type Condition<P extends Unbound = never> = BooleanCondition<P> | NotCondition<P> | Test<P>;

/** What AND, OR and NOT combine. */
export type Test<P extends Unbound = never> = Comparison<P> | ExistsTest<P> | LikeTest<P> | MatchesTest<P>;

/** Two or more operands of one AND or OR chain; parentheses make a nested node. */
interface BooleanCondition<P extends Unbound = never> {
  readonly kind: 'and' | 'or';
  readonly operands: readonly Condition<P>[];
  readonly at: Position;
}

interface NotCondition<P extends Unbound = never> {
  readonly kind: 'not';
  readonly operand: Condition<P>;
  readonly at: Position;
}

/** `<>` is read as `!=`. */
export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>=';

/** `left op right`. */
export interface Comparison<P extends Unbound = never> {
  readonly kind: 'comparison';
  readonly left: ValueExpression<P>;
  readonly operator: ComparisonOperator;
  readonly right: ValueExpression<P>;
  readonly at: Position;
}

interface ExistsTest<P extends Unbound = never> {
  readonly kind: 'exists';
  readonly path: IdentifiedPath<Extract<P, Placeholder>>;
  readonly at: Position;
}

/** `left [NOT] LIKE pattern`. The pattern keeps its backslashes (`a\*`). */
export interface LikeTest<P extends Unbound = never> {
  readonly kind: 'like';
  readonly left: ValueExpression<P>;
  readonly pattern: StringLiteral | Extract<P, Parameter>;
  readonly negated: boolean;
  readonly at: Position;
}

/** `left [NOT] MATCHES set`. */
export interface MatchesTest<P extends Unbound = never> {
  readonly kind: 'matches';
  readonly left: ValueExpression<P>;
  readonly set: MatchSet<P>;
  readonly negated: boolean;
  readonly at: Position;
}

/**
 * `{a, $b, TERMINOLOGY(…)}`, `TERMINOLOGY(…)` without braces (a list of one) or `{URI}`.
 * `resolveTerminology` turns URI and TERMINOLOGY into `code` items.
 */
export type MatchSet<P extends Unbound = never> = MatchList<P> | Extract<P, MatchUri>;

export interface MatchList<P extends Unbound = never> {
  readonly kind: 'list';
  readonly items: readonly MatchItem<P>[];
  readonly at: Position;
}

interface MatchUri {
  readonly kind: 'uri';
  readonly uri: string;
  readonly at: Position;
}

export type MatchItem<P extends Unbound = never> =
  Literal | Extract<P, Parameter | TerminologyCall> | CodeItem;

/** A code that a terminology service answered: compared with code_string, or with a string. Never parsed. */
export interface CodeItem {
  readonly kind: 'code';
  readonly code: string;
  readonly at: Position;
}

// ---------------------------------------------------------------- values

export type ValueExpression<P extends Unbound = never> =
  | IdentifiedPath<Extract<P, Placeholder>>
  | Literal
  | FunctionCall<P>
  | Extract<P, Parameter | TerminologyCall>;

export type Literal = StringLiteral | NumberLiteral | BooleanLiteral | NullLiteral;

/** Also dates, times and durations: what a string means is decided by what it is compared with. */
export interface StringLiteral {
  readonly kind: 'string';
  readonly value: string;
  readonly at: Position;
}

export interface NumberLiteral {
  readonly kind: 'integer' | 'real';
  readonly value: number;
  readonly at: Position;
}

interface BooleanLiteral {
  readonly kind: 'boolean';
  readonly value: boolean;
  readonly at: Position;
}

interface NullLiteral {
  readonly kind: 'null';
  readonly at: Position;
}

/** `$name`; the name without `$`. */
export interface Parameter {
  readonly kind: 'parameter';
  readonly name: string;
  readonly at: Position;
}

export interface FunctionCall<P extends Unbound = never> {
  readonly kind: 'function';
  readonly name: FunctionName;
  readonly args: readonly ValueExpression<P>[];
  readonly at: Position;
}

/** `TERMINOLOGY(operation, service api, parameters)`. Gone after `resolveTerminology`. */
export interface TerminologyCall {
  readonly kind: 'terminology';
  readonly args: readonly [StringLiteral | Parameter, StringLiteral | Parameter, StringLiteral | Parameter];
  readonly at: Position;
}

// ---------------------------------------------------------------- paths

/** `variable[predicate]/attribute[predicate]/…`; no steps: the variable (in ORDER BY maybe an alias). */
export interface IdentifiedPath<P extends Placeholder = never> {
  readonly kind: 'path';
  /** As written; compare lower-cased. */
  readonly variable: string;
  /** Predicate on the variable itself. */
  readonly predicate: Predicate<P> | null;
  readonly steps: readonly PathStep<P>[];
  readonly at: Position;
}

export interface PathStep<P extends Placeholder = never> {
  readonly attribute: string;
  readonly predicate: Predicate<P> | null;
  readonly at: Position;
}

/** A path relative to the element that a predicate filters. At least one step. */
export interface ObjectPath<P extends Placeholder = never> {
  readonly kind: 'object-path';
  readonly steps: readonly PathStep<P>[];
  readonly at: Position;
}

// ---------------------------------------------------------------- predicates

/** `[…]`: OR of ANDs, neither level ever empty. */
export interface Predicate<P extends Placeholder = never> {
  readonly kind: 'predicate';
  readonly alternatives: readonly (readonly PredicateCondition<P>[])[];
  readonly at: Position;
}

export type PredicateCondition<P extends Placeholder = never> =
  NodePredicate<P> | Extract<P, NodeParameter> | PredicateComparison<P> | PredicateRegex<P>;

/** `[at0004]`, `[openEHR-EHR-…]`, with `, name`. First of its AND group. */
export interface NodePredicate<P extends Placeholder = never> {
  readonly kind: 'node';
  readonly id: NodeId;
  readonly name: StringLiteral | Extract<P, Parameter> | TermCode | NodeId | null;
  /** Only in COMPOSITIONs of the template with these ids: never written, an alias of the template has put it here. */
  readonly template?: readonly string[];
  readonly at: Position;
}

/** `[$p]`: replaced by a `NodePredicate` when parameters are bound. */
interface NodeParameter {
  readonly kind: 'node-parameter';
  readonly parameter: Parameter;
  readonly at: Position;
}

/** An at-code, id-code or archetype id. */
export interface NodeId {
  readonly kind: 'node-id';
  readonly value: string;
  readonly isArchetypeId: boolean;
  readonly at: Position;
}

/** `snomed_ct(3.1)::123|text|`; `text` is ignored by evaluation. */
export interface TermCode {
  readonly kind: 'term-code';
  /** Without the version. */
  readonly terminology: string;
  readonly version: string | null;
  readonly code: string;
  readonly text: string | null;
  readonly at: Position;
}

export interface PredicateComparison<P extends Placeholder = never> {
  readonly kind: 'predicate-comparison';
  readonly path: ObjectPath<P>;
  readonly operator: ComparisonOperator;
  readonly operand: PredicateOperand<P>;
  readonly at: Position;
}

export type PredicateOperand<P extends Placeholder = never> =
  Literal | ObjectPath<P> | Extract<P, Parameter> | NodeId;

/** `path matches {/pattern/}`, optionally `{/pattern/; 'assumed'}`: over the whole value. */
export interface PredicateRegex<P extends Placeholder = never> {
  readonly kind: 'predicate-regex';
  readonly path: ObjectPath<P>;
  readonly pattern: string;
  readonly assumed: string | null;
  readonly at: Position;
}

// ---------------------------------------------------------------- ORDER BY, LIMIT

export interface OrderItem<P extends Unbound = never> {
  /** A path without steps and predicate may name a column alias. */
  readonly expression: IdentifiedPath<Extract<P, Placeholder>> | FunctionCall<P> | Aggregate<P>;
  readonly descending: boolean;
  readonly at: Position;
}

/** `LIMIT n [OFFSET m]`, or `OFFSET m` alone. */
export interface LimitClause<P extends Placeholder = never> {
  readonly limit: NumberLiteral | Extract<P, Parameter> | null;
  readonly offset: NumberLiteral | Extract<P, Parameter> | null;
  readonly at: Position;
}
