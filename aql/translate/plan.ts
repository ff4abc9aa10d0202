import type { JsonValue } from '../../base/json.js';
import type { CellKind } from './cell.js';
import type { Stage } from './expression.js';

/** One column of a plan. */
export interface PlanColumn {
  readonly name: string;
  /** As written; null for functions, aggregates and literals (R23). */
  readonly path: string | null;
  readonly kind: CellKind;
  /** Kind `object`: which of the row's `segs` belongs to it. */
  readonly segs: number | null;
}

/** A compiled query: plain data that says what to run and how to read the rows. */
export interface QueryPlan {
  readonly collection: 'aql' | 'ehrs';
  /** Gives documents `{row: [cell, …], segs: [[segment, …], …]}`. */
  readonly pipeline: readonly Stage[];
  readonly columns: readonly PlanColumn[];
  /** The one row of aggregates without grouping when nothing is found. */
  readonly emptyRow: readonly JsonValue[] | null;
  /** What is left for the server because the objects must be whole first; null = nothing. */
  readonly inProcess: DistinctInProcess | EvaluateInProcess | null;
}

/** DISTINCT over objects with nested archetypes: they are equal only as a whole. */
export interface DistinctInProcess {
  readonly kind: 'distinct';
  readonly offset: number;
  readonly limit: number | null;
}

/**
 * Grouping by, or counting different, objects with nested archetypes: the pipeline finds the EHRs (each row is a
 * list of their ids), the reference evaluator does the rest.
 */
export interface EvaluateInProcess {
  readonly kind: 'evaluate';
}
