import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import type { Test } from 'supertest';
import { testApp, useServer } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied } from '../../support/interchange.js';
import { admin, folder, givenDirectory, merge, statusOf, unmerge } from '../../support/merge-http.js';
import { ClusterProxy } from '../../support/process/cluster-proxy.js';
import { runCommand, runHere, type CommandResult } from '../../support/process/command-line.js';
import {
  answered,
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  versionedObjectUidOf,
  type Json,
} from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

/*
 * What others do at any step of an export, in each form: what is there afterwards is in the output, or named on stderr with the reason,
 * and then the exit code is 1; what is named is not there; nothing is there twice; and what is of one moment, an EHR with all
 * versions, an EXTRACT, is what it was before or after.
 */

useDatabase();
const app = testApp(WITH_ADMIN);
const inSteps = testApp({ ...WITH_ADMIN, mergeStepsFrom: 2 });
const file = join(tmpdir(), `sweep-${randomUUID()}.ndjson`);

/** How long a step waits for what happens at it: longer only where that waits for the export itself. */
const LONGEST_MS = 10_000;
/** Steps of an export at which something happens: of those through a server, and of those that are a process of their own. */
const TRIED = { server: 6, process: 2 };

/** The steps of one export; something happens before one of them. */
class Steps {
  count = 0;
  done: Promise<void> | null = null;

  /** `at`: the step, null for none. */
  constructor(
    private readonly at: number | null,
    private readonly event: () => Promise<void>,
  ) {}

  /** What the next step has to wait for; null: nothing. */
  pass(): Promise<unknown> | null {
    const isHere = this.count === this.at;
    this.count += 1;
    if (!isHere) return null;
    this.done = this.event();
    return Promise.race([this.done.catch(() => undefined), pause(LONGEST_MS, undefined, { ref: false })]);
  }
}

let steps: Steps | null = null;
const server = useServer((asked, response) => {
  void Promise.resolve(steps?.pass()).then(() => app(asked, response));
});
let proxy: ClusterProxy;
const READ = new Set(['ehrs', 'versioned_objects', 'versions']);
beforeAll(async () => {
  proxy = await ClusterProxy.before(testDatabaseUri(), {
    before: ({ name, database, isInTransaction, body }) => {
      if (steps === null || isInTransaction || database !== testDatabaseName()) return null;
      if (name !== 'find' && name !== 'aggregate') return null;
      const collection = mongoose.mongo.BSON.deserialize(body)[name] as unknown;
      return READ.has(String(collection)) ? steps.pass() : null;
    },
  });
});
afterAll(() => {
  proxy.close();
});
afterEach(() => {
  steps = null;
  rmSync(file, { force: true });
});

let source = '';
let target = '';
let object = '';

async function done(ask: () => Test): Promise<void> {
  const { status, text } = await answered(ask);
  if (status >= 300) throw new Error(`${status} ${text}`);
}

/** What others do meanwhile, and what is done before the export. */
interface Change {
  readonly name: string;
  readonly before?: () => Promise<void>;
  readonly event: () => Promise<void>;
}

const merged = (): Promise<void> => done(() => merge(app, source, target));
const CHANGES: readonly Change[] = [
  { name: 'a merge', event: merged },
  { name: 'a merge in steps', event: () => done(() => merge(inSteps, source, target)) },
  { name: 'an unmerge', before: merged, event: () => done(() => unmerge(app, source, target)) },
  {
    name: 'a move',
    event: () => {
      const path = `/ehr/${source}/composition/${object}/move`;
      return done(() => admin(app, 'post', path).send({ target_ehr: target }));
    },
  },
  { name: 'the erasure of an EHR', event: () => done(() => admin(app, 'delete', `/ehr/${source}`)) },
  {
    name: 'the erasure of an object',
    event: () => done(() => admin(app, 'delete', `/ehr/${source}/composition/${object}`)),
  },
];

/** COMPOSITIONs in an output, or in the store, by their EHR. */
type Owned = ReadonlyMap<string, readonly string[]>;

interface Written {
  /** EHRs under their own id. */
  readonly ehrs: readonly string[];
  readonly compositions: Owned;
}

const NOTHING: Written = { ehrs: [], compositions: new Map() };

/** A form of export. */
interface Form {
  readonly name: string;
  readonly args: () => readonly string[];
  readonly isLocal?: true;
  /** Only of the source. */
  readonly isNamed?: true;
  /** Each EHR that is there is of one moment. */
  readonly isOneMoment?: true;
  /** COMPOSITIONs of the source, and characters of each. */
  readonly size?: readonly [count: number, characters: number];
  readonly read: (text: string) => Written;
}

const FORMS: readonly Form[] = [
  { name: '--url', args: () => [], read: latest },
  { name: '--url --ehr', args: () => ['--ehr', source], isNamed: true, read: latest },
  { name: '--local', args: () => ['--local'], isLocal: true, read: latest },
  {
    name: '--local --ehr',
    args: () => ['--local', '--ehr', source],
    isLocal: true,
    isNamed: true,
    read: latest,
  },
  {
    name: '--all-versions',
    args: () => ['--local', '--all-versions'],
    isLocal: true,
    isOneMoment: true,
    read: allVersions,
  },
  {
    name: '--extract --url',
    args: () => ['--extract', '--ehr', source],
    isNamed: true,
    isOneMoment: true,
    read: extract,
  },
  {
    name: '--extract --local',
    args: () => ['--extract', '--local', '--ehr', source],
    isLocal: true,
    isNamed: true,
    isOneMoment: true,
    // More than is held back until all of it was read.
    size: [65, 18_000],
    read: extract,
  },
];

const linesOf = (text: string): Json[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Json);

function byEhr(pairs: readonly (readonly [ehrId: string, uid: string])[]): Owned {
  const owned = new Map<string, string[]>();
  for (const [ehrId, uid] of pairs)
    owned.set(ehrId, [...(owned.get(ehrId) ?? []), versionedObjectUidOf(uid)]);
  return owned;
}

function latest(text: string): Written {
  const lines = linesOf(text);
  return {
    ehrs: lines.flatMap((line) => (line['ehr_status'] ? [String(line['ehr_id'])] : [])),
    compositions: byEhr(
      lines.flatMap(({ ehr_id: ehrId, composition }) =>
        composition ? [[String(ehrId), String(composition.uid.value)] as const] : [],
      ),
    ),
  };
}

/** Each COMPOSITION has one version. */
function allVersions(text: string): Written {
  const lines = linesOf(text);
  expect(lines.at(-1)).toMatchObject({ kind: 'end' });
  return {
    ehrs: lines.flatMap(({ kind, ehr }) => (kind === 'ehr' ? [String(ehr.ehr_id.value)] : [])),
    compositions: byEhr(
      lines.flatMap(({ kind, type, ehr_id: ehrId, version }) =>
        kind === 'version' && type === 'COMPOSITION'
          ? [[String(ehrId), String(version.uid.value)] as const]
          : [],
      ),
    ),
  };
}

function extract(text: string): Written {
  const [{ extract_id_key: ehrId, items }] = (JSON.parse(text) as Json)['chapters'] as [Json];
  const containers = (items as Json[]).map(({ item }) => item as Json);
  const compositions = containers.filter(({ _type }) => _type === 'X_VERSIONED_COMPOSITION');
  return {
    ehrs: [String(ehrId)],
    compositions: byEhr(compositions.map(({ uid }) => [String(ehrId), String(uid.value)])),
  };
}

interface Stored {
  readonly _id: string;
  readonly ehr_id: string;
}

/** What is there now: active EHRs, and COMPOSITIONs by EHR. */
async function stored(): Promise<Written> {
  const { connection } = mongoose;
  const ehrs = await connection.collection<Stored>('ehrs').find({ state: 'active' }).toArray();
  const objects = await connection
    .collection<Stored>('versioned_objects')
    .find({ type: 'COMPOSITION', ehr_id: { $in: ehrs.map(({ _id }) => _id) } })
    .toArray();
  return {
    ehrs: ehrs.map(({ _id }) => _id),
    compositions: byEhr(objects.map(({ _id, ehr_id: ehrId }) => [ehrId, _id])),
  };
}

/** Two EHRs with directories and COMPOSITIONs, and a third beside them. */
async function given({ size: [count, characters] = [5, 12] }: Form): Promise<void> {
  await emptied();
  await givenTemplate(app);
  [source, target] = [await givenEhr(app, statusOf(randomUUID())), await givenEhr(app)];
  const third = await givenEhr(app);
  for (const ehrId of [source, target]) await givenDirectory(app, ehrId, folder('root'));
  for (let n = 0; n < count; n += 1) {
    const composition = aComposition();
    // Incompressible.
    composition['name'].value = randomBytes(characters).toString('base64');
    object = versionedObjectUidOf(await givenComposition(app, source, composition));
  }
  for (const ehrId of [target, target, third]) await givenComposition(app, ehrId);
}

const run = (form: Form): Promise<CommandResult> => {
  const args = ['export', ...form.args(), '--output', file];
  if (form.isLocal !== true) return runHere(...args, '--url', server.url);
  return runCommand(args, {
    LOG_LEVEL: 'silent',
    MONGODB_URI: proxy.uri,
    MONGODB_DATABASE: testDatabaseName(),
  });
};

const COUNTS = /^\d+ EHRs?, \d+ (?:record|line)s?$/;
const NAMED =
  /^(?<type>EHR|COMPOSITION) (?<id>[0-9a-f-]{36})(?: of EHR [0-9a-f-]{36})? is not exported(?<whole> whole)?: meanwhile (?:it (?:was|is)|content went between)/;
/** Of one EHR that is asked for. */
const GONE = /^EHR (?:with id )?(?<id>[0-9a-f-]{36}) (?:does not exist|was merged into)/;

/** What was there before something happened and after; `isListed`: what the export was asked for was listed before. */
interface States {
  readonly before: Written;
  readonly after: Written;
  readonly isListed: boolean;
}

/** What an export did, judged by what was there. */
class Outcome {
  readonly #lines: readonly string[];
  readonly #named: ReadonlySet<string>;
  readonly #written: Written;
  readonly #there: readonly string[];

  constructor(
    private readonly form: Form,
    private readonly states: States,
    private readonly result: CommandResult,
  ) {
    this.#lines = result.stderr.split('\n').filter((line) => line !== '' && !COUNTS.test(line));
    const idIn = (line: string): string => (NAMED.exec(line) ?? GONE.exec(line))?.groups?.['id'] ?? '';
    this.#named = new Set(this.#lines.map(idIn));
    this.#written = existsSync(file) ? form.read(readFileSync(file, 'utf8')) : NOTHING;
    this.#there = [...this.#written.compositions.values()].flat();
  }

  faults(): string[] {
    const { code } = this.result;
    const unknown = this.#lines.filter((line) => !NAMED.test(line) && !GONE.test(line));
    return [
      ...unknown.map((line) => `says ${line}`),
      ...(code === (this.#lines.length === 0 ? 0 : 1) ? [] : [`code ${code}`]),
      ...this.#wronglyThere(),
      ...this.#required()
        .filter((id) => !this.#isKnown(id))
        .map((id) => `COMPOSITION ${id} is nowhere`),
      ...this.#lostEhrs().map((ehrId) => `EHR ${ehrId} is nowhere`),
      ...this.#torn().map((ehrId) => `EHR ${ehrId} is of no moment`),
    ];
  }

  #wronglyThere(): string[] {
    const all = [...this.#there, ...this.#written.ehrs];
    const twice = all.filter((id, index) => all.indexOf(id) !== index).map((id) => `${id} is there twice`);
    const absent = this.#lines.flatMap((line) => {
      const { id = '', whole } = NAMED.exec(line)?.groups ?? {};
      return whole === undefined ? [id] : [];
    });
    return [...twice, ...absent.filter((id) => all.includes(id)).map((id) => `${id} is named and there`)];
  }

  /** COMPOSITIONs that have to be there, or to be named. */
  #required(): readonly string[] {
    const { before, after, isListed } = this.states;
    const all = [...after.compositions.values()].flat();
    if (this.form.isNamed !== true) return all;
    // An EXTRACT has what is there at its moment.
    if (this.form.isOneMoment === true) return [];
    const had = before.compositions.get(source) ?? [];
    if (isListed && before.ehrs.includes(source)) return had;
    const isMerged = !after.ehrs.includes(source);
    return [
      ...(after.compositions.get(source) ?? []),
      ...(isMerged ? had.filter((id) => all.includes(id)) : []),
    ];
  }

  #isKnown(id: string): boolean {
    const { before, after } = this.states;
    const owners = [before, after].flatMap(({ compositions }) => ownersOf(compositions, id));
    return this.#there.includes(id) || [id, ...owners].some((one) => this.#named.has(one));
  }

  /** Of one that was taken out of another after the last look the content is there all the same. */
  #lostEhrs(): string[] {
    const { before, after } = this.states;
    const wanted = after.ehrs.filter((ehrId) => this.form.isNamed !== true || ehrId === source);
    return wanted.filter((ehrId) => {
      if (this.#written.ehrs.includes(ehrId) || this.#named.has(ehrId)) return false;
      const content = after.compositions.get(ehrId) ?? [];
      return before.ehrs.includes(ehrId) || !content.every((id) => this.#there.includes(id));
    });
  }

  #torn(): string[] {
    if (this.form.isOneMoment !== true) return [];
    const { before, after } = this.states;
    return this.#written.ehrs.filter((ehrId) => {
      const of = ({ compositions }: Written): string => [...(compositions.get(ehrId) ?? [])].sort().join();
      return ![of(before), of(after)].includes(of(this.#written));
    });
  }
}

function ownersOf(owned: Owned, id: string): string[] {
  return [...owned].flatMap(([ehrId, ids]) => (ids.includes(id) ? [ehrId] : []));
}

/** Exports beside a change at a step; gives how many steps there were, and whether it was met. */
async function exportedBeside(
  form: Form,
  change: Change,
  at: number | null,
): Promise<{ readonly count: number; readonly isMet: boolean }> {
  await given(form);
  await change.before?.();
  rmSync(file, { force: true });
  const before = await stored();
  const own = new Steps(at, change.event);
  steps = own;
  const result = await run(form);
  steps = null;
  await own.done;
  const isListed = form.isLocal !== true && at !== null && at > 0;
  const faults = new Outcome(form, { before, after: await stored(), isListed }, result).faults();
  const what = { at, stderr: faults.length > 0 ? result.stderr : '' };
  expect({ ...what, faults }).toEqual({ ...what, faults: [] });
  return { count: own.count, isMet: own.done !== null };
}

/** How many steps a form has where nothing happens, after a merge or without. */
const counts = new Map<string, number>();
async function countOf(form: Form, change: Change): Promise<number> {
  const key = `${form.name} ${change.before === undefined ? '' : 'merged'}`;
  const known = counts.get(key) ?? (await exportedBeside(form, change, null)).count;
  counts.set(key, known);
  return known;
}

const CASES = FORMS.flatMap((form) =>
  CHANGES.map((change) => [`${form.name} beside ${change.name}`, form, change] as const),
);

it.each(CASES)(
  'whatever comes between, all is exported or named: %s',
  async (_, form, change) => {
    const count = await countOf(form, change);
    const tried = Math.min(count, form.isLocal === true ? TRIED.process : TRIED.server);
    expect(tried).toBeGreaterThan(0);
    let met = 0;
    for (let n = 0; n < tried; n += 1) {
      // Not the very last ones: how many there are differs a little.
      const { isMet } = await exportedBeside(form, change, Math.floor(((n + 0.5) * count * 0.9) / tried));
      if (isMet) met += 1;
    }
    expect(met).toBeGreaterThan(0);
  },
  600_000,
);
