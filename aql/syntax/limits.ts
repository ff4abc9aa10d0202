/**
 * How large one query may be. Every refusal is 400 and names the limit; docs/limits.md lists the table. What all its
 * expressions are together is a budget of the request: `expressionNodes` (`openehr/base/work.ts`).
 */

/** Longest query text, in bytes of UTF-8. */
export const MAX_QUERY_BYTES = 65_536;

/** What is counted while a query is read. */
export type Counted = 'columns' | 'orderKeys' | 'conditions' | 'classes' | 'operands' | 'steps' | 'literals';

/** Most of each of the counted things in one query. */
export const MAX_COUNTS: Readonly<Record<Counted, number>> = {
  columns: 200,
  orderKeys: 32,
  conditions: 500,
  classes: 50,
  operands: 1_500,
  steps: 2_000,
  literals: 10_000,
};

/** What a message calls the counted things. */
export const COUNTED_NAMES: Readonly<Record<Counted, string>> = {
  columns: 'columns in SELECT',
  orderKeys: 'keys in ORDER BY',
  conditions: 'conditions in WHERE and in predicates',
  classes: 'classes in FROM',
  operands: 'paths and function calls',
  steps: 'steps in all paths',
  literals: 'literals and parameters',
};

/** Deepest nesting of parentheses, predicates, NOT, CONTAINS and function calls. */
export const MAX_NESTING = 50;

/** Most steps of one path: canonical JSON is no deeper. */
export const MAX_PATH_STEPS = 150;

/** Most values in the list of one MATCHES, written as literals or given by parameters. */
export const MAX_LIST_VALUES = 5_000;

/** Most values in all lists of a query: the same parameter may stand in many. */
export const MAX_ALL_LIST_VALUES = 10_000;

/** Most stages of one aggregation pipeline: MongoDB takes 1,000, and some are added to what a query needs. */
export const MAX_PIPELINE_STAGES = 990;

/** Deepest nesting of the objects and arrays of a pipeline: MongoDB takes documents of 200 levels. */
export const MAX_PIPELINE_DEPTH = 180;

/** Most joins inside each other: MongoDB takes 20 pipelines inside pipelines. */
export const MAX_SUB_PIPELINES = 19;

/**
 * Most levels of CONTAINS below classes that may be a FOLDER and something else (LOCATABLE): each level is looked
 * for in the same document and in those that a FOLDER refers to, so every level doubles the pipeline.
 */
export const MAX_OPEN_CONTAINS = 6;

/** One limit as documentation shows it. */
export interface AqlLimit {
  readonly name: string;
  readonly value: number;
  readonly meaning: string;
}

/** All limits of a query. */
export const AQL_LIMITS: readonly AqlLimit[] = [
  { name: 'query text', value: MAX_QUERY_BYTES, meaning: 'bytes of the AQL text in UTF-8' },
  { name: 'columns', value: MAX_COUNTS.columns, meaning: COUNTED_NAMES.columns },
  { name: 'ORDER BY keys', value: MAX_COUNTS.orderKeys, meaning: COUNTED_NAMES.orderKeys },
  {
    name: 'conditions',
    value: MAX_COUNTS.conditions,
    meaning:
      'comparisons, LIKE, MATCHES and EXISTS in WHERE and in predicates, and the alternatives of predicates',
  },
  { name: 'classes', value: MAX_COUNTS.classes, meaning: COUNTED_NAMES.classes },
  {
    name: 'paths',
    value: MAX_COUNTS.operands,
    meaning: 'paths and function calls in all clauses together',
  },
  { name: 'literals', value: MAX_COUNTS.literals, meaning: 'literals and parameters written in the text' },
  {
    name: 'nesting',
    value: MAX_NESTING,
    meaning: 'levels of parentheses, predicates, NOT, CONTAINS and function calls',
  },
  { name: 'path steps', value: MAX_PATH_STEPS, meaning: 'steps of one path' },
  { name: 'all path steps', value: MAX_COUNTS.steps, meaning: 'steps of all paths, those in predicates too' },
  { name: 'list values', value: MAX_LIST_VALUES, meaning: 'values in one MATCHES, also of parameters' },
  { name: 'all list values', value: MAX_ALL_LIST_VALUES, meaning: 'values in all MATCHES of a query' },
  { name: 'pipeline stages', value: MAX_PIPELINE_STAGES, meaning: 'stages that a query is translated to' },
  {
    name: 'pipeline depth',
    value: MAX_PIPELINE_DEPTH,
    meaning: 'levels of objects and arrays that a query is translated to',
  },
  { name: 'joins inside joins', value: MAX_SUB_PIPELINES, meaning: 'joins inside joins that FROM needs' },
  {
    name: 'open CONTAINS',
    value: MAX_OPEN_CONTAINS,
    meaning: 'levels of CONTAINS below classes that may be a FOLDER and something else (LOCATABLE)',
  },
];
