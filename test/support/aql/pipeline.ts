import { Work } from '../../../openehr/base/work.js';
import type { Permitted } from '../../../policy/condition.js';
import { testSettings } from '../settings.js';
import type { JsonValue } from '../../../openehr/base/json.js';
import type { PathAlias } from '../../../openehr/template/upgrade/path-alias.js';
import type { Page } from '../../../aql/semantics/page.js';
import { distinctRows, rowText } from '../../../aql/result/result-set.js';
import type { Scope } from '../../../aql/semantics/scope-types.js';
import { NO_MERGES, type MovingMerges } from '../../../aql/index/moved-owners.js';
import { needsShapes, shapeCatalogue } from '../../../aql/index/shapes.js';
import type { QueryPlan } from '../../../aql/plan/query-plan.js';
import { translate } from '../../../aql/mongo/translate.js';
import { evaluateCandidates, evaluatedPlan } from '../../../query/evaluate.js';
import { eachRow, runPipeline, shapeIds } from '../../../models/cross-collection/run-pipeline.js';
import type { LeafIndex } from '../../../aql/index/document.js';

/** What of the request and server changes a translation in tests. */
export interface PipelineOptions {
  readonly systemId: string;
  readonly asOf?: Date | null;
  readonly subsumption?: boolean;
  readonly leafIndex?: LeafIndex;
  readonly isCurrent?: boolean;
  /** Whether documents say who committed; else VERSIONs are joined for him. */
  readonly hasCommitters?: boolean;
  readonly now?: Date;
  readonly notesEhrs?: boolean;
  /** Merges in steps beside which the plan is to run. */
  readonly merges?: MovingMerges;
  /** What policies permit; absent: everything. */
  readonly permitted?: Permitted;
  /** The same as the evaluator is told it, who knows nothing of tags and marks. */
  readonly judged?: Permitted;
  /** Those that the scope was resolved with. */
  readonly aliases?: readonly PathAlias[];
}

/** Translates a resolved query with the shapes of the connected database. */
export async function planOf(scope: Scope, page: Page, options: PipelineOptions): Promise<QueryPlan> {
  return translate(scope, page, {
    shapes: shapeCatalogue(needsShapes(scope.from) ? await shapeIds(null) : []),
    leafIndex: options.leafIndex ?? 'all',
    isCurrent: options.isCurrent ?? true,
    hasCommitters: options.hasCommitters ?? true,
    systemId: options.systemId,
    subsumption: options.subsumption ?? false,
    asOf: options.asOf ?? null,
    notesEhrs: options.notesEhrs ?? false,
    clock: { now: options.now ?? new Date(), offsetMinutes: 0 },
    merges: options.merges ?? NO_MERGES,
    ...(options.permitted !== undefined && { permitted: options.permitted }),
  });
}

const LIMITS = { timeoutMs: 10_000 };

async function evaluatedRows(
  plan: QueryPlan,
  scope: Scope,
  page: Page,
  options: PipelineOptions,
): Promise<JsonValue[][]> {
  const { systemId, subsumption = false, asOf = null, now = new Date(), aliases = [] } = options;
  const clock = { now, offsetMinutes: 0 };
  const permitted = options.judged ?? options.permitted;
  const seen = permitted !== undefined && { permitted };
  const rules = { systemId, subsumption, asOf, clock, ehrId: null, limits: LIMITS, ...seen };
  const work = new Work({ ...testSettings().work, timeMs: 60_000 }, () => performance.now());
  const read = runPipeline(evaluatedPlan(plan, work), LIMITS);
  const asked = { query: scope.query, aliases, page };
  const texts = await evaluateCandidates(read, { ...asked, ...rules, work, user: '' });
  return texts.flat().map((text) => JSON.parse(text) as JsonValue[]);
}

/** The rows of a query from the pipeline, rendered as the query route does. */
export async function pipelineRows(
  scope: Scope,
  page: Page,
  options: PipelineOptions,
): Promise<JsonValue[][]> {
  const plan = await planOf(scope, page, options);
  const rows: JsonValue[][] = [];
  if (plan.inProcess?.kind === 'evaluate') return evaluatedRows(plan, scope, page, options);
  const found = eachRow(runPipeline(plan, LIMITS));
  if (plan.inProcess === null)
    for await (const row of found) rows.push(JSON.parse(rowText(row, plan.columns)) as JsonValue[]);
  else
    for await (const text of distinctRows(found, plan.columns, { ...plan.inProcess, work: null }))
      rows.push(JSON.parse(text) as JsonValue[]);
  if (rows.length === 0 && plan.emptyRow !== null && page.offset === 0) rows.push([...plan.emptyRow]);
  return rows;
}
