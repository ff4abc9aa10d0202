import { checkScope } from '../../../../aql/semantics/check.js';
import { pageOf } from '../../../../aql/semantics/page.js';
import type { ReferenceData } from '../../../../aql/evaluate/data.js';
import { evaluateQuery, type ReferenceResult } from '../../../../aql/evaluate/evaluate.js';
import { resolveScope } from '../../../../aql/semantics/scope/scope.js';
import type { PathAlias } from '../../../../openehr/template/upgrade/path-alias.js';
import { CdrError, type ErrorCode } from '../../../../openehr/base/errors.js';
import { differenceOf } from '../compare.js';
import { boundQuery } from '../bound-query.js';
import { pipelineRows } from '../pipeline.js';
import { loadReferenceData } from '../load-reference.js';
import { Random } from '../../random.js';
import { randomData } from './random-data.js';
import { aliasQuery } from './alias-query.js';
import { randomQuery, type RandomQuery } from './random-query.js';

const SYSTEM_ID = 'local.cdr';
const NOW = new Date(Date.UTC(2021, 5, 1));
const NO_PAGE = { fetch: null, offset: null };
const NO_LIMITS = { defaultFetch: null, maxFetch: null };
const QUERIES_PER_DATA = 50;
const TOO_MUCH: ReadonlySet<ErrorCode> = new Set(['timeout', 'query-too-large']);

/** What a run found. */
export interface DifferentialReport {
  readonly compared: number;
  readonly refused: number;
  /** Products of everything with everything that the database may refuse. */
  readonly tooLarge: number;
  /** Pairs with at least one row. */
  readonly withRows: number;
  /** Pairs with at least one row, in which something was seen as one with what a template moved. */
  readonly seen: number;
  readonly faults: readonly string[];
}

/** Compares `pairs` random queries on random data: pipeline against reference evaluator. `aliasesFor`: aliases of each data. */
export async function differentialRun(
  pairs: number,
  seed: number,
  {
    maxFaults = 10,
    aliasesFor = () => [],
  }: {
    readonly maxFaults?: number;
    readonly aliasesFor?: (random: Random) => readonly PathAlias[];
  } = {},
): Promise<DifferentialReport> {
  const faults: string[] = [];
  const count = { compared: 0, refused: 0, tooLarge: 0, withRows: 0, seen: 0 };
  for (let round = 0; count.compared < pairs && faults.length < maxFaults; round++) {
    const dataSeed = seed + round * 1_000_003;
    const data = randomData(new Random(dataSeed));
    await loadReferenceData(data, 'all');
    const random = new Random(dataSeed + 7);
    const aliases = aliasesFor(new Random(dataSeed + 11));
    for (let i = 0; i < QUERIES_PER_DATA && count.compared < pairs && faults.length < maxFaults; i++) {
      const query = drawnQuery(random, aliases);
      const outcome = await compareOne(data, query, aliases);
      if (outcome === 'refused') {
        count.refused++;
        i--;
        continue;
      }
      const fault = faultIn(outcome, count);
      if (fault !== null) faults.push(`seed ${dataSeed}: ${fault}\n  ${describeQuery(query)}`);
    }
  }
  return { ...count, faults };
}

function drawnQuery(random: Random, aliases: readonly PathAlias[]): RandomQuery {
  const isOfAlias = aliases.length > 0 && random.chance(0.8);
  return isOfAlias ? aliasQuery(random, aliases) : randomQuery(random);
}

type Counts = { -readonly [Name in 'compared' | 'tooLarge' | 'withRows' | 'seen']: number };

/** Counts an outcome; gives what is wrong in it. */
function faultIn(
  outcome: Exclude<Awaited<ReturnType<typeof compareOne>>, 'refused'>,
  count: Counts,
): string | null {
  if (outcome === 'too large') {
    count.tooLarge++;
    return null;
  }
  count.compared++;
  if (outcome.rows > 0) count.withRows++;
  if (outcome.rows > 0 && outcome.seen) count.seen++;
  return outcome.fault;
}

function describeQuery({ aql, ehrId, asOf, subsumption }: RandomQuery): string {
  return `${aql}  [ehr_id ${ehrId ?? '-'}, as_of ${asOf?.toISOString() ?? '-'}, subsumption ${subsumption}]`;
}

function referenceOf(evaluate: () => ReferenceResult): ReferenceResult | null {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof CdrError) return null;
    throw error;
  }
}

async function refuses(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return false;
  } catch (error) {
    if (error instanceof CdrError) return true;
    throw error;
  }
}

type Outcome =
  'refused' | 'too large' | { readonly rows: number; readonly seen: boolean; readonly fault: string | null };

async function compareOne(
  data: ReferenceData,
  query: RandomQuery,
  aliases: readonly PathAlias[],
): Promise<Outcome> {
  const { asOf, subsumption, ehrId } = query;
  let prepared;
  try {
    const bound = boundQuery(query.aql);
    const scope = resolveScope(bound, { ehrId, aliases });
    checkScope(scope, { systemId: SYSTEM_ID });
    prepared = { scope, page: pageOf(bound, NO_PAGE, NO_LIMITS) };
  } catch (error) {
    if (error instanceof CdrError) return 'refused';
    throw error;
  }
  const { scope, page } = prepared;
  const options = { systemId: SYSTEM_ID, asOf, subsumption, aliases };
  const seen = scope.seesAliases === true;
  const reference = referenceOf(() => evaluateQuery(scope, data, { ...options, now: NOW, ehrId }));
  if (reference === null) {
    // Groups that no page shows are never looked at by the pipeline's reader.
    const isCut = page.limit !== null || page.offset > 0 || page.top !== null;
    const isRefused = await refuses(() => pipelineRows(scope, page, { ...options, now: NOW }));
    return isRefused || isCut ? 'refused' : { rows: 0, seen, fault: 'refused by the evaluator alone' };
  }
  try {
    const rows = await pipelineRows(scope, page, { ...options, now: NOW });
    return { rows: reference.ordered.length, seen, fault: differenceOf(reference, page, rows) };
  } catch (error) {
    if (error instanceof CdrError && TOO_MUCH.has(error.code)) return 'too large';
    return { rows: reference.ordered.length, seen, fault: String(error) };
  }
}
