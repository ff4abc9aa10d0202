import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import type { JsonObject, JsonValue } from '../openehr/base/json.js';
import { COLLECTIONS } from '../models/access/layout.js';
import { readRm } from '../openehr/rm/read.js';
import { validateRm } from '../openehr/rm/invariants/validate.js';
import { demoClient, type DemoClient, patientCompositions, type LoadPlan } from '../cli/demo/load.js';
import { textTable } from '../cli/output.js';
import { compileTemplate } from '../openehr/template/compile.js';
import { templateText } from '../cli/demo/patient.js';
import { validateAgainstTemplate } from '../openehr/template/validate.js';
import { measure, milliseconds, type Timing } from './measure.js';

/** What the measurements run against. */
export interface MainJob {
  readonly url: string;
  readonly ehrIds: readonly string[];
  readonly plan: LoadPlan;
}

const BLOOD_PRESSURE = 'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1';
const READING = 'o/data[at0001]/events[at0002]/data[at0003]';
const SYSTOLIC = `${READING}/items[at0004]/value/magnitude`;
const LEAF = `${BLOOD_PRESSURE}|/data[at0001]/events[at0002]/data[at0003]/items[at0004]|m`;

/** Commit, read and query over HTTP beside the same work with the bare driver; prints a table of ratios. */
export async function benchMainJob(job: MainJob, print: (line: string) => void): Promise<void> {
  const client = demoClient(job.url);
  const rows = [
    await commitRow(client, job),
    await readRow(job),
    await queryRow(client, 'population, selective (systolic > 185)', populationQuery(185, 20), () =>
      population(185, 20),
    ),
    await queryRow(client, 'population, unselective (systolic > 140)', populationQuery(140, 20), () =>
      population(140, 20),
    ),
    await queryRow(client, 'one EHR, all readings', singleQuery(job.ehrIds[0] ?? ''), () =>
      single(job.ehrIds[0] ?? ''),
    ),
  ];
  const columns = ['work', 'ours median', 'ours p95', 'validation', 'bare median', 'bare p95', 'ratio'];
  print(textTable(columns, rows));
}

type Row = readonly string[];

function row(ours: Timing, bare: Timing, validationMs = 0): Row {
  return [
    ours.name,
    milliseconds(ours.medianMs),
    milliseconds(ours.p95Ms),
    validationMs === 0 ? '' : milliseconds(validationMs),
    milliseconds(bare.medianMs),
    milliseconds(bare.p95Ms),
    ((ours.medianMs - validationMs) / bare.medianMs).toFixed(2),
  ];
}

/** A commit over HTTP, its validation apart, beside one transaction that inserts the same documents. */
async function commitRow(client: DemoClient, { ehrIds, plan }: MainJob): Promise<Row> {
  const ehrId = ehrIds[0] ?? '';
  const composition = bloodPressure(plan);
  const versionUid = await client.commitComposition(ehrId, composition);
  const template = compileTemplate(templateText('ehrbase_blood_pressure_simple.de.v0'));
  const validation = await measure('validation', 400, () => {
    const { object } = readRm(composition, 'COMPOSITION');
    if (object === null) throw new Error('the benchmark composition is not readable');
    validateRm(object);
    validateAgainstTemplate(object, template, { checkExtraNodes: true, checkContainerCardinality: false });
  });
  const documents = await documentsOf(versionUid);
  const bare = await measure('bare transaction', 300, () => insertAll(documents));
  await removeBare();
  const ours = await measure('commit a composition', 300, () => client.commitComposition(ehrId, composition));
  return row(ours, bare, validation.medianMs);
}

type Documents = readonly { readonly collection: string; readonly document: JsonObject }[];

/** The documents that one commit wrote: CONTRIBUTION, VERSION, container, AQL document. */
async function documentsOf(versionUid: string): Promise<Documents> {
  const version = await one(COLLECTIONS.versions, versionUid);
  return [
    {
      collection: COLLECTIONS.contributions,
      document: await one(COLLECTIONS.contributions, textOf(version.contribution_uid)),
    },
    { collection: COLLECTIONS.versions, document: version },
    {
      collection: COLLECTIONS.versionedObjects,
      document: await one(COLLECTIONS.versionedObjects, textOf(version.object_id)),
    },
    { collection: COLLECTIONS.aql, document: await one(COLLECTIONS.aql, versionUid) },
  ];
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw new TypeError('a text was expected in a stored document');
  return value;
}

async function one(collection: string, id: string): Promise<JsonObject> {
  const document = await mongoose.connection.collection(collection).findOne({ _id: id as never });
  if (document === null) throw new Error(`nothing in ${collection} for the benchmark commit`);
  return document;
}

/** Marks what the bare transaction wrote, so that it can go again: no EHR has this id. */
const BARE = 'bench.bare';
const BARE_OWNER: Readonly<Record<string, JsonObject>> = {
  [COLLECTIONS.contributions]: { ehr_id: BARE },
  [COLLECTIONS.versions]: { ehr_id: BARE },
  [COLLECTIONS.versionedObjects]: { ehr_id: BARE },
  [COLLECTIONS.aql]: { ehr: BARE },
};

async function removeBare(): Promise<void> {
  for (const [collection, filter] of Object.entries(BARE_OWNER)) {
    await mongoose.connection.collection(collection).deleteMany(filter);
  }
}

/** Into the collections of the product: an insert that has no index to maintain would be no comparison. */
async function insertAll(documents: Documents): Promise<void> {
  const session = await mongoose.connection.startSession();
  try {
    await session.withTransaction(
      async () => {
        for (const { collection, document } of documents) {
          const fresh = { ...document, ...BARE_OWNER[collection], _id: randomUUID() };
          await mongoose.connection.collection(collection).insertOne(fresh as never, { session });
        }
      },
      {
        writeConcern: new mongoose.mongo.WriteConcern('majority', undefined, true),
        readConcern: { level: 'snapshot' },
      },
    );
  } finally {
    await session.endSession();
  }
}

async function readRow({ url, ehrIds, plan }: MainJob): Promise<Row> {
  const client = demoClient(url);
  const ehrId = ehrIds[1] ?? '';
  const versionUid = await client.commitComposition(ehrId, bloodPressure(plan));
  const versions = mongoose.connection.collection(COLLECTIONS.versions);
  const ours = await measure('GET a composition', 1000, () => client.composition(ehrId, versionUid));
  const bare = await measure('findOne', 1000, () => versions.findOne({ _id: versionUid as never }));
  return row(ours, bare);
}

async function queryRow(
  client: DemoClient,
  name: string,
  aql: string,
  pipeline: () => Promise<unknown[]>,
): Promise<Row> {
  const { rows } = await client.query(aql, {});
  const found = await pipeline();
  if (rows.length !== found.length) throw new Error(`${name}: ${rows.length} rows, by hand ${found.length}`);
  const ours = await measure(name, 25, () => client.query(aql, {}));
  const bare = await measure('pipeline', 25, pipeline);
  return row(ours, bare);
}

function populationQuery(above: number, limit: number): string {
  return `SELECT e/ehr_id/value AS ehr, ${SYSTOLIC} AS systolic
FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${BLOOD_PRESSURE}]
WHERE ${SYSTOLIC} > ${above} ORDER BY systolic DESC LIMIT ${limit}`;
}

function singleQuery(ehrId: string): string {
  return `SELECT c/uid/value AS uid, ${SYSTOLIC} AS systolic
FROM EHR e[ehr_id/value='${ehrId}'] CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${BLOOD_PRESSURE}]`;
}

function byCode(input: string, code: string): object {
  return {
    $filter: { input: { $ifNull: [input, []] }, as: 'x', cond: { $eq: ['$$x.archetype_node_id', code] } },
  };
}

const readingStages = [
  { $unwind: '$segs' },
  { $match: { 'segs.k': BLOOD_PRESSURE } },
  { $unwind: '$segs.o.data.events' },
  { $match: { 'segs.o.data.archetype_node_id': 'at0001', 'segs.o.data.events.archetype_node_id': 'at0002' } },
  { $project: { ehr: 1, n: '$segs.s', s: byCode('$segs.o.data.events.data.items', 'at0004') } },
  { $unwind: { path: '$s', preserveNullAndEmptyArrays: true } },
  { $project: { ehr: 1, n: 1, systolic: '$s.value.magnitude' } },
];

function population(above: number, limit: number): Promise<unknown[]> {
  const pipeline = [
    {
      $match: {
        type: 'COMPOSITION',
        latest: true,
        q: true,
        keys: BLOOD_PRESSURE,
        lv: { $elemMatch: { k: LEAF, v: { $gt: above } } },
      },
    },
    ...readingStages,
    { $match: { systolic: { $gt: above } } },
    { $sort: { systolic: -1, _id: 1, n: 1 } },
    { $limit: limit },
  ];
  return mongoose.connection.collection(COLLECTIONS.aql).aggregate(pipeline).toArray();
}

function single(ehrId: string): Promise<unknown[]> {
  const match = { $match: { ehr: ehrId, type: 'COMPOSITION', latest: true, keys: BLOOD_PRESSURE } };
  return mongoose.connection
    .collection(COLLECTIONS.aql)
    .aggregate([match, ...readingStages])
    .toArray();
}

function bloodPressure(plan: LoadPlan): JsonObject {
  const [composition] = patientCompositions(plan, 0);
  if (composition === undefined) throw new Error('the plan has no compositions');
  return composition;
}
