import { randomUUID } from 'node:crypto';
import { request, Agent } from 'node:http';
import mongoose from 'mongoose';
import type { JsonObject } from '../openehr/base/json.js';
import { COLLECTIONS } from '../models/access/layout.js';
import { demoClient, inParallel } from '../cli/demo/load.js';
import { templateText, compositionsOfPatient, seededRandom } from '../cli/demo/patient.js';
import { textTable } from '../cli/output.js';
import { measure, milliseconds } from './measure.js';
import { timeOneClient } from './one-client.js';
import { toolFile } from '../scripts/tools.js';

const TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';
const SECONDS = 5;
const COMPOSITIONS = 500;
const READS = 2_000;
const COMMITS = 400;
const FEW = 10;
const MANY = 10_000;

type Print = (line: string) => void;

/** What is asked of the load generator, one of `tools/`, and what is read of its result. */
type Autocannon = (load: {
  readonly url: string;
  readonly connections: number;
  readonly workers: number;
  readonly duration: number;
  readonly requests: readonly { readonly path: string }[];
}) => Promise<{
  readonly latency: { readonly p50: number; readonly p97_5: number };
  readonly requests: { readonly average: number };
  readonly non2xx: number;
  readonly errors: number;
}>;

/** GET and create with 1 and 16 clients beside the bare driver; whether any step grows with what is there. */
export async function benchResources(url: string, print: Print): Promise<void> {
  const client = demoClient(url);
  await client.uploadTemplate(templateText(TEMPLATE)).catch(() => undefined);
  const ehrId = await client.createEhr();
  const versionUids: string[] = [];
  for (let seed = 1; seed <= COMPOSITIONS; seed += 1) {
    versionUids.push(await client.commitComposition(ehrId, bloodPressure(seed)));
  }
  const [versionUid = ''] = versionUids;
  await benchReads(
    url,
    versionUids.map((uid) => `/rest/openehr/v1/ehr/${ehrId}/composition/${uid}`),
    print,
  );
  await benchCreates(url, versionUid, print);
  await benchGrowth(url, print);
}

function bloodPressure(seed = 1): JsonObject {
  const [composition] = compositionsOfPatient(seededRandom(seed), 1);
  if (composition === undefined) throw new Error('no composition was made up');
  return composition;
}

/** One client is timed call by call; many by a load generator, to the millisecond. Each has a thread of its own. */
async function benchReads(url: string, paths: readonly string[], print: Print): Promise<void> {
  const bare = await measure('findOne', READS, (run) => stored(COLLECTIONS.versions, uidOf(paths, run)));
  const one = await timeOneClient(url, paths, READS);
  const rows = [
    ['1', milliseconds(one.medianMs), milliseconds(one.p95Ms), (1000 / one.medianMs).toFixed(0), '0'],
  ];
  const { default: autocannon } = (await import(toolFile('autocannon'))) as { default: Autocannon };
  const load = { url, connections: 16, workers: 1, duration: SECONDS };
  for (let round = 0; round < 2; round += 1) {
    const result = await autocannon({ ...load, requests: paths.map((path) => ({ path })) });
    rows.push([
      '16',
      String(result.latency.p50),
      String(result.latency.p97_5),
      result.requests.average.toFixed(0),
      String(result.non2xx + result.errors),
    ]);
  }
  print(
    `GET one of ${paths.length} compositions; findOne of the bare driver: ${milliseconds(bare.medianMs)}\n`,
  );
  print(textTable(['clients', 'p50 ms', 'p95 ms', 'requests/s', 'failed'], rows));
}

function uidOf(paths: readonly string[], run: number): string {
  return paths[run % paths.length]?.split('/').at(-1) ?? '';
}

async function benchCreates(url: string, versionUid: string, print: Print): Promise<void> {
  const documents = await documentsOf(versionUid);
  const rows: string[][] = [];
  for (const clients of [1, 16]) {
    const ours = await rate(clients, await creator(url, clients));
    const bare = await rate(clients, () => bareTransaction(documents));
    rows.push([String(clients), ours.toFixed(0), bare.toFixed(0), `${((ours / bare) * 100).toFixed(0)} %`]);
  }
  await mongoose.connection.collection(COLLECTIONS.versions).deleteMany({ ehr_id: BARE });
  for (const name of [COLLECTIONS.contributions, COLLECTIONS.versionedObjects]) {
    await mongoose.connection.collection(name).deleteMany({ ehr_id: BARE });
  }
  await mongoose.connection.collection(COLLECTIONS.aql).deleteMany({ ehr: BARE });
  print('\ncreate a composition, validated, over HTTP\n');
  print(textTable(['clients', 'ours/s', 'bare transactions/s', 'share'], rows));
}

/** Each client has an EHR of its own, as patients do. */
async function creator(url: string, clients: number): Promise<(run: number) => Promise<unknown>> {
  const client = demoClient(url);
  const ehrIds: string[] = [];
  for (let index = 0; index < clients; index += 1) ehrIds.push(await client.createEhr());
  const composition = bloodPressure();
  return (run) => client.commitComposition(ehrIds[run % clients] ?? '', composition);
}

async function rate(parallel: number, work: (run: number) => Promise<unknown>): Promise<number> {
  for (let run = 0; run < 32; run += 1) await work(run);
  const start = performance.now();
  await inParallel(COMMITS, parallel, async (run) => {
    await work(run);
  });
  return (COMMITS / (performance.now() - start)) * 1000;
}

const BARE = 'bench.bare';

type Documents = readonly { readonly collection: string; readonly document: Record<string, unknown> }[];

async function documentsOf(versionUid: string): Promise<Documents> {
  const version = await stored(COLLECTIONS.versions, versionUid);
  const contribution = await stored(COLLECTIONS.contributions, version['contribution_uid'] as string);
  const container = await stored(COLLECTIONS.versionedObjects, version['object_id'] as string);
  return [
    { collection: COLLECTIONS.contributions, document: { ...contribution, ehr_id: BARE } },
    { collection: COLLECTIONS.versions, document: { ...version, ehr_id: BARE } },
    { collection: COLLECTIONS.versionedObjects, document: { ...container, ehr_id: BARE } },
    {
      collection: COLLECTIONS.aql,
      document: { ...(await stored(COLLECTIONS.aql, versionUid)), ehr: BARE },
    },
  ];
}

async function stored(collection: string, id: string): Promise<Record<string, unknown>> {
  const document = await mongoose.connection.collection(collection).findOne({ _id: id as never });
  if (document === null) throw new Error(`nothing in ${collection} under ${id}`);
  return document;
}

async function bareTransaction(documents: Documents): Promise<void> {
  const session = await mongoose.connection.startSession();
  try {
    await session.withTransaction(async () => {
      for (const { collection, document } of documents) {
        const fresh = { ...document, _id: randomUUID() };
        await mongoose.connection.collection(collection).insertOne(fresh as never, { session });
      }
    });
  } finally {
    await session.endSession();
  }
}

/** The same calls where little is stored and where much is. */
async function benchGrowth(url: string, print: Print): Promise<void> {
  const rows: string[][] = [];
  const few = await growthTimes(url, FEW);
  const many = await growthTimes(url, MANY);
  for (const [index, [name, small]] of few.entries()) {
    const [, large = Number.NaN] = many[index] ?? [];
    rows.push([name, milliseconds(small), milliseconds(large), (large / small).toFixed(2)]);
  }
  print('\nsteps where little and where much is stored, median ms\n');
  print(textTable(['step', `${FEW}`, `${MANY}`, 'ratio'], rows));
}

async function growthTimes(url: string, count: number): Promise<[string, number][]> {
  const client = demoClient(url);
  const ehrId = await client.createEhr();
  const versionUid = await client.commitComposition(ehrId, bloodPressure());
  await copyCompositions(versionUid, count);
  const grown = await copyVersions(versionUid, count);
  const path = `${url}/rest/openehr/v1/ehr/${ehrId}/composition`;
  let latest = grown;
  const update = async (): Promise<void> => {
    const headers = { 'If-Match': `"${latest}"`, 'Content-Type': 'application/json' };
    latest = await call(
      'PUT',
      `${path}/${versionedObjectUid(latest)}`,
      headers,
      JSON.stringify(bloodPressure()),
    );
  };
  const steps: [string, () => Promise<unknown>][] = [
    ['create a composition in the EHR', () => client.commitComposition(ehrId, bloodPressure())],
    ['update the container', update],
    ['GET by version uid', () => call('GET', `${path}/${versionUid}`)],
    ['GET the latest version', () => call('GET', `${path}/${versionedObjectUid(latest)}`)],
    ['GET the EHR', () => call('GET', `${url}/rest/openehr/v1/ehr/${ehrId}`)],
  ];
  const times: [string, number][] = [];
  for (const [name, work] of steps) times.push([name, (await measure(name, 60, work)).medianMs]);
  return times;
}

/** Copies of one composition in the same EHR, written as the product writes them. */
async function copyCompositions(versionUid: string, count: number): Promise<void> {
  const [version, container, derived] = await threeDocuments(versionUid);
  const copies = Array.from({ length: count - 1 }, () => randomUUID());
  const uid = (id: string): string => `${id}::${versionUid.split('::')[1] ?? ''}::1`;
  await insert(
    COLLECTIONS.versions,
    copies.map((id) => ({ ...version, _id: uid(id), object_id: id })),
  );
  await insert(
    COLLECTIONS.versionedObjects,
    copies.map((id) => ({ ...container, _id: id, latest_version_uid: uid(id) })),
  );
  await insert(
    COLLECTIONS.aql,
    copies.map((id) => ({ ...derived, _id: uid(id), vo: id })),
  );
}

/** Further versions of the container; gives the uid of the last one. */
async function copyVersions(versionUid: string, count: number): Promise<string> {
  const [version, container, derived] = await threeDocuments(versionUid);
  const [id = '', system = ''] = versionUid.split('::');
  const first = (version['time_committed'] as Date).getTime() - count * 1000;
  const numbers = Array.from({ length: count - 1 }, (_, index) => index + 2);
  const time = (number: number): Date => new Date(first + number * 1000);
  const uid = (number: number): string => `${id}::${system}::${number}`;
  await insert(
    COLLECTIONS.versions,
    numbers.map((number) => ({
      ...version,
      _id: uid(number),
      version: number,
      time_committed: time(number),
    })),
  );
  await insert(
    COLLECTIONS.aql,
    numbers.map((number) => ({
      ...derived,
      _id: uid(number),
      v: number,
      tc: time(number),
      latest: number === count,
      ...(number < count && { to: time(number + 1) }),
    })),
  );
  const { db } = mongoose.connection;
  await db
    ?.collection<{ _id: string }>(COLLECTIONS.versions)
    .updateOne({ _id: versionUid }, { $set: { time_committed: time(1) } });
  await db
    ?.collection<{ _id: string }>(COLLECTIONS.aql)
    .updateOne({ _id: versionUid }, { $set: { latest: false, tc: time(1), to: time(2) } });
  await db
    ?.collection<{ _id: string }>(COLLECTIONS.versionedObjects)
    .updateOne(
      { _id: String(container['_id']) },
      { $set: { latest_version: count, latest_version_uid: uid(count), latest_time_committed: time(count) } },
    );
  return uid(count);
}

async function threeDocuments(
  versionUid: string,
): Promise<[Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]> {
  const version = await stored(COLLECTIONS.versions, versionUid);
  const container = await stored(COLLECTIONS.versionedObjects, version['object_id'] as string);
  return [version, container, await stored(COLLECTIONS.aql, versionUid)];
}

async function insert(collection: string, documents: readonly object[]): Promise<void> {
  const BATCH = 1_000;
  for (let start = 0; start < documents.length; start += BATCH) {
    await mongoose.connection.collection(collection).insertMany(documents.slice(start, start + BATCH));
  }
}

function versionedObjectUid(versionUid: string): string {
  return versionUid.split('::')[0] ?? '';
}

const agent = new Agent({ keepAlive: true });

/** One HTTP call; gives the version uid of the `ETag`. @throws Error when the answer is not a success */
function call(
  method: string,
  address: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(address, { method, agent, headers }, (incoming) => {
      incoming.resume();
      incoming.on('end', () => {
        const status = incoming.statusCode ?? 0;
        if (status < 200 || status > 299) reject(new Error(`${method} answered ${status}`));
        else resolve((incoming.headers.etag ?? '').replaceAll('"', ''));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
