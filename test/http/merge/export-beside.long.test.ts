import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp, useServer } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { admin, givenMergeTemplates, merge, unmerge } from '../../support/merge-http.js';
import { runHere, type CommandResult } from '../../support/process/command-line.js';
import { spawnEverchart } from '../../support/process/command.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
/** Happens once, before an export reads the first of what stands at this place of a path. */
let meanwhile: ((path: string) => Promise<unknown>) | null = null;
let place = '';
/** What becomes of the next answer to what has this in its path. */
let play: { readonly place: string; readonly of: (response: ServerResponse) => void } | null = null;
const server = useServer((request, response) => {
  if (play !== null && request.url?.includes(play.place) === true) {
    play.of(response);
    play = null;
  }
  const isFirst = meanwhile !== null && request.url?.includes(place) === true;
  const change = isFirst ? meanwhile : null;
  if (isFirst) meanwhile = null;
  void Promise.resolve(change?.(request.url ?? '')).then(() => app(request, response));
});
beforeAll(() => givenMergeTemplates(app));

const COUNT = 12;
let source = '';
let target = '';
let uids: string[] = [];
let theirs = '';
const file = join(tmpdir(), `export-${randomUUID()}.ndjson`);
beforeEach(async () => {
  place = '/versioned_composition/';
  [source, target] = [await givenEhr(app), await givenEhr(app)];
  uids = [];
  for (let n = 0; n < COUNT; n += 1) uids.push(await givenComposition(app, source));
  theirs = await givenComposition(app, target);
});
afterEach(async () => {
  for (const ehrId of [source, target]) await admin(app, 'delete', `/ehr/${ehrId}?cascade=true`);
  rmSync(file, { force: true });
});

/** What stands in the file of an export: uids of COMPOSITIONs, and EHRs by their EHR_STATUS. */
function written(text = readFileSync(file, 'utf8')): { compositions: string[]; ehrs: string[] } {
  const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Json]));
  return {
    compositions: lines
      .flatMap((line) => (line.composition ? [String(line.composition.uid.value)] : []))
      .sort(),
    ehrs: lines.flatMap((line) => (line.ehr_status ? [String(line.ehr_id)] : [])).sort(),
  };
}

/** What the command says on stderr begins with how much it wrote; the rest is what is not there. */
const COUNTS = /^\d+ EHRs?, \d+ records?\n/;

async function exported(...args: readonly string[]): Promise<CommandResult> {
  const { stderr, ...result } = await runHere('export', '--url', server.url, '--output', file, ...args);
  if (existsSync(file)) expect(stderr).toMatch(COUNTS);
  return { ...result, stderr: stderr.replace(COUNTS, '') };
}

const whole = (): object => ({
  compositions: [...uids, theirs].sort(),
  ehrs: [source, target].sort(),
});

/** The connection ends when all of an answer but its end was sent. */
function breakOff(response: ServerResponse): void {
  response.end = (() => {
    setTimeout(() => response.destroy(), 100);
    return response;
  }) as typeof response.end;
}

/** Something happens before the first part of an answer is sent, and while nothing more of it is taken. */
function meanwhileOf(event: () => PromiseLike<unknown>): (response: ServerResponse) => void {
  return (response) => {
    const write = response.write.bind(response) as (chunk: unknown) => boolean;
    response.write = ((chunk: unknown) => {
      response.write = write as typeof response.write;
      void Promise.resolve(event()).then(() => {
        write(chunk);
        response.emit('drain');
      });
      return false;
    }) as typeof response.write;
  };
}

describe('an export of everything', () => {
  it('reads the list of EHRs anew that breaks off', async () => {
    play = { place: '/query/aql', of: breakOff };
    expect(await exported()).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(play).toBeNull();
    expect(written()).toEqual(whole());
  });

  it('has an EHR that is taken out while its target is written', async () => {
    expect((await merge(app, source, target)).status).toBe(200);
    meanwhile = () => unmerge(app, source, target);
    expect(await exported()).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(written()).toEqual(whole());
  });

  it('names what is erased meanwhile, and has the rest', async () => {
    const [erased = ''] = uids;
    const id = versionedObjectUidOf(erased);
    meanwhile = () => admin(app, 'delete', `/ehr/${source}/composition/${id}`);
    const { code, stderr } = await exported();
    const left = uids.slice(1);
    const { compositions } = written();
    // It may have been the target's turn.
    const isNamed = stderr.includes(
      `COMPOSITION ${id} of EHR ${source} is not exported: meanwhile it was erased`,
    );
    expect([code, isNamed]).toEqual(stderr === '' ? [0, false] : [1, true]);
    expect(compositions).toEqual([...left, theirs].sort());
  });

  it('has what is moved meanwhile, once', async () => {
    const id = versionedObjectUidOf(uids.at(-1)!);
    meanwhile = () =>
      admin(app, 'post', `/ehr/${source}/composition/${id}/move`).send({ target_ehr: target });
    expect((await exported()).code).toBe(0);
    expect(written()).toEqual(whole());
  });

  it('names an EHR that is erased before its turn', async () => {
    let erased = '';
    meanwhile = (path) => {
      erased = path.includes(source) ? target : source;
      return admin(app, 'delete', `/ehr/${erased}`);
    };
    const { code, stderr } = await exported();
    expect([code, stderr]).toEqual([1, `EHR ${erased} is not exported: meanwhile it was erased\n`]);
    expect(written().ehrs).toEqual([erased === source ? target : source]);
  });

  it('and one that is erased in its turn', async () => {
    let erased = '';
    meanwhile = (path) => {
      erased = path.includes(source) ? source : target;
      return admin(app, 'delete', `/ehr/${erased}`);
    };
    const { code, stderr } = await exported();
    expect([code, stderr]).toEqual([1, `EHR ${erased} is not exported whole: meanwhile it was erased\n`]);
    expect(written().ehrs).toEqual([source, target].sort());
  });
});

describe('an export of one EHR', () => {
  it('has all of it when it is taken out meanwhile', async () => {
    expect((await merge(app, source, target)).status).toBe(200);
    meanwhile = () => unmerge(app, source, target);
    expect(await exported('--ehr', source)).toEqual({ code: 0, stdout: '', stderr: '' });
    const { compositions, ehrs } = written();
    expect([ehrs, compositions.filter((uid) => uid !== theirs)]).toEqual([[source], uids.toSorted()]);
  });

  it.each(['/ehr_status', '/directory', '/versioned_composition/'])(
    'has everything as it was at one moment, whatever is changed before it reads %s',
    async (first) => {
      const path = `${V1}/ehr/${source}`;
      const folder = { _type: 'FOLDER', name: { value: 'root' }, archetype_node_id: 'at0001' };
      const directory = versionUidOf(await request(app).post(`${path}/directory`).send(folder).expect(201));
      const { body: status } = await request(app).get(`${path}/ehr_status`);
      place = first;
      const put = (below: string, uid: string, body: object) =>
        request(app).put(`${path}${below}`).set('If-Match', uid).send(body).expect(200);
      meanwhile = async () => {
        await put('/ehr_status', status.uid.value as string, { ...status, is_queryable: false });
        await put('/directory', directory, { ...folder, name: { value: 'other' } });
        for (const uid of uids.slice(2))
          await put(`/composition/${versionedObjectUidOf(uid)}`, uid, aComposition());
        await request(app).delete(`${path}/composition/${uids[0]!}`).expect(204);
        await givenComposition(app, source);
      };
      expect(await exported('--ehr', source)).toEqual({ code: 0, stdout: '', stderr: '' });
      expect(meanwhile).toBeNull();
      expect(written().compositions).toEqual(uids.toSorted());
      const text = readFileSync(file, 'utf8');
      const parts = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Json]));
      const uidOf = (part: string) => parts.find((line) => part in line)?.[part].uid.value as string;
      expect([uidOf('ehr_status'), uidOf('directory')]).toEqual([status.uid.value, directory]);
    },
  );

  it('names what is moved away meanwhile, and has the rest', async () => {
    const id = versionedObjectUidOf(uids.at(-1)!);
    meanwhile = () =>
      admin(app, 'post', `/ehr/${source}/composition/${id}/move`).send({ target_ehr: target });
    const { code, stderr } = await exported('--ehr', source);
    const said = `COMPOSITION ${id} of EHR ${source} is not exported: meanwhile it was moved to EHR ${target}\n`;
    expect([code, stderr]).toEqual([1, said]);
    expect(written().compositions).toEqual(uids.slice(0, -1).toSorted());
  });

  it('leaves an older file alone when there is no such EHR', async () => {
    const { code, stderr } = await exported('--ehr', randomUUID());
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^EHR with id .* does not exist/)]);
    expect(() => readFileSync(file)).toThrow('ENOENT');
  });
});

describe('an EXTRACT that is read in parts', () => {
  /** With what is sent at once, and what is read before it is taken, not all of them are read. */
  const MANY = 65;
  const SIZE = 18_000;
  let last = '';
  beforeEach(async () => {
    for (let n = 0; n < MANY; n += 1) {
      const composition = aComposition();
      // Incompressible.
      composition.name.value = randomBytes(SIZE).toString('base64');
      last = versionedObjectUidOf(await givenComposition(app, source, composition));
    }
  });
  const extract = (...args: readonly string[]): Promise<CommandResult> =>
    runHere('export', '--url', server.url, '--extract', '--ehr', source, ...args);
  const erased = (path: string) => meanwhileOf(() => admin(app, 'delete', path));

  it('is begun anew when something of it is erased meanwhile', async () => {
    play = { place: '/extract', of: erased(`/ehr/${source}/composition/${last}`) };
    expect(await extract('--output', file)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(play).toBeNull();
    const { chapters } = JSON.parse(readFileSync(file, 'utf8')) as Json;
    // And its EHR_STATUS.
    expect(chapters[0].items.length).toBe(COUNT + MANY - 1 + 1);
  });

  it('is not there when its EHR is erased meanwhile', async () => {
    play = { place: '/extract', of: erased(`/ehr/${source}`) };
    const { code, stderr } = await extract('--output', file);
    expect([code, stderr]).toEqual([1, `EHR with id ${source} does not exist\n`]);
    expect(existsSync(file)).toBe(false);
  });

  it('says on stdout, where nothing can be taken back, of which EHR it breaks off', async () => {
    play = { place: '/extract', of: erased(`/ehr/${source}`) };
    const { code, stderr } = await extract();
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(`^EHR ${source} is not exported whole: the answer broke off before its end: `),
    ]);
  });
});

it('an export of the configured database has an EHR that is taken out meanwhile', async () => {
  expect((await merge(app, source, target)).status).toBe(200);
  const own = { LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() };
  const child = spawnEverchart(['export', '--local'], own, { stdio: ['ignore', 'pipe', 'pipe'] });
  const code = new Promise((resolve) => child.once('close', resolve));
  let text = '';
  let undone: Promise<unknown> | null = null;
  for await (const chunk of child.stdout!) {
    undone ??= unmerge(app, source, target).then();
    text += String(chunk);
  }
  await undone;
  expect([await code, written(text)]).toEqual([
    0,
    expect.objectContaining({ compositions: [...uids, theirs].sort() }),
  ]);
});
