import mongoose from 'mongoose';
import { checkScope } from '../aql/semantics/check.js';
import { bindParameters } from '../aql/semantics/bind/bind.js';
import { pageOf, type Page } from '../aql/semantics/page.js';
import { queryParameters } from '../aql/semantics/bind/parameters.js';
import { resolveTerminology } from '../aql/semantics/terminology.js';
import { parseAql } from '../aql/syntax/parse.js';
import { resolveScope } from '../aql/semantics/scope/scope.js';
import type { Scope } from '../aql/semantics/scope-types.js';
import type { QueryPlan } from '../aql/plan/query-plan.js';
import { needsShapes, shapeCatalogue, type ShapeCatalogue } from '../aql/index/shapes.js';
import { translate } from '../aql/mongo/translate.js';
import { connectMongoose } from '../database/connect.js';
import { createCollections } from '../database/indexes.js';
import { startLocalDatabase } from '../database/local-database.js';
import { deriveAqlDocument } from '../aql/index/derive.js';
import { explainPipeline, runPipelineRows, shapeIds } from '../models/cross-collection/run-pipeline.js';
import { COLLECTION_LAYOUT } from '../models/access/layout.js';
import { ARCHETYPES } from '../test/support/hilltop/compositions.js';
import { loadReferenceData } from '../test/support/aql/load-reference.js';
import { benchLeafIndex } from './leaf-index.js';
import { machine, measure, milliseconds } from './measure.js';
import { BENCH_SYSTEM_ID, laboratoryReport, seeded, vitalSigns, type VitalSignsPlan } from './vital-signs.js';

const BP = ARCHETYPES.bloodPressure;
const O = `OBSERVATION o[${BP}]`;
const reading = (code: string): string =>
  `o/data[at0001]/events[at0006]/data[at0003]/items[${code}]/value/magnitude`;
const SYS = reading('at0004');
const DIA = reading('at0005');
const ONE_EHR = 'e0000000-0000-4000-8000-000000000005';

/** A kind of query. */
export interface Shape {
  readonly name: string;
  readonly aql: string;
  /** The best pipeline that we know how to write by hand. */
  readonly byHand: readonly object[];
  readonly aimMs: number;
}

const picked = (list: string, code: string): object => ({
  $filter: {
    input: { $ifNull: [list, []] },
    as: 'x',
    cond: { $eq: ['$$x.archetype_node_id', code] },
  },
});

/** All blood pressure readings of the documents that fit. */
const readings = (match: object): object[] => [
  { $match: { type: 'COMPOSITION', latest: true, q: true, keys: BP, ...match } },
  { $unwind: '$segs' },
  { $match: { 'segs.k': BP } },
  { $unwind: '$segs.o.data.events' },
  {
    $match: {
      'segs.o.data.archetype_node_id': 'at0001',
      'segs.o.data.events.archetype_node_id': 'at0006',
      'segs.o.data.events.data.archetype_node_id': 'at0003',
    },
  },
  {
    $project: {
      ehr: 1,
      start: 1,
      n: '$segs.s',
      s: picked('$segs.o.data.events.data.items', 'at0004'),
      d: picked('$segs.o.data.events.data.items', 'at0005'),
    },
  },
  { $unwind: { path: '$s', preserveNullAndEmptyArrays: true } },
  { $unwind: { path: '$d', preserveNullAndEmptyArrays: true } },
  { $project: { ehr: 1, start: 1, n: 1, sys: '$s.value.magnitude', dia: '$d.value.magnitude' } },
];

const above = (least: number): object => ({
  lv: {
    $elemMatch: {
      k: `${BP}|/data[at0001]/events[at0006]/data[at0003]/items[at0004]|m`,
      v: { $gt: least },
    },
  },
});

const population = (least: number): string =>
  `SELECT e/ehr_id/value, ${SYS} AS sys, ${DIA} AS dia FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O} WHERE ${SYS} > ${least} ORDER BY sys DESC LIMIT 20`;
const highest = (least: number): object[] => [
  ...readings(above(least)),
  { $match: { sys: { $gt: least } } },
  { $sort: { sys: -1, _id: 1, n: 1 } },
  { $limit: 20 },
];

/** One query of each kind that matters, with the time that it may take. */
export const SHAPES: readonly Shape[] = [
  {
    name: 'one EHR',
    aql: `SELECT c/uid/value, ${SYS}, ${DIA} FROM EHR e[ehr_id/value='${ONE_EHR}'] CONTAINS COMPOSITION c CONTAINS ${O}`,
    byHand: [
      { $match: { ehr: ONE_EHR, type: 'COMPOSITION', latest: true, keys: BP } },
      ...readings({}).slice(1),
    ],
    aimMs: 3,
  },
  { name: 'selective population', aql: population(178), byHand: highest(178), aimMs: 5 },
  { name: '10 % ORDER BY LIMIT', aql: population(142), byHand: highest(142), aimMs: 60 },
  {
    name: 'full aggregate',
    aql: `SELECT COUNT(${SYS}), MAX(${SYS}), AVG(${SYS}) FROM EHR e CONTAINS COMPOSITION c CONTAINS ${O}`,
    byHand: [
      ...readings({}),
      {
        $group: {
          _id: null,
          n: { $sum: { $cond: [{ $gt: ['$sys', null] }, 1, 0] } },
          max: { $max: '$sys' },
          avg: { $avg: '$sys' },
        },
      },
    ],
    aimMs: 300,
  },
  {
    name: 'newest 20 by start time',
    aql: `SELECT c/uid/value FROM COMPOSITION c[${ARCHETYPES.encounter}] ORDER BY c/context/start_time DESC LIMIT 20`,
    byHand: [
      { $match: { latest: true, q: true, type: 'COMPOSITION', keys: ARCHETYPES.encounter } },
      { $sort: { start: -1 } },
      { $limit: 20 },
      { $project: { _id: 1 } },
    ],
    aimMs: 5,
  },
];

/** Measures parse + plan, and each shape beside its hand-written pipeline, on the connected database. */
async function benchAql(print: (line: string) => void): Promise<void> {
  const catalogue = shapeCatalogue(await shapeIds(null));
  await benchPlanning(catalogue, print);
  print('shape                      ours  by hand  ratio   aim  documents  index');
  for (const { name, aql, byHand, aimMs } of SHAPES) {
    const { plan } = planOf(aql, catalogue);
    const limits = { timeoutMs: 60_000 };
    const ours = await measure(name, 15, () => runPipelineRows(plan, limits));
    const hand = await measure(name, 15, () =>
      runPipelineRows({ collection: 'aql', pipeline: byHand }, limits),
    );
    const ratio = ours.medianMs / hand.medianMs;
    const { index, documents } = await usedIndex(plan);
    print(
      `${name.padEnd(24)} ${milliseconds(ours.medianMs).padStart(6)} ${milliseconds(hand.medianMs).padStart(8)} ${ratio.toFixed(2).padStart(6)} ${String(aimMs).padStart(5)} ${documents.padStart(10)}  ${index}`,
    );
  }
}

/** Parse + plan of texts that were never seen before, in a process that starts and in one that has run for a while. */
async function benchPlanning(catalogue: ShapeCatalogue, print: (line: string) => void): Promise<void> {
  const [shape] = SHAPES;
  let count = 0;
  const work = (): unknown => planOf((shape?.aql ?? '').replace(SYS, `${SYS} AS c${count++}`), catalogue);
  const early = await measure('the first', 500, work);
  await measure('warming up', 2000, work);
  const late = await measure('later', 500, work);
  const figures = [late, early].map(({ medianMs }) => milliseconds(medianMs));
  print(`parse and plan          ${figures.join(' ms (aim 0.3), in a process that just started ')} ms`);
}

/** What deriving documents costs: an encounter, and a laboratory report with 100 values, with and without leaves. */
async function benchDerivation(print: (line: string) => void): Promise<void> {
  const { versions } = vitalSigns({ ehrs: 1, compositionsPerEhr: 3, seed: 1 });
  const encounter = versions[2]?.data ?? {};
  const report = laboratoryReport(100, new Date(0), seeded(1));
  for (const [name, data] of [
    ['encounter', encounter],
    ['laboratory report, 100 values', report],
  ] as const)
    for (const leafIndex of ['all', 'numeric', 'none'] as const) {
      const derive = (): ReturnType<typeof deriveAqlDocument> =>
        deriveAqlDocument(
          {
            ...{
              versionUid: 'x',
              ehrId: 'x',
              versionedObjectUid: 'x',
              version: 1,
              type: 'COMPOSITION',
              leafIndex,
            },
            ...{ timeCommitted: new Date(0), contributionUid: 'x', changeType: '249', lifecycleState: '532' },
            isQueryable: true,
          },
          data,
        );
      const { medianMs } = await measure(name, 300, derive);
      const bytes = JSON.stringify(derive().document).length;
      const json = JSON.stringify(data).length;
      print(
        `derive ${name} (${json} bytes), leaves ${leafIndex}: ${milliseconds(medianMs)} ms, document ${(bytes / json).toFixed(2)} times the JSON`,
      );
    }
}

/** Text to plan. */
export function planOf(aql: string, shapes: ShapeCatalogue): { plan: QueryPlan; scope: Scope; page: Page } {
  const query = resolveTerminology(bindParameters(parseAql(aql), queryParameters('json', [])), new Map());
  const scope = resolveScope(query);
  checkScope(scope, { systemId: BENCH_SYSTEM_ID });
  const page = pageOf(query, { fetch: null, offset: null }, { defaultFetch: null, maxFetch: null });
  const plan = translate(scope, page, {
    shapes: needsShapes(scope.from) ? shapes : shapeCatalogue([]),
    leafIndex: 'all',
    isCurrent: true,
    systemId: BENCH_SYSTEM_ID,
    subsumption: false,
    asOf: null,
    clock: { now: new Date(), offsetMinutes: 0 },
  });
  return { plan, scope, page };
}

/** The index that a plan uses, or COLLSCAN, and the documents that it reads, after those of its probe if it has one. */
export async function usedIndex(plan: QueryPlan): Promise<{ index: string; documents: string }> {
  const text = JSON.stringify(await explainPipeline(plan, { timeoutMs: 60_000 }));
  const winning = /"winningPlan".*?"indexName":"([^"]+)"/.exec(text)?.[1] ?? 'none';
  const examined = /"totalDocsExamined":"?(\d+)/.exec(text)?.[1] ?? '?';
  const documents = plan.probe === null ? examined : `probe, ${examined}`;
  return { index: text.includes('COLLSCAN') ? 'COLLSCAN' : winning, documents };
}

/** Runs `work` on a temporary local database with all collections and indexes. */
export async function onTemporaryDatabase(
  print: (line: string) => void,
  work: () => Promise<void>,
): Promise<void> {
  const settings = {
    mongodbUri: '',
    mongodbDatabase: 'bench',
    localDatabase: 'auto',
    mongodBinary: '',
    embeddedCacheSizeGB: null,
    writeWaitMs: 10_000,
  } as const;
  const local = await startLocalDatabase({ ...settings, embeddedDataDir: 'temporary' }, print);
  try {
    await connectMongoose(local.uri, settings.mongodbDatabase);
    await createCollections(COLLECTION_LAYOUT);
    print(machine());
    await work();
    await mongoose.disconnect();
  } finally {
    await local.stop();
  }
}

/** Builds vital signs in a temporary database of its own and measures queries and their derivation there. */
export async function benchQueries(ehrs: number, print: (line: string) => void): Promise<void> {
  await onTemporaryDatabase(print, async () => {
    const plan: VitalSignsPlan = { ehrs, compositionsPerEhr: 20, seed: 1 };
    print(`${plan.ehrs} EHRs, ${plan.ehrs * plan.compositionsPerEhr} compositions`);
    await loadReferenceData(vitalSigns(plan));
    await benchAql(print);
    await benchDerivation(print);
    await benchLeafIndex(print);
  });
}

/** `node --import tsx bench/aql.ts [EHRs]` */
if (process.argv[1]?.endsWith('bench/aql.ts') === true) {
  await benchQueries(Number(process.argv[2] ?? 1000), (line) => void process.stdout.write(`${line}\n`));
}
