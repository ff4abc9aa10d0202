/**
 * The syntax tree of AQL 1.1 with the extensions we accept (docs/spec/aql.md#grammar).
 * Everything is readonly plain data. `at` is where a node starts in the text; two trees are the same
 * query when they differ in `at` and `SelectColumn.text` only.
 */

/** Place in the query text: both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A whole query. After `bindParameters` it holds no `Parameter` any more. */
export interface Query {
  readonly select: SelectClause;
  readonly from: FromExpression;
  readonly where: Condition | null;
  /** Empty when there is no ORDER BY. */
  readonly orderBy: readonly OrderItem[];
  readonly limit: LimitClause | null;
}

// ---------------------------------------------------------------- SELECT

export interface SelectClause {
  readonly distinct: boolean;
  readonly top: TopClause | null;
  readonly columns: readonly SelectColumn[];
}

/** `TOP n [FORWARD|BACKWARD]`. */
export interface TopClause {
  readonly count: number;
  readonly direction: 'forward' | 'backward';
  readonly at: Position;
}

export interface SelectColumn {
  readonly expression: ColumnExpression;
  /** As written, null without AS. */
  readonly alias: string | null;
  /** Source text of the expression as written. */
  readonly text: string;
  readonly at: Position;
}

export type ColumnExpression = IdentifiedPath | Literal | FunctionCall | TerminologyCall | Aggregate;

export type AggregateName = 'COUNT' | 'MIN' | 'MAX' | 'SUM' | 'AVG';

/** `COUNT(*)` has a null argument; `distinct` only with COUNT. */
export interface Aggregate {
  readonly kind: 'aggregate';
  readonly name: AggregateName;
  readonly distinct: boolean;
  readonly argument: IdentifiedPath | FunctionCall | null;
  readonly at: Position;
}

// ---------------------------------------------------------------- FROM

export type FromExpression = ClassExpression | FromBoolean;

/** Two or more operands of one AND or OR chain; parentheses make a nested node. */
interface FromBoolean {
  readonly kind: 'from-and' | 'from-or';
  readonly operands: readonly FromExpression[];
  readonly at: Position;
}

/** `Class variable[predicate] [[NOT] CONTAINS …]`, also VERSION. */
export interface ClassExpression {
  readonly kind: 'class';
  /** Upper-cased RM class name. */
  readonly className: string;
  /** As written; compare lower-cased. */
  readonly variable: string | null;
  /** Only with VERSION (and its subclasses): null when neither word was written. */
  readonly versions: 'latest' | 'all' | null;
  readonly predicate: Predicate | null;
  readonly contains: Containment | null;
  readonly at: Position;
}

export interface Containment {
  /** NOT CONTAINS. */
  readonly negated: boolean;
  readonly child: FromExpression;
}

// ---------------------------------------------------------------- WHERE

export type Condition = BooleanCondition | NotCondition | Comparison | ExistsTest | LikeTest | MatchesTest;

/** Two or more operands of one AND or OR chain; parentheses make a nested node. */
interface BooleanCondition {
  readonly kind: 'and' | 'or';
  readonly operands: readonly Condition[];
  readonly at: Position;
}

interface NotCondition {
  readonly kind: 'not';
  readonly operand: Condition;
  readonly at: Position;
}

/** `<>` is read as `!=`. */
export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>=';

/** `left op right`. */
export interface Comparison {
  readonly kind: 'comparison';
  readonly left: ValueExpression;
  readonly operator: ComparisonOperator;
  readonly right: ValueExpression;
  readonly at: Position;
}

interface ExistsTest {
  readonly kind: 'exists';
  readonly path: IdentifiedPath;
  readonly at: Position;
}

/** `left [NOT] LIKE pattern`. The pattern keeps its backslashes (`a\*`). */
export interface LikeTest {
  readonly kind: 'like';
  readonly left: ValueExpression;
  readonly pattern: StringLiteral | Parameter;
  readonly negated: boolean;
  readonly at: Position;
}

/** `left [NOT] MATCHES set`. */
export interface MatchesTest {
  readonly kind: 'matches';
  readonly left: ValueExpression;
  readonly set: MatchSet;
  readonly negated: boolean;
  readonly at: Position;
}

/**
 * `{a, $b, TERMINOLOGY(…)}`, `TERMINOLOGY(…)` without braces (a list of one) or `{URI}`.
 * `resolveTerminology` turns URI and TERMINOLOGY into `code` items.
 */
export type MatchSet = MatchList | MatchUri;

export interface MatchList {
  readonly kind: 'list';
  readonly items: readonly MatchItem[];
  readonly at: Position;
}

interface MatchUri {
  readonly kind: 'uri';
  readonly uri: string;
  readonly at: Position;
}

export type MatchItem = Literal | Parameter | TerminologyCall | CodeItem;

/** A code that a terminology service answered: compared with code_string, or with a string. Never parsed. */
export interface CodeItem {
  readonly kind: 'code';
  readonly code: string;
  readonly at: Position;
}

// ---------------------------------------------------------------- values

export type ValueExpression = IdentifiedPath | Literal | Parameter | FunctionCall | TerminologyCall;

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

export type FunctionName =
  | 'LENGTH'
  | 'CONTAINS'
  | 'POSITION'
  | 'SUBSTRING'
  | 'CONCAT'
  | 'CONCAT_WS'
  | 'ABS'
  | 'MOD'
  | 'CEIL'
  | 'FLOOR'
  | 'ROUND'
  | 'CURRENT_DATE'
  | 'CURRENT_TIME'
  | 'CURRENT_DATE_TIME'
  | 'NOW'
  | 'CURRENT_TIMEZONE';

export interface FunctionCall {
  readonly kind: 'function';
  readonly name: FunctionName;
  readonly args: readonly ValueExpression[];
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
export interface IdentifiedPath {
  readonly kind: 'path';
  /** As written; compare lower-cased. */
  readonly variable: string;
  /** Predicate on the variable itself. */
  readonly predicate: Predicate | null;
  readonly steps: readonly PathStep[];
  readonly at: Position;
}

export interface PathStep {
  readonly attribute: string;
  readonly predicate: Predicate | null;
  readonly at: Position;
}

/** A path relative to the element that a predicate filters. At least one step. */
export interface ObjectPath {
  readonly kind: 'object-path';
  readonly steps: readonly PathStep[];
  readonly at: Position;
}

// ---------------------------------------------------------------- predicates

/** `[…]`: OR of ANDs, neither level ever empty. */
export interface Predicate {
  readonly kind: 'predicate';
  readonly alternatives: readonly (readonly PredicateCondition[])[];
  readonly at: Position;
}

export type PredicateCondition = NodePredicate | NodeParameter | PredicateComparison | PredicateRegex;

/** `[at0004]`, `[openEHR-EHR-…]`, with `, name`. First of its AND group. */
export interface NodePredicate {
  readonly kind: 'node';
  readonly id: NodeId;
  readonly name: StringLiteral | Parameter | TermCode | NodeId | null;
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

export interface PredicateComparison {
  readonly kind: 'predicate-comparison';
  readonly path: ObjectPath;
  readonly operator: ComparisonOperator;
  readonly operand: PredicateOperand;
  readonly at: Position;
}

export type PredicateOperand = Literal | ObjectPath | Parameter | NodeId;

/** `path matches {/pattern/}`, optionally `{/pattern/; 'assumed'}`: over the whole value. */
export interface PredicateRegex {
  readonly kind: 'predicate-regex';
  readonly path: ObjectPath;
  readonly pattern: string;
  readonly assumed: string | null;
  readonly at: Position;
}

// ---------------------------------------------------------------- ORDER BY, LIMIT

export interface OrderItem {
  /** A path without steps and predicate may name a column alias. */
  readonly expression: IdentifiedPath | FunctionCall | Aggregate;
  readonly descending: boolean;
  readonly at: Position;
}

/** `LIMIT n [OFFSET m]`, or `OFFSET m` alone. */
export interface LimitClause {
  readonly limit: NumberLiteral | Parameter | null;
  readonly offset: NumberLiteral | Parameter | null;
  readonly at: Position;
}
