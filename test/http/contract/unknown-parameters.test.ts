import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';

import { PERMISSIONS } from '../../../config/settings.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { aComposition, dump, givenEhr, givenTemplate, V1 } from '../../support/resources.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
/** `*` is without restoring. */
const ALL = { rolePermissions: { ADMIN: [...PERMISSIONS] } };
const app = testApp({ ...WITH_ADMIN, ...ALL });
const strict = testApp({ ...WITH_ADMIN, ...ALL, strictParameters: true });
const Q = 'SELECT e/ehr_id/value FROM EHR e WHERE e/ehr_id/value != $other';

let ehrId = '';
beforeAll(async () => {
  ehrId = await givenEhr(app);
});

const asks = async (path: string, on = strict): Promise<[number, string]> => {
  const { status, body } = await request(on).get(path).set('Authorization', ADMIN);
  return [status, (body as { message?: string }).message ?? ''];
};

interface Grave {
  readonly method: 'delete' | 'post';
  readonly path: string;
  readonly takesJson: boolean;
}

/** Deletions, and what administration does, as the OpenAPI document has them; about ids that nobody has. */
async function graveOperations(): Promise<Grave[]> {
  const { body } = await request(app).get('/rest/openapi.json');
  const paths = body.paths as Record<string, Record<string, { requestBody?: { content: object } }>>;
  return Object.entries(paths).flatMap(([path, item]) =>
    (['delete', 'post'] as const).flatMap((method): Grave[] => {
      const operation = item[method];
      if (operation === undefined || (method === 'post' && !path.startsWith('/rest/admin'))) return [];
      const takesJson = method === 'post' && 'application/json' in (operation.requestBody?.content ?? {});
      return [{ method, path: path.replaceAll(/\{[^}]+\}/g, randomUUID()), takesJson }];
    }),
  );
}

describe('an unknown query parameter', () => {
  it('keeps a deletion from being carried out, whatever STRICT_PARAMETERS says', async () => {
    for (const on of [app, strict]) {
      const { status, body } = await request(on)
        .delete(`/rest/admin/ehr/${ehrId}?dry_run=true`)
        .set('Authorization', ADMIN);
      expect([status, body.message]).toEqual([
        400,
        'the query parameter dry_run is not known; known are cascade, reason, requested_by',
      ]);
      expect((await asks(`${V1}/ehr/${ehrId}`))[0]).toBe(200);
    }
  });

  it('is named with the nearest known one', async () => {
    expect(await asks(`${V1}/ehr/${ehrId}?inlude=compositions`)).toEqual([
      400,
      'the query parameter inlude is not known; did you mean include?',
    ]);
    expect(await asks('/rest/admin/audit?uesr=x')).toEqual([
      400,
      'the query parameter uesr is not known; did you mean user?',
    ]);
    expect((await asks(`${V1}/ehr/${ehrId}?a=1&b=2`))[1]).toContain('parameter b is not known');
  });

  it('is ignored with a warning that names it, unless STRICT_PARAMETERS=true', async () => {
    const answer = await request(app).get(`${V1}/ehr/${ehrId}?inlude=compositions`);
    expect(answer.status).toBe(200);
    expect(answer.headers['warning']).toBe(
      '299 everchart "the query parameter inlude is not known; did you mean include? (ignored)"',
    );
    expect((await asks(`${V1}/ehr/${ehrId}?inlude=compositions`))[0]).toBe(400);
  });

  it('is passed over in silence where clients send it to whatever operation, but not by a deletion', async () => {
    const query = 'format=JSON&templateId=x&ehr_id=y&composition_id=z';
    for (const on of [app, strict]) {
      const answer = await request(on).get(`${V1}/ehr/${ehrId}/ehr_status?${query}`);
      expect([answer.status, answer.headers['warning']]).toEqual([200, undefined]);
      const q = new URLSearchParams({ q: 'SELECT e/ehr_id/value FROM EHR e', format: 'RAW' }).toString();
      const rows = await request(on).get(`${V1}/query/aql?${q}`);
      expect([rows.status, rows.headers['warning']]).toEqual([200, undefined]);
      const deletion = await request(on)
        .delete(`/rest/admin/ehr/${ehrId}?ehr_id=x`)
        .set('Authorization', ADMIN);
      expect(deletion.status).toBe(400);
    }
  });

  it('keeps a merge from being carried out', async () => {
    const merge = (on: typeof app) =>
      request(on).post('/rest/admin/ehr/merge?dryrun=true').set('Authorization', ADMIN).send({});
    for (const on of [app, strict]) {
      const { status, body } = await merge(on);
      expect([status, body.message]).toEqual([400, expect.stringContaining('parameter dryrun is not known')]);
    }
  });

  it('keeps everything from being carried out that cannot be taken back: each deletion, each act of administration', async () => {
    const before = await dump();
    const found = await graveOperations();
    expect(found.length).toBeGreaterThan(20);
    for (const { method, path } of found) {
      const asked = request(app)[method](`${path}?colour=red`).set('Authorization', ADMIN);
      const { status, body } = await asked;
      expect([method, path, status, body.message]).toEqual([
        ...[method, path, 400],
        expect.stringContaining('the query parameter colour is not known'),
      ]);
    }
    expect(await dump()).toBe(before);
  });

  it('is as little taken as a member of the body of an act of administration', async () => {
    const before = await dump();
    const acts = (await graveOperations()).filter(({ takesJson }) => takesJson);
    expect(acts.length).toBeGreaterThan(3);
    for (const { path } of acts) {
      const { status, body } = await request(app)
        .post(path)
        .set('Authorization', ADMIN)
        .send({ colour: 'red' });
      // An EXTRACT is refused for what it is not, before any member of it is read.
      const told = expect.stringMatching(/colour|should be type EXTRACT/);
      expect([path, status, JSON.stringify(body)]).toEqual([path, 400, told]);
    }
    expect(await dump()).toBe(before);
  });

  it('is refused in great numbers with a short answer', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `p${i}=1`).join('&');
    const [status, message] = await asks(`${V1}/ehr/${ehrId}?${many(1_000)}`);
    expect([status, message.length < 2_000]).toEqual([400, true]);
    expect(message).toContain('and 990 more');
    expect((await asks(`${V1}/ehr/${ehrId}?${many(1_001)}`))[1]).toContain('at most 1000 query parameters');
  });
});

describe('a query', () => {
  const get = (parameters: Record<string, string>, on = strict) =>
    asks(`${V1}/query/aql?${new URLSearchParams(parameters).toString()}`, on);

  it('takes its variables from GET and refuses those it does not have', async () => {
    expect((await get({ q: Q, other: randomUUID() }))[0]).toBe(200);
    expect(await get({ q: Q, other: 'x', othr: 'y', form: 'csv' })).toEqual([
      400,
      'the query has no parameter $othr; did you mean other?; the query has no parameter $form',
    ]);
    const warned = await request(app).get(`${V1}/query/aql`).query({ q: Q, other: 'x', othr: 'y' });
    expect(warned.status).toBe(200);
    expect(warned.headers['warning']).toContain('the query has no parameter $othr; did you mean other?');
  });

  it('refuses members of a body that it does not know', async () => {
    const post = async (body: object) => {
      const answer = await request(strict).post(`${V1}/query/aql`).send(body);
      return [answer.status, (answer.body as { message?: string }).message];
    };
    const q = 'SELECT e/ehr_id/value FROM EHR e';
    expect(await post({ q, limit: 3, fetsh: 1 })).toEqual([
      400,
      'the member limit is not known; known are q, ehr_id, offset, fetch, query_parameters, as_of; ' +
        'the member fetsh is not known; did you mean fetch?',
    ]);
    expect((await post({ query: q }))[0]).toBe(400);
    const warned = await request(app).post(`${V1}/query/aql`).send({ q, fetsh: 1 });
    expect(warned.status).toBe(200);
    expect(warned.headers['warning']).toContain(
      'the member fetsh is not known; did you mean fetch? (ignored)',
    );
  });
});

describe('a parameter of another operation', () => {
  it('is refused, and nothing is written', async () => {
    await givenTemplate(app, 'minimal_evaluation.en.v1');
    const path = `${V1}/ehr/${ehrId}/composition?version_at_time=2026-01-01T00:00:00Z`;
    expect((await request(strict).post(path).send(aComposition())).status).toBe(400);
    const { body } = await request(app).get(`${V1}/ehr/${ehrId}?include=compositions`);
    expect(body.compositions).toEqual([]);
  });
});
