import { randomUUID } from 'node:crypto';
import { request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';

import type { Operation, Permission } from '../../../routes/http/operation/operation.js';
import { everyOperation } from '../../../src/operation-table.js';
import { testServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { draws } from '../../support/laws.js';
import { everythingOn } from '../../support/settings.js';
import { bearer } from '../../support/tokens.js';

useDatabase();

const settings = everythingOn({ auth: 'jwt' });
const { operations } = everyOperation(settings);
const ROLES: Readonly<Record<string, readonly Permission[]>> = {
  USER: ['read', 'write', 'define', 'draft'],
  READER: ['read'],
  AUDITOR: ['audit'],
  STRANGER: [],
};
const TOKENS = {
  'no token': undefined,
  'a bad token': `${bearer(['ADMIN'])}x`,
  'a token of another key': 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJyb2xlcyI6WyJBRE1JTiJdfQ.c2lnbmF0dXJl',
  ...Object.fromEntries(Object.keys(ROLES).map((role) => [role, bearer([role])])),
};

let server: Server;
let port = 0;

beforeAll(async () => {
  server = await testServer(settings);
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.close();
});

/** Status of a request whose target goes out exactly as it is written; no client normalises it. */
function statusOf(method: string, target: string, authorization: string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = authorization === undefined ? {} : { authorization };
    const sending = send({ port, host: '127.0.0.1', method, path: target, headers }, (response) => {
      response.resume();
      response.on('end', () => {
        resolve(response.statusCode ?? 0);
      });
    });
    sending.on('error', reject).end();
  });
}

const upperCase = (text: string): string => text.toUpperCase();
const mixedCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const firstLetterEncoded = (text: string): string =>
  text.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`);

/** One segment after another, changed by each way of writing it otherwise. */
function spellings(path: string): string[] {
  const segments = path.split('/').slice(1);
  const changed = [upperCase, mixedCase, firstLetterEncoded].flatMap((change) =>
    segments.map(
      (_, index) => `/${segments.map((text, i) => (i === index ? change(text) : text)).join('/')}`,
    ),
  );
  return [
    path,
    `${path}/`,
    `${path}//`,
    `/${path}`,
    path.replaceAll('/', '//'),
    path.replace(/(?<!^)\//g, '%2F'),
    path.replace(/(?<!^)\//, '/./'),
    path.replace(/(?<!^)\//, '/x/../'),
    `${path};a=b`,
    upperCase(path),
    ...changed,
  ];
}

/** Of these every one in `test:long`, in `npm test` the first and some: others for each operation and each who asks. */
function someOf(targets: readonly string[], asking: number): readonly string[] {
  const count = draws({ small: 2, full: Infinity });
  if (count >= targets.length) return targets;
  const [first = '', ...rest] = targets;
  const drawn = Array.from(
    { length: count - 1 },
    (_, i) => rest[(asking * (count - 1) + i) % rest.length] ?? '',
  );
  return [first, ...drawn];
}

/** Every way to write the path of an operation, below the prefix and its alias. */
function targetsOf({ path }: Operation): string[] {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name.endsWith('uid') || name.endsWith('id') ? randomUUID() : 'aql',
  );
  const alias = filled.replace(/^\/rest\/openehr\/v1/, '/v1');
  return [...new Set([filled, alias].flatMap(spellings))];
}

function isAllowed({ access }: Operation, who: string): boolean {
  if (access === 'open') return true;
  const permissions = ROLES[who] ?? [];
  return access === 'anyone' || access === 'identified'
    ? permissions.length > 0
    : permissions.includes(access);
}

async function documentCounts(): Promise<Record<string, number>> {
  const { db } = mongoose.connection;
  const names = (await db!.listCollections().toArray()).map(({ name }) => name).sort();
  const counts = await Promise.all(names.map((name) => db!.collection(name).countDocuments()));
  // Refusals are recorded, so the audit is the one collection that may grow.
  return Object.fromEntries(names.map((name, i) => [name, name === 'audit' ? 0 : (counts[i] ?? 0)]));
}

describe('the wall', () => {
  it.each(operations.map((operation): [string, Operation] => [operation.id, operation]))(
    'lets nobody to %s whom the table does not name, however the path is written',
    async (_, operation) => {
      const before = await documentCounts();
      for (const [place, [who, authorization]] of Object.entries(TOKENS).entries()) {
        if (isAllowed(operation, who)) continue;
        const asked = await Promise.all(
          someOf(targetsOf(operation), operations.indexOf(operation) + place).map(async (target) => ({
            target,
            status: await statusOf(operation.method, target, authorization),
          })),
        );
        const expected = ROLES[who] === undefined ? [401] : [400, 401, 403, 404, 405];
        expect([who, asked.filter(({ status }) => !expected.includes(status))]).toEqual([who, []]);
      }
      expect(await documentCounts()).toEqual(before);
    },
  );

  it('answers the spelling of the table, one trailing slash and the alias, and no other', async () => {
    const ask = (target: string) => statusOf('GET', target, bearer(['USER']));
    const ehrs = '/ehr?subject_id=x&subject_namespace=y';
    expect(await ask('/rest/openehr/v1/definition/template/adl1.4')).toBe(200);
    expect(await ask('/rest/openehr/v1/definition/template/adl1.4/')).toBe(200);
    expect(await ask('/v1/definition/template/adl1.4')).toBe(200);
    expect(await ask(`/rest/openehr/v1${ehrs}`)).toBe(404);
    for (const target of [
      '/V1/definition/template/adl1.4',
      '/REST/openehr/v1/definition/template/adl1.4',
      '/rest/openehr/V1/definition/template/adl1.4',
      '/rest/openehr/v1/definition/template/ADL1.4',
      '/rest/openehr/v1/definition/template//adl1.4',
      '/rest/openehr/v1/definition%2Ftemplate/adl1.4',
      '/rest/openehr/v1/%64efinition/template/adl1.4',
    ])
      expect([target, await ask(target)]).toEqual([target, 404]);
  });

  it('keeps one trailing slash and a second one apart', async () => {
    const user = bearer(['USER']);
    expect(await statusOf('GET', '/rest/status/', user)).toBe(200);
    expect(await statusOf('GET', '/rest/status//', user)).toBe(404);
  });
});
