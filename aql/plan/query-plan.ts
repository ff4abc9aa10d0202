import type { Stage } from '../index/stage.js';
import type { LogicalPlan } from './logical-plan.js';

/** A compiled query: plain data that says what to run and how to read the rows. */
export interface QueryPlan extends Pick<LogicalPlan, 'collection' | 'columns' | 'emptyRow' | 'inProcess'> {
  /**
   * Gives documents `{row: [cell, …], segs: [[segment, …], …]}`; with `notesEhrs` also `ehrs: [id, …]`, null where
   * an EHR class of FROM has none, or where the row stands for several.
   */
  readonly pipeline: readonly Stage[];
  /** Runs first where it may spare reading most documents; null where it cannot. */
  readonly probe: Probe | null;
  /**
   * Field of the first documents by which rows can be found a few EHRs at a time: in any order, each of them by what
   * one EHR holds. Null where they cannot.
   */
  readonly ehrField: string | null;
  /** Names of the passes that changed the plan. */
  readonly applied: readonly string[];
  /** Whether WHERE picks documents by their leaves. */
  readonly readsLeaves: boolean;
}

/** See `ProbePlan`. */
export interface Probe {
  /** As the plan's, over the first documents: rows with their sort value `top` and the number `docs` of documents. */
  readonly pipeline: readonly Stage[];
  /** Most documents that it reads: with fewer its rows are all. */
  readonly documents: number;
  /** Rows that it must find, with those that the page leaves out. */
  readonly rows: number;
  readonly offset: number;
  /** Where in the plan's pipeline the lower bound stands that the probe finds: members from the outermost in. */
  readonly boundAt: readonly (string | number)[];
}
