import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp, useServer } from '../app.js';
import { testDatabaseName, testDatabaseUri } from '../database.js';
import { emptied, exported } from '../interchange.js';
import { folder, givenDirectory, givenTag, givenUpdate, statusOf } from '../merge-http.js';
import { runCommand, runHere, type CommandResult } from '../process/command-line.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
} from '../resources.js';
import { bearer, WITH_ADMIN } from '../tokens.js';
import { oldPeer, type OldPeer, type PeerManners } from './old-peer.js';

/* The old server is made of what this product exports under another system id, and answers as EHRbase does. */

/** System id of the old server. */
export const SYSTEM = 'local.ehrbase.org';
/** All that it may show. */
export const OPEN = { lists: true, hasTags: true };
/** The old server, as long as its store is here. */
export const there = testApp({ systemId: SYSTEM });
/** The new one. */
export const here = testApp();

const rolePermissions = { MOVER: ['restore', 'read', 'write'], WRITER: ['read', 'write'] } as const;
const MOVER = bearer(['MOVER'], 'mover').replace('Bearer ', '');

/** What the old server holds. */
export interface OldStore {
  readonly lines: readonly string[];
  /** EHR with a COMPOSITION in three versions, one that was deleted, two EHR_STATUSes and a directory in three versions. */
  readonly ehrId: string;
  readonly deleted: string;
  /** A time before the other EHR, and the directory, came. */
  readonly between: string;
}

/** Fills the database as the old server, and gives what that holds. */
export async function givenOldStore(): Promise<OldStore> {
  await emptied(SYSTEM);
  await givenTemplate(there);
  await request(there)
    .put(`${V1}/definition/query/org.example::all/1.0.0`)
    .set('Content-Type', 'text/plain')
    .send('SELECT e FROM EHR e');
  const ehrId = await givenEhr(there, statusOf('p1'));
  let uid = await givenComposition(there, ehrId);
  uid = await givenUpdate(there, ehrId, uid, aComposition());
  await givenUpdate(there, ehrId, uid, aComposition());
  const deleted = await givenComposition(there, ehrId);
  await request(there).delete(`${V1}/ehr/${ehrId}/composition/${deleted}`);
  const path = `${V1}/ehr/${ehrId}/ehr_status`;
  const { headers } = await request(there).get(path);
  await request(there).put(path).set('If-Match', headers.etag!).send(statusOf('p1'));
  await new Promise((resolve) => setTimeout(resolve, 5));
  const between = new Date().toISOString();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await givenComposition(there, await givenEhr(there, statusOf('p2')));
  let directory = await givenDirectory(there, ehrId, folder('root'));
  for (const name of ['second', 'third']) {
    const answer = await request(there)
      .put(`${V1}/ehr/${ehrId}/directory`)
      .set('If-Match', `"${directory}"`)
      .send(folder(name));
    directory = versionUidOf(answer);
  }
  await givenTag(there, { ehrId, type: 'composition', uid: versionedObjectUidOf(uid) }, 'k');
  return { lines: await exported(), ehrId, deleted, between };
}

/** What of an export a migration brings: nothing that ITS-REST does not show. */
export function movable(all: readonly string[]): string[] {
  return all
    .filter((line) => !line.startsWith('{"kind":"end"'))
    .map((line) => line.replace(/,"authenticated":\{[^}]*\}/, ''));
}

/** Commands between an old server and the one of the test's own, and files that they write. */
interface Moves {
  /** A server that holds these lines. */
  readonly given: (lines: readonly string[], manners?: PeerManners) => Promise<OldPeer>;
  /** `migrate`, through the new server. */
  readonly migrated: (peer: OldPeer, ...args: readonly string[]) => Promise<CommandResult>;
  /** The same by another user. */
  readonly migratedAs: (role: string, peer: OldPeer) => Promise<CommandResult>;
  /** A command on the database itself. */
  readonly local: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<CommandResult>;
  /** `compare`, through the new server. */
  readonly compared: (peer: OldPeer, ...args: readonly string[]) => Promise<CommandResult>;
  /** A file that goes with the test. */
  readonly file: (name: string) => string;
}

/** Serves both sides; after each test the new store must be sound. `useDatabase()` comes before. */
export function useMoves(): Moves {
  const place = mkdtempSync(join(tmpdir(), 'everchart-migrate-'));
  const peers: OldPeer[] = [];
  const open = useServer(here);
  const closed = useServer(testApp({ ...WITH_ADMIN, rolePermissions, auth: 'jwt' }));
  let env: Record<string, string> = {};
  const file = (name: string): string => join(place, name);
  const files = ['--progress', file('progress'), '--errors', file('errors')];
  const migrate = (peer: OldPeer, token: string, args: readonly string[]): Promise<CommandResult> =>
    runHere('migrate', '--from', peer.url, '--url', closed.url, '--token', token, ...files, ...args);
  beforeAll(() => {
    env = { LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() };
  });
  afterEach(async () => {
    for (const { server } of peers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    await sealNewRecords();
    expect((await verifyStorage()).violations).toEqual([]);
  });
  afterAll(() => rmSync(place, { recursive: true, force: true }));
  return {
    given: async (lines, manners = {}) => {
      const peer = await oldPeer(lines, manners);
      peers.push(peer);
      return peer;
    },
    migrated: (peer, ...args) => migrate(peer, MOVER, args),
    migratedAs: (role, peer) => migrate(peer, bearer([role], 'other').replace('Bearer ', ''), []),
    local: (args, further = {}) => runCommand(args, { ...env, ...further }),
    compared: (peer, ...args) => runHere('compare', '--with', peer.url, '--url', open.url, ...args),
    file,
  };
}
