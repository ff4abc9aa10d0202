import type { JsonValue } from '../../openehr/base/json.js';
import type { Page } from '../semantics/page.js';
import type { Expression } from './expression.js';
import type { MovingMerges } from '../index/moved-owners.js';
import type { Stage } from '../index/stage.js';
import type { IndexCondition } from '../index/condition.js';
import type { LookupStep, Step } from './steps.js';

/** How the server turns the value of a column into a cell. */
export type CellKind =
  /** A primitive, or an object that holds no nested segment. */
  | 'plain'
  /** A sum or average; a text in its place names the class of a value that cannot be added. */
  | 'total'
  /** Canonical JSON text of a whole versioned object. */
  | 'text'
  /** An object with stubs of nested segments, which come in `segs`. */
  | 'object'
  /** An ORIGINAL_VERSION whose `data` is text. */
  | 'version';

/** One column of a plan. */
export interface PlanColumn {
  readonly name: string;
  /** As written; null for functions, aggregates and literals (docs/spec/aql.md#columns). */
  readonly path: string | null;
  readonly kind: CellKind;
  /** Kind `object`: which of the row's `segs` belongs to it. */
  readonly segs: number | null;
}

/** The fields of a row by name; lists of expressions. */
export type RowShape = Readonly<Record<string, Expression>>;

/** What ORDER BY sorts rows by, as far as passes decide by it. */
export interface RowOrder {
  /** Field of the first sort value. */
  readonly field: string;
  readonly direction: 1 | -1;
  /** Whether a rank stands before the first sort value: there are several kinds of values, or none. */
  readonly isRanked: boolean;
  /** The whole order is that of the start time of the COMPOSITION that each first document is. */
  readonly isByStart: boolean;
}

/** What the server does with the rows: see `QueryPlan` of `aql/plan/query-plan.ts`. */
type InProcess =
  /** DISTINCT over objects with nested archetypes: they are equal only as a whole. */
  | { readonly kind: 'distinct'; readonly offset: number; readonly limit: number | null }
  /**
   * Grouping by, or counting different, objects with nested archetypes: the pipeline finds the EHRs (each row is a
   * list of their ids), the evaluator does the rest.
   */
  | { readonly kind: 'evaluate' };

/** A query as steps over documents: what passes rewrite and `aql/mongo/pipeline/emit.ts` turns into a pipeline. */
export interface LogicalPlan {
  readonly collection: 'aql' | 'ehrs';
  readonly steps: readonly Step[];
  /** The fields of the documents that the pipeline ends with. */
  readonly row: RowShape;
  readonly columns: readonly PlanColumn[];
  /** The part of the rows that is asked for; all of them where the server pages. */
  readonly page: Pick<Page, 'top' | 'offset' | 'limit'>;
  /** ORDER BY; null without one, and for groups. */
  readonly order: RowOrder | null;
  readonly probe: ProbePlan | null;
  /** The one row of aggregates without grouping when nothing is found. */
  readonly emptyRow: readonly JsonValue[] | null;
  readonly inProcess: InProcess | null;
  /** Whether FROM has one EHR class only: each row is of one EHR. */
  readonly isByEhr: boolean;
}

/**
 * The same query over the first documents of the leaf index: its rows show how low the sort value of a row can be
 * at all. That bound goes into the first leaf condition of the plan's first documents.
 */
export interface ProbePlan {
  readonly steps: readonly Step[];
  /** As the plan's, with the sort value `top` and the number `docs` of documents. */
  readonly row: RowShape;
  /** Most documents that it reads: with fewer its rows are all. */
  readonly documents: number;
  /** Rows that it must find, with those that the page leaves out. */
  readonly rows: number;
  readonly offset: number;
}

/** What policies permit of documents. */
export interface Guard {
  /** What is asked of the documents as they are stored. */
  readonly matches: readonly Stage[];
  /** What is joined to them, each as a field of its own. */
  readonly joins: readonly LookupStep[];
  /** What is asked of them with that. */
  readonly joined: readonly Stage[];
}

/** What policies permit, as matches of documents. */
export interface PlanGuards {
  readonly asOf: Date | null;
  /** Of query index documents. */
  readonly version: Guard;
  /** Of documents of EHRs. */
  readonly ehr: Guard;
  /** The same of query index documents; null: they do not have what is asked for. */
  readonly ehrOfDocument: Guard | null;
}

/** What passes know beside the plan. */
export interface PassContext {
  /** What WHERE says about the first document of an EHR of FROM and an index serves, by the alias of the EHR. */
  readonly indexConditions: ReadonlyMap<number, readonly IndexCondition[]>;
  /** Key of the leaf that ORDER BY starts with, if WHERE compares it. */
  readonly sortedLeaf: string | null;
  /** Whether all documents are of the present derivation: all have `sv`, and `start` orders COMPOSITIONs as AQL does. */
  readonly isCurrent: boolean;
  /** Those beside which the plan runs. */
  readonly merges: MovingMerges;
  /** null: whoever may query sees everything. */
  readonly guards: PlanGuards | null;
}
