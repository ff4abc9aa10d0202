import type { JsonValue } from '../../openehr/base/json.js';
import type { CellKind } from './cell.js';
import type { Stage } from './expression.js';

/** One column of a plan. */
export interface PlanColumn {
  readonly name: string;
  /** As written; null for functions, aggregates and literals (docs/spec/aql.md#columns). */
  readonly path: string | null;
  readonly kind: CellKind;
  /** Kind `object`: which of the row's `segs` belongs to it. */
  readonly segs: number | null;
}

/** A compiled query: plain data that says what to run and how to read the rows. */
export interface QueryPlan {
  readonly collection: 'aql' | 'ehrs';
  /**
   * Gives documents `{row: [cell, …], segs: [[segment, …], …]}`; with `notesEhrs` also `ehrs: [id, …]`, null where
   * an EHR class of FROM has none, or where the row stands for several.
   */
  readonly pipeline: readonly Stage[];
  readonly columns: readonly PlanColumn[];
  /** The one row of aggregates without grouping when nothing is found. */
  readonly emptyRow: readonly JsonValue[] | null;
  /** Runs first where it may spare reading most documents; null where it cannot. */
  readonly probe: Probe | null;
  /** What is left for the server because the objects must be whole first; null = nothing. */
  readonly inProcess: DistinctInProcess | EvaluateInProcess | null;
}

/**
 * ORDER BY … DESC LIMIT over a leaf that WHERE compares: the leaf index gives the highest values first, so a few
 * documents tell how low the sort value of a row can be at all. The bound goes into the leaf condition of the
 * pipeline's first match.
 */
export interface Probe {
  /** As the plan's, over the first documents: rows with their sort value `top` and the number `docs` of documents. */
  readonly pipeline: readonly Stage[];
  /** Most documents that it reads: with fewer its rows are all. */
  readonly documents: number;
  /** Rows that it must find, with those that the page leaves out. */
  readonly rows: number;
  readonly offset: number;
}

/** DISTINCT over objects with nested archetypes: they are equal only as a whole. */
interface DistinctInProcess {
  readonly kind: 'distinct';
  readonly offset: number;
  readonly limit: number | null;
}

/**
 * Grouping by, or counting different, objects with nested archetypes: the pipeline finds the EHRs (each row is a
 * list of their ids), the reference evaluator does the rest.
 */
interface EvaluateInProcess {
  readonly kind: 'evaluate';
}
