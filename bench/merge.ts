import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import mongoose from 'mongoose';
import { changeContext } from '../change/commit/context.js';
import { verifyStorage } from '../maintenance/verify.js';
import { mergeEhrs } from '../merge/merge.js';
import type { MergeContext, MergeRequest } from '../merge/request.js';
import { unmergeEhrs } from '../merge/unmerge/unmerge.js';
import type { AqlDocument } from '../aql/index/document.js';
import { COLLECTIONS } from '../models/access/layout.js';
import { storedVersion, versionOf, type StoredVersion } from '../models/version-text.js';
import { configFromEnvironment } from '../src/settings/config.js';
import { demoClient, patientCompositions } from '../cli/demo/load.js';
import { templateText } from '../cli/demo/patient.js';
import { createLogger } from '../src/logger.js';
import { startServer } from '../src/process/start.js';
import { machine } from './measure.js';
import { childrenOf, processFigures } from './process-figures.js';

const STEP = 500;
const SAMPLE_MS = 5;
const PAUSE_MS = 20;
/** No EHR has so many versions. */
const NEVER = 1_000_000_000;
/** What one transaction of the embedded engine can merge. */
const MOST_AT_ONCE = 10_000;

/** What one step cost. */
interface Cost {
  readonly name: string;
  readonly ms: number;
  /** Highest resident memory of this process meanwhile, bytes. */
  readonly peakBytes: number;
  /** Longest commit to another EHR, and read of it, meanwhile. */
  readonly commit: Wait;
  readonly read: Wait;
}

/** How long a call took, and when it began, since the work did; ms. */
interface Wait {
  readonly ms: number;
  readonly atMs: number;
}

/** What clients of another EHR do meanwhile. */
interface Beside {
  readonly commit: () => Promise<unknown>;
  readonly read: () => Promise<unknown>;
}

/** Merges an EHR with so many compositions into another one and back; prints times and peak memory. */
export async function benchMerge(count: number, print: (line: string) => void): Promise<void> {
  const settings = configFromEnvironment({
    EMBEDDED_DATA_DIR: process.env['EMBEDDED_DATA_DIR'] ?? 'temporary',
    MONGODB_URI: process.env['MONGODB_URI'] ?? '',
    PORT: '0',
    LOG_LEVEL: 'warn',
  });
  const server = await startServer(settings, createLogger(settings.logLevel));
  try {
    print(`${machine()}\n${server.database.description}`);
    const client = demoClient(server.url);
    await client.uploadTemplate(templateText('ehrbase_blood_pressure_simple.de.v0'));
    const [source, target] = [await client.createEhr(), await client.createEhr()];
    const [composition] = patientCompositions({ ehrs: 1, compositionsPerEhr: 1, seed: 1, parallel: 1 }, 0);
    if (composition === undefined) throw new Error('the plan has no compositions');
    const versionUid = await client.commitComposition(source, composition);
    const bytes = await cloneVersion(versionUid, count - 1);
    print(`${count} compositions of ${Math.round(bytes / 1024)} KiB`);
    const context: MergeContext = {
      change: changeContext(settings),
      retries: settings.mergeRetries,
      stepsFrom: settings.mergeStepsFrom,
    };
    const request: MergeRequest = {
      sourceEhr: source,
      targetEhr: target,
      reversible: true,
      folderMerge: 'COPY',
      compositionMerge: 'PERSISTENT',
      resolutions: { compositions: new Map(), ehrStatus: new Map() },
      dryRun: false,
      committer: 'bench',
      motive: {},
    };
    const other = await client.createEhr();
    const beside: Beside = {
      commit: () => client.commitComposition(other, composition),
      read: () => fetch(`${server.url}/rest/openehr/v1/ehr/${other}`).then((answer) => answer.text()),
    };
    const ways = count > MOST_AT_ONCE ? [context] : [{ ...context, stepsFrom: NEVER }, context];
    for (const way of ways) {
      const name = way.stepsFrom === NEVER ? 'in one transaction' : 'in steps';
      const measured = async (what: string, work: () => Promise<unknown>): Promise<void> =>
        print(lineOf(await cost(`${what} ${name}`, beside, work)));
      await measured('dry run,', () => mergeEhrs(way, { ...request, dryRun: true }));
      await measured('merge', () => mergeEhrs(way, request));
      await measured('unmerge', () => unmergeEhrs(way, { ...request, onConflict: null }));
    }
    if (count <= MOST_AT_ONCE) print(lineOf(await cost('verify', beside, verifyStorage)));
    print(`peak memory of the database ${megabytes(databasePeakBytes())}`);
  } finally {
    await server.close();
  }
}

/** Copies the documents of one commit under new ids; gives the bytes of one composition. */
async function cloneVersion(versionUid: string, count: number): Promise<number> {
  const version = versionOf(await one<StoredVersion>(COLLECTIONS.versions, versionUid));
  const aql = await one<AqlDocument>(COLLECTIONS.aql, versionUid);
  const container = await one(COLLECTIONS.versionedObjects, version.object_id);
  const contribution = await one(COLLECTIONS.contributions, version.contribution_uid);
  for (let start = 0; start < count; start += STEP) {
    const ids = Array.from(
      { length: Math.min(STEP, count - start) },
      () => [randomUUID(), randomUUID()] as const,
    );
    const cloned = <T extends object>(doc: T): T[] =>
      ids.map(([versionedObjectUid, contributionUid]) =>
        renamed(doc, [
          [version.object_id, versionedObjectUid],
          [version.contribution_uid, contributionUid],
        ]),
      );
    await insert(COLLECTIONS.versions, cloned(version).map(storedVersion));
    await insert(COLLECTIONS.aql, cloned(aql));
    await insert(COLLECTIONS.versionedObjects, cloned(container));
    await insert(COLLECTIONS.contributions, cloned(contribution));
  }
  return Buffer.byteLength(version.data ?? '');
}

async function one<T extends object>(collection: string, id: string): Promise<T> {
  const document = await mongoose.connection.collection(collection).findOne({ _id: id as never });
  if (document === null) throw new Error(`nothing in ${collection} for the first commit`);
  return document as unknown as T;
}

async function insert(collection: string, documents: readonly object[]): Promise<void> {
  await mongoose.connection.collection(collection).insertMany(documents);
}

/** The value with texts replaced wherever they stand; dates stay. */
function renamed<T>(value: T, names: readonly (readonly [string, string])[]): T {
  if (typeof value === 'string') {
    return names.reduce<string>((text, [from, to]) => text.replaceAll(from, to), value) as T;
  }
  if (value instanceof Date || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((member: unknown) => renamed(member, names)) as T;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, renamed(member, names)]),
  ) as T;
}

function lineOf({ name, ms, peakBytes, commit, read }: Cost): string {
  const waits = `longest commit ${waitText(commit)} and read ${waitText(read)} of another EHR`;
  return `${name}: ${(ms / 1000).toFixed(2)} s, ${waits}, peak memory of the server ${megabytes(peakBytes)}`;
}

function waitText({ ms, atMs }: Wait): string {
  return `${ms.toFixed(0)} ms (at ${(atMs / 1000).toFixed(1)} s)`;
}

async function cost(name: string, beside: Beside, work: () => Promise<unknown>): Promise<Cost> {
  let peakBytes = process.memoryUsage.rss();
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  }, SAMPLE_MS);
  const running = { on: true };
  const waits = Promise.all([longest(beside.commit, running), longest(beside.read, running)]);
  const start = performance.now();
  try {
    await work();
  } finally {
    clearInterval(timer);
    running.on = false;
  }
  const ms = performance.now() - start;
  const [commit, read] = await waits;
  return { name, ms, peakBytes, commit, read };
}

/** The longest of calls one after another, with a pause between them. */
async function longest(call: () => Promise<unknown>, running: { on: boolean }): Promise<Wait> {
  const began = performance.now();
  let most: Wait = { ms: 0, atMs: 0 };
  while (running.on) {
    const start = performance.now();
    await call().catch(() => undefined);
    const ms = performance.now() - start;
    if (ms > most.ms) most = { ms, atMs: start - began };
    await setTimeout(PAUSE_MS);
  }
  return most;
}

/** Highest resident memory of the largest child process since its start; 0 where the system does not say. */
function databasePeakBytes(): number {
  return Math.max(0, ...childrenOf(process.pid).map((id) => processFigures(id).peakBytes));
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await benchMerge(Number(process.argv[2] ?? 10_000), (line) => process.stdout.write(`${line}\n`));
}
