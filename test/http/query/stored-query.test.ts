import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';

import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { runCommand } from '../../support/process/command-line.js';

const BASE = '/rest/openehr/v1/definition/query';
const AQL = 'SELECT e/ehr_id/value AS id FROM EHR e';
const app = testApp();

function put(path: string, body: string | object = AQL, type = 'text/plain') {
  return request(app)
    .put(`${BASE}/${path}`)
    .set('Content-Type', type)
    .send(typeof body === 'string' ? body : JSON.stringify(body));
}

const get = (path: string) => request(app).get(`${BASE}${path}`);
const namesOf = (records: { name: string; version: string }[]) =>
  records.map(({ name, version }) => `${name}/${version}`);
const storedCount = () => mongoose.connection.collection('stored_queries').countDocuments();

useDatabase();

describe('PUT stored query', () => {
  it('answers the record and where it is', async () => {
    const stored = await put('org.example::pulse');
    expect(stored.status).toBe(200);
    expect(stored.body).toEqual({
      name: 'org.example::pulse',
      type: 'AQL',
      version: '1.0.0',
      saved: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      q: AQL,
    });
    expect(stored.headers.location).toMatch(
      /^http:\/\/[^/]+\/rest\/openehr\/v1\/definition\/query\/org\.example::pulse\/1\.0\.0$/,
    );
    expect((await get('/org.example::pulse/1.0.0')).body).toEqual(stored.body);
    expect((await request(app).get(new URL(stored.headers.location!).pathname)).status).toBe(200);
  });

  it('numbers versions as the path asks', async () => {
    const steps: [string, string][] = [
      ['count', '1.0.0'],
      ['count', '2.0.0'],
      ['count/1', '1.1.0'],
      ['count/1.1', '1.1.1'],
      ['count/4', '4.0.0'],
      ['count/4.7', '4.7.0'],
      ['count/4.7.9', '4.7.9'],
      ['count/4.7', '4.7.10'],
      ['count/6.0.0-rc.1', '6.0.0-rc.1'],
      ['count', '5.0.0'],
      ['count', '6.0.0'],
    ];
    for (const [path, version] of steps)
      expect([path, (await put(path)).body.version]).toEqual([path, version]);
  });

  it('numbers parallel requests without a gap', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => put('parallel')));
    const versions = answers.map(({ body }) => body.version as string).sort();
    expect(versions).toEqual(Array.from({ length: 8 }, (_, index) => `${index + 1}.0.0`));
  });

  it('never replaces a release, but a pre-release', async () => {
    expect((await put('fixed/1.2.3')).status).toBe(200);
    const again = await put('fixed/1.2.3');
    expect([again.status, again.body.error]).toEqual([409, 'Conflict']);
    expect((await put('fixed/1.3.0-beta')).status).toBe(200);
    const other = 'SELECT c FROM EHR e CONTAINS COMPOSITION c';
    expect((await put('fixed/1.3.0-beta', other)).status).toBe(200);
    expect((await get('/fixed/1.3.0-beta')).body.q).toBe(other);
  });

  it('takes the deprecated JSON body', async () => {
    const stored = await put('json', { q: AQL }, 'application/json');
    expect([stored.status, stored.body.q]).toEqual([200, AQL]);
  });

  it.each(['query_type=AQL', 'type=aql', 'query_type=aql&type=AQL'])('takes %s', async (query) => {
    expect((await put(`typed?${query}`)).status).toBe(200);
  });

  it.each([
    ['bad', ''],
    ['bad', '   '],
    ['bad', 'SELEKT'],
    ['bad', 'SELECT e FROM'],
    ['bad', `${AQL} WHERE`],
    ['bad?query_type=SQL', AQL],
    ['bad?type=XQuery', AQL],
    ['aql', AQL],
    ['org.example::AQL', AQL],
    ['a::b::c', AQL],
    ['::b', AQL],
    ['b::', AQL],
    ['b%20c', AQL],
    ['b%00', AQL],
    ['b%zz', AQL],
    ['b$ne', AQL],
    ['bad/1.', AQL],
    ['bad/v1', AQL],
    ['bad/1.0.0.0', AQL],
    ['bad/1.0.0-', AQL],
    ['bad/99999999999', AQL],
  ])('refuses %s with %j', async (path, body) => {
    const before = await storedCount();
    const refused = await put(path, body);
    expect([refused.status, refused.body.error]).toEqual([400, 'Bad Request']);
    expect(await storedCount()).toBe(before);
  });

  it.each([
    '{',
    '[]',
    '{}',
    '{"q":1}',
    '{"q":""}',
    '{"q":{"$gt":""}}',
    '"SELECT"',
    '{"__proto__":{"q":"x"}}',
  ])('refuses the JSON body %s', async (body) => {
    const before = await storedCount();
    expect((await put('bad', body, 'application/json')).status).toBe(400);
    expect(await storedCount()).toBe(before);
  });

  it('tells where the AQL cannot be read', async () => {
    const refused = await put('bad', 'SELECT e/ehr_id/value\nFORM EHR e');
    expect(refused.body.message).toMatch(/line 2/);
  });

  it('refuses other body types with 415 and an impossible Accept with 406', async () => {
    expect((await put('bad', AQL, 'application/xml')).status).toBe(415);
    expect((await put('bad').set('Accept', 'application/xml')).status).toBe(406);
    expect((await get('').set('Accept', 'text/csv')).status).toBe(406);
  });

  it('refuses POST and DELETE with 405', async () => {
    await put('kept/1.0.0');
    expect((await request(app).post(`${BASE}/kept`).set('Content-Type', 'text/plain').send(AQL)).status).toBe(
      405,
    );
    for (const path of ['/kept', '/kept/1.0.0']) {
      const refused = await request(app).delete(`${BASE}${path}`);
      expect([refused.status, refused.headers.allow]).toEqual([405, expect.stringContaining('GET')]);
    }
    expect((await get('/kept/1.0.0')).status).toBe(200);
  });
});

describe('GET stored query', () => {
  beforeAll(async () => {
    for (const version of ['1.0.0', '1.2.9', '1.2.10', '2.0.0', '3.0.0-rc.1']) await put(`chosen/${version}`);
  });

  it('gives the highest release that fits', async () => {
    const chosen = async (version: string) => (await get(`/chosen/${version}`)).body.version as string;
    expect(await chosen('1')).toBe('1.2.10');
    expect(await chosen('1.2')).toBe('1.2.10');
    expect(await chosen('1.0')).toBe('1.0.0');
    expect(await chosen('1.2.9')).toBe('1.2.9');
    expect(await chosen('3.0.0-rc.1')).toBe('3.0.0-rc.1');
  });

  it.each(['/chosen/3', '/chosen/3.0.0', '/chosen/1.3', '/unknown/1', '/chos/1'])(
    'answers 404 for %s',
    async (path) => {
      const unknown = await get(path);
      expect([unknown.status, unknown.body.error]).toEqual([404, 'Not Found']);
    },
  );

  it.each(['/chosen/latest', '/chosen/1.x', '/a::b::c/1', '/aql/1'])('answers 400 for %s', async (path) => {
    expect((await get(path)).status).toBe(400);
  });
});

describe('GET list of stored queries', () => {
  const names = ['org.one::bp', 'org.one::bp.high', 'org.two::bp', 'bp', 'pulse.bp'];

  beforeAll(async () => {
    await mongoose.connection.collection('stored_queries').deleteMany({});
    for (const name of names) await put(`${name}/1.0.0`);
    await put('bp/1.10.0');
    await put('bp/1.9.0');
    await put('bp/2.0.0-alpha');
    await put('bp/2.0.0');
  });

  it('lists by name, then version descending', async () => {
    expect(namesOf((await get('')).body)).toEqual([
      'bp/2.0.0',
      'bp/2.0.0-alpha',
      'bp/1.10.0',
      'bp/1.9.0',
      'bp/1.0.0',
      'org.one::bp/1.0.0',
      'org.one::bp.high/1.0.0',
      'org.two::bp/1.0.0',
      'pulse.bp/1.0.0',
    ]);
  });

  it.each([
    ['org.one', ['org.one::bp', 'org.one::bp.high']],
    ['org.', ['org.one::bp', 'org.one::bp.high', 'org.two::bp']],
    ['bp', ['bp', 'org.one::bp', 'org.two::bp']],
    ['bp.high', ['org.one::bp.high']],
    ['pulse', ['pulse.bp']],
    ['org.one::bp', ['org.one::bp']],
    ['org.one::', ['org.one::bp', 'org.one::bp.high']],
    ['::bp', ['bp', 'org.one::bp', 'org.two::bp']],
    ['::', [...names].sort()],
    ['org.one::b', []],
    ['nothing', []],
  ])('finds by the pattern %s', async (pattern, expected) => {
    const list = await get(`/${pattern}`);
    expect(list.status).toBe(200);
    const found = new Set((list.body as { name: string }[]).map(({ name }) => name));
    expect([...found].sort()).toEqual([...expected].sort());
  });

  it.each(['/a::b::c', '/a%20b', '/%5B%24ne%5D', '/.*%2B'])(
    'answers 400 for the pattern %s',
    async (path) => {
      expect((await get(path)).status).toBe(400);
    },
  );
});

describe('names that differ in case only, as an older release stored them', () => {
  const stored = () => mongoose.connection.collection<{ _id: string; name: string }>('stored_queries');
  const PAIR = ['ORG.pair::Pulse', 'org.pair::pulse'];

  it('are each found by its own spelling, are made no more, and upgrade lists them', async () => {
    await put('org.pair::pulse/1.0.0');
    await put('org.pair::alone/1.0.0');
    const first = await stored().findOne({ _id: 'org.pair::pulse/1.0.0' });
    await stored().insertOne({
      ...first,
      _id: 'ORG.pair::Pulse/1.0.0',
      name: 'ORG.pair::Pulse',
      aql: `${AQL} LIMIT 3`,
    } as never);
    for (const name of PAIR) expect((await get(`/${name}/1.0.0`)).body.name).toBe(name);
    expect(PAIR).toContain((await get('/Org.Pair::PULSE/1.0.0')).body.name);
    for (const name of [...PAIR, 'Org.Pair::PULSE'])
      expect([name, (await put(`${name}/1.0.0`, `${AQL} LIMIT 9`)).status]).toEqual([name, 409]);
    expect(await stored().countDocuments({ name: /pair::pulse/i })).toBe(2);
    const env = { MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() };
    for (const args of [['upgrade', '--dry-run'], ['upgrade']]) {
      const { code, stdout } = await runCommand(args, env);
      const told = stdout.split('\n').filter((line) => line.startsWith('stored queries'));
      expect([code, told]).toEqual([
        0,
        [`stored queries whose names differ in case only: ${PAIR.join(', ')}`],
      ]);
    }
  });
});
