import { once } from 'node:events';
import { createServer } from 'node:http';
import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  givenTemplate,
  versionedObjectUidOf,
  V1,
  versionUidOf,
} from '../../support/resources.js';
import { USER, WITH_ADMIN } from '../../support/tokens.js';

const app = testApp();
let ehrId = '';
let uid = '';

useDatabase();
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
  uid = await givenComposition(app, ehrId);
});

const byVersion = (): string => `${V1}/ehr/${ehrId}/composition/${uid}`;
const byObject = (): string => `${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`;

describe('the Host of a request, where the browser itself adds what lets it in,', () => {
  it.each([
    'localhost',
    'localhost:8080',
    'LOCALHOST.',
    'app.localhost:1',
    '127.0.0.1:8080',
    '127.8.9.1',
    '[::1]:80',
  ])('may be the machine itself: %s', async (host) => {
    expect((await request(app).get(byVersion()).set('Host', host)).status).toBe(200);
  });

  it.each([
    'rebind.evil.example:8080',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'notlocalhost',
    '10.0.0.1',
    '[2001:db8::1]',
  ])('may not be another name, which a page could bind to our address: %s', async (host) => {
    const answer = await request(app).get(byVersion()).set('Host', host);
    expect(answer.status).toBe(403);
    expect(answer.body.message).toContain('ALLOWED_HOSTS');
    expect(JSON.stringify([answer.headers, answer.body])).not.toContain(host);
  });

  it('may be what PUBLIC_BASE_URL and ALLOWED_HOSTS name', async () => {
    const known = testApp({
      publicBaseUrl: 'https://cdr.example.org/x',
      allowedHosts: ['a.example', 'b.example:81'],
    });
    const statuses: number[] = [];
    for (const host of ['cdr.example.org', 'A.example:9', 'b.example:81', 'b.example:82', 'c.example'])
      statuses.push((await request(known).get(byVersion()).set('Host', host)).status);
    expect(statuses).toEqual([200, 200, 200, 403, 403]);
  });

  it('is not validated for health questions, nor where only tokens let in', async () => {
    const health = request(app).get('/management/health/liveness').set('Host', '10.1.2.3:8080');
    expect((await health).status).toBe(200);
    const withTokens = testApp({ ...WITH_ADMIN, auth: 'jwt' });
    const read = request(withTokens).get(byVersion()).set('Host', 'evil.example').set('Authorization', USER);
    expect((await read).status).toBe(200);
  });

  it('is validated whatever a header of proxies says', async () => {
    const behind = testApp({ trustedProxies: ['127.0.0.0/8', '::1'] });
    const rebound = request(behind)
      .get(byVersion())
      .set({ Host: 'evil.example', 'X-Forwarded-Host': 'localhost' });
    expect((await rebound).status).toBe(403);
  });
});

describe('a write from a page', () => {
  const create = (server = app) => request(server).post(`${V1}/ehr/${ehrId}/composition`);
  const composition = JSON.stringify(aComposition());

  it.each([
    ['of another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://evil.example' }],
    ['of another port of this machine', { 'Sec-Fetch-Site': 'same-site', Origin: 'http://localhost:3000' }],
    ['of another origin, by an older browser', { Origin: 'http://evil.example' }],
    ['without origin', { Origin: 'null' }],
    ['whose browser tells no origin', { 'Sec-Fetch-Site': 'cross-site' }],
  ])('%s is refused, and writes nothing', async (_what, headers) => {
    const before = await dump();
    for (const call of [
      create().set(headers).send(composition),
      request(app).post(`${V1}/ehr`).set(headers),
      request(app).put(`${V1}/ehr/7d44b88c-4199-4bad-97dc-d78268e01398`).set(headers),
      request(app).delete(byVersion()).set(headers),
    ])
      expect((await call).status).toBe(403);
    expect(await dump()).toBe(before);
  });

  it('of its own origin, of one in CORS_ORIGINS, or by a program is taken', async () => {
    const server = createServer(testApp({ corsOrigins: ['https://app.example.org'] })).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as { port: number };
      for (const headers of [
        { Origin: `http://127.0.0.1:${port}`, 'Sec-Fetch-Site': 'same-origin' },
        { Origin: 'https://app.example.org', 'Sec-Fetch-Site': 'cross-site' },
        { 'Sec-Fetch-Site': 'none' },
        { 'User-Agent': 'a program' },
      ]) {
        const call = request(server)
          .post(`${V1}/ehr/${ehrId}/composition`)
          .set(headers as Record<string, string>);
        expect((await call.set('Content-Type', 'application/json').send(composition)).status).toBe(201);
      }
    } finally {
      server.close();
    }
  });

  it('may come from anywhere where only tokens let in', async () => {
    const withTokens = testApp({ ...WITH_ADMIN, auth: 'jwt' });
    const headers = {
      Authorization: USER,
      Origin: 'http://elsewhere.example',
      'Sec-Fetch-Site': 'cross-site',
    };
    expect((await create(withTokens).set(headers).send(aComposition())).status).toBe(201);
  });

  it('is not stopped from reading what CORS then hides from it', async () => {
    const answer = await request(app).get(byVersion()).set('Origin', 'http://evil.example');
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, undefined]);
  });
});

describe('Location', () => {
  it('never repeats a Host that is not ours', async () => {
    const withTokens = testApp({ ...WITH_ADMIN, auth: 'jwt', allowedHosts: ['cdr.example.org'] });
    const created = (host: string) =>
      request(withTokens).post(`${V1}/ehr`).set({ Host: host, Authorization: USER });
    expect((await created('evil.example')).headers.location).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/rest/);
    expect((await created('cdr.example.org:81')).headers.location).toMatch(
      /^http:\/\/cdr\.example\.org:81\/rest/,
    );
    expect((await created('localhost:81')).headers.location).toMatch(/^http:\/\/localhost:81\/rest/);
  });
});

describe('who may keep an answer', () => {
  const cacheControl = async (path: string, server = app): Promise<unknown> =>
    (await request(server).get(path)).headers['cache-control'];

  it('is nobody', async () => {
    for (const path of [
      byVersion(),
      byObject(),
      `${V1}/ehr/${ehrId}`,
      `${V1}/ehr/${ehrId}/ehr_status`,
      `${V1}/query/aql?q=${encodeURIComponent('SELECT e FROM EHR e')}`,
      `${V1}/ehr/${ehrId}/composition/none`,
      '/nowhere',
    ])
      expect([path, await cacheControl(path)]).toEqual([path, 'no-store']);
    const refused = await request(testApp({ ...WITH_ADMIN, auth: 'jwt' })).get(byVersion());
    expect([refused.status, refused.headers['cache-control']]).toEqual([401, 'no-store']);
    expect((await request(app).get(byVersion())).headers.vary).toContain('Accept');
  });

  it('with VERSION_CACHE_SECONDS is who read a version by its id', async () => {
    const keeping = testApp({ versionCacheSeconds: 60 });
    const kept = 'private, max-age=60, immutable';
    const status = versionUidOf(await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`));
    expect(await cacheControl(byVersion(), keeping)).toBe(kept);
    expect(await cacheControl(byVersion().replaceAll(':', '%3A'), keeping)).toBe(kept);
    expect(await cacheControl(`${V1}/ehr/${ehrId}/ehr_status/${status}`, keeping)).toBe(kept);
    for (const path of [
      byObject(),
      `${V1}/ehr/${ehrId}/ehr_status`,
      // An attestation may be added to it.
      `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}/version/${uid}`,
      `${byVersion()}1`,
    ])
      expect([path, await cacheControl(path, keeping)]).toEqual([path, 'no-store']);
  });

  it('with VERSION_CACHE_SECONDS is nobody where policies are enforced: who may see a version changes', async () => {
    const enforcing = testApp({ ...WITH_ADMIN, auth: 'jwt', accessMode: 'enforce', versionCacheSeconds: 60 });
    const read = await request(enforcing).get(byVersion()).set('Authorization', USER).expect(200);
    expect(read.headers['cache-control']).toBe('no-store');
  });

  it('is everybody for the files of the documentation page', async () => {
    expect(await cacheControl('/swagger-ui/swagger-ui.css')).toBe('public, max-age=86400');
  });
});

describe('If-None-Match', () => {
  const read = (path: string, tags: string) => request(app).get(path).set('If-None-Match', tags);

  it('with the version that is answered gives 304 without body', async () => {
    for (const tags of [`"${uid}"`, `W/"${uid}"`, `"other", W/"${uid}"`, '*']) {
      for (const path of [byVersion(), byObject()]) {
        const answer = await read(path, tags);
        expect([tags, answer.status, answer.text]).toEqual([tags, 304, '']);
        expect(answer.headers).toMatchObject({ etag: `"${uid}"`, 'cache-control': 'no-store' });
        expect(answer.headers['content-type']).toBeUndefined();
      }
    }
    expect((await request(app).head(byVersion()).set('If-None-Match', `"${uid}"`)).status).toBe(304);
    const status = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`);
    expect((await read(`${V1}/ehr/${ehrId}/ehr_status`, status.headers.etag ?? '')).status).toBe(304);
  });

  it('with anything else gives the whole', async () => {
    const [versionedObjectUid, system] = uid.split('::');
    for (const tags of [
      `"${versionedObjectUid}::${system}::2"`,
      `"${versionedObjectUid}"`,
      '""',
      uid,
      'nonsense',
    ])
      expect([tags, (await read(byObject(), tags)).status]).toEqual([tags, 200]);
  });

  it('counts only where the ETag names the version that is answered', async () => {
    const ehr = `${V1}/ehr/${ehrId}`;
    expect((await read(ehr, `"${ehrId}"`)).status).toBe(200);
    const query = `${V1}/query/aql?q=${encodeURIComponent('SELECT e/ehr_id/value FROM EHR e')}`;
    const { etag = '' } = (await request(app).get(query)).headers;
    expect((await read(query, etag)).status).toBe(200);
    expect(
      (await read(`${ehr}/versioned_composition/${versionedObjectUidOf(uid)}/version/${uid}`, `"${uid}"`))
        .status,
    ).toBe(200);
    expect((await read(`${ehr}/composition/${versionedObjectUidOf(uid)}::none::9`, '*')).status).toBe(404);
    expect((await read(`${V1}/definition/template/adl1.4/minimal_evaluation.en.v1`, '*')).status).toBe(200);
  });
});

describe('a preflight', () => {
  it('tells the settings of CORS and nothing else', async () => {
    const server = testApp({ ...WITH_ADMIN, auth: 'jwt', corsOrigins: ['https://app.example.org'] });
    const answer = await request(server)
      .options(byVersion())
      .set({ Origin: 'https://app.example.org', 'Access-Control-Request-Method': 'PUT' });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example.org',
      'access-control-max-age': '600',
    });
    expect(answer.headers.allow).toBeUndefined();
    const read = await request(server).get(byVersion()).set('Origin', 'https://app.example.org');
    expect(read.headers['access-control-expose-headers']).toContain('Everchart-Signature');
    expect(read.headers['access-control-expose-headers']).toContain('Retry-After');
    expect(read.headers['access-control-expose-headers']).toContain('WWW-Authenticate');
  });
});
