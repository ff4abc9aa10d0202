import type { RequestListener } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { upgradeStorage } from '../../../maintenance/upgrade.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { prepareStorage } from '../../../src/process/storage.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useOwnDatabase } from '../../support/database.js';
import { rows, unmerge } from '../../support/merge-http.js';
import { runCommand } from '../../support/process/command-line.js';
import { startServerProcess } from '../../support/process/server.js';
import { loadRelease } from '../../support/release.js';
import { dump, V1, type Json } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { WITH_ADMIN } from '../../support/tokens.js';

const [FIRST, MERGED, THIRD] = [1, 2, 3].map((each) => `0000000${each}-0000-4000-8000-000000000000`) as [
  string,
  string,
  string,
];

useOwnDatabase([]);
beforeEach(() => loadRelease('0.2.0'));
const app = testApp(WITH_ADMIN);
const settings = testSettings(WITH_ADMIN);

/** What a client reads in every way, `ehrs` being those that are there; `server`: of this process, or the address of another. */
async function read(ehrs: readonly string[], server: RequestListener | string = app): Promise<unknown> {
  const get = async (path: string): Promise<string> => {
    const { status, text } = await request(server).get(`${V1}${path}`);
    return `${status} ${text}`;
  };
  const { body } = await request(server).get(`${V1}/query/org.example::all`);
  const found: unknown[] = [body.rows, await get('/definition/template/adl1.4')];
  for (const id of ehrs) {
    const uids = (
      await rows(server, 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', id)
    ).flat() as string[];
    for (const uid of uids.toSorted())
      for (const path of [uid, `${uid.split('::')[0]}/tags`])
        found.push(await get(`/ehr/${id}/composition/${path}`));
    for (const path of ['', '/ehr_status', '/directory']) found.push(await get(`/ehr/${id}${path}`));
  }
  return found;
}

describe('data of release 0.2.0', () => {
  it('are served and verified as they are', async () => {
    await prepareStorage(settings);
    const found = JSON.stringify(await read([FIRST, THIRD]));
    expect(found).not.toMatch(/"(?:4|5)\d\d /);
    for (const text of ['patient-1', 'kept', 'OBSERVATION']) expect(found).toContain(text);
    expect((await request(app).get(`${V1}/ehr/${MERGED}`)).status).toBe(404);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('read the same after an upgrade, and a merge of then can be taken back', async () => {
    await prepareStorage(settings);
    const before = await read([FIRST, THIRD]);
    await upgradeStorage(settings.aql.leafIndex, undefined, 0);
    expect(await read([FIRST, THIRD])).toEqual(before);
    await sealNewRecords();
    expect((await verifyStorage()).violations).toEqual([]);
    expect((await unmerge(app, MERGED, FIRST)).status).toBe(200);
    expect(JSON.stringify(await read([FIRST, MERGED, THIRD]))).toContain('patient-2');
    await sealNewRecords();
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('are served by a process, upgraded beside it by the command, and verified by it', async () => {
    const env = { MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() };
    const stored = await dump();
    const plan = await runCommand(['upgrade', '--dry-run'], env);
    expect([plan.code, plan.stdout]).toEqual([
      0,
      expect.stringMatching(/^layout 2, this release has 2\n[^]*\nnothing was written\n$/),
    ]);
    expect(await dump()).toBe(stored);
    const server = await startServerProcess(env);
    try {
      const before = await read([FIRST, THIRD], server.url);
      expect(JSON.stringify(before)).toContain('patient-1');
      const upgraded = await runCommand(['upgrade'], env);
      expect([upgraded.code, upgraded.stdout]).toEqual([
        0,
        expect.stringMatching(
          /^0 VERSIONs compressed, .*\nsealed as they were found: the EHR of \d+ records/,
        ),
      ]);
      expect(await read([FIRST, THIRD], server.url)).toEqual(before);
      const verified = await runCommand(['verify', '--json'], env);
      const { checked, violations } = JSON.parse(verified.stdout) as Json;
      expect([verified.code, checked.ehrs, violations]).toEqual([0, 3, []]);
    } finally {
      expect(await server.stop()).toBe(0);
    }
  });
});
