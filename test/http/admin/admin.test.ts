import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { eraseEhr, resumeErasures } from '../../../maintenance/erase.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { givenTemplate } from '../../support/resources.js';
import { ADMIN, bearer, USER, WITH_ADMIN } from '../../support/tokens.js';

const V1 = '/rest/openehr/v1';
const O = '/rest/admin';
const TEMPLATE = 'minimal_evaluation.en.v1';

useDatabase();

function fixture(path: string): string {
  return readFileSync(new URL(`../../fixtures/openehr/${path}`, import.meta.url), 'utf8');
}

const opt = fixture(`opt/${TEMPLATE}.opt`);
const otherOpt = fixture('opt/minimal_admin.en.v1.opt');
const app = testApp(WITH_ADMIN);

function composition(): Record<string, unknown> {
  const body = JSON.parse(fixture(`composition/${TEMPLATE}.json`)) as Record<string, unknown>;
  delete body.uid;
  return body;
}

async function uid(call: request.Test): Promise<string> {
  const response = await call;
  expect([response.status, response.text]).toEqual([201, '']);
  return response.headers.etag!.replaceAll('"', '');
}

const anEhr = (): Promise<string> => uid(request(app).post(`${V1}/ehr`));
const aComposition = (ehrId: string): Promise<string> =>
  uid(request(app).post(`${V1}/ehr/${ehrId}/composition`).send(composition()));
const aDirectory = (ehrId: string): Promise<string> =>
  uid(
    request(app)
      .post(`${V1}/ehr/${ehrId}/directory`)
      .send({
        _type: 'FOLDER',
        name: { _type: 'DV_TEXT', value: 'root' },
        archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
      }),
  );

type Method = 'get' | 'put' | 'post' | 'delete';
const admin = (method: Method, path: string): request.Test =>
  request(app)[method](`${O}${path}`).set('Authorization', ADMIN);

async function documents(ehrId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [name, field] of Object.entries({
    versions: 'ehr_id',
    versioned_objects: 'ehr_id',
    contributions: 'ehr_id',
    aql: 'ehr',
    item_tags: 'owner_id',
    ehrs: '_id',
  })) {
    counts[name] = await mongoose.connection.collection(name).countDocuments({ [field]: ehrId });
  }
  return counts;
}

// One of the cases deletes all templates.
beforeEach(() => givenTemplate(app, TEMPLATE));

describe('access to the administration API', () => {
  const id = randomUUID();
  const operations: [Method, string][] = [
    ['get', '/status'],
    ['put', `/template/${TEMPLATE}`],
    ['delete', `/template/${TEMPLATE}`],
    ['delete', '/template/all'],
    ['put', `/ehr/${id}`],
    ['delete', `/ehr/${id}`],
    ['put', `/ehr/${id}/contribution/${id}`],
    ['delete', `/ehr/${id}/contribution/${id}`],
    ['delete', `/ehr/${id}/composition/${id}`],
    ['delete', `/ehr/${id}/directory/${id}`],
    ['delete', '/query/org.example::q/1.0.0'],
    ['get', '/audit'],
    ['get', `/ehr/${id}/access`],
  ];

  it.each(operations)('%s %s: 401, 403 and, when it is not active, 404', async (method, path) => {
    const call = (header?: string) => {
      const test = request(app)[method](`${O}${path}`);
      return header === undefined ? test : test.set('Authorization', header);
    };
    expect((await call()).status).toBe(401);
    expect((await call(bearer(['ADMIN'], 'root', -120))).status).toBe(401);
    expect((await call(USER)).status).toBe(403);
    const inactive = request(testApp({ ...WITH_ADMIN, adminApiActive: false }))[method](`${O}${path}`);
    expect((await inactive.set('Authorization', ADMIN)).status).toBe(404);
  });

  it('says so when it is active and permitted, as JSON and as XML', async () => {
    const json = await admin('get', '/status');
    expect([json.status, json.body]).toEqual([200, { message: 'Admin API available and permitted' }]);
    const xml = await admin('get', '/status').set('Accept', 'application/xml');
    expect(xml.text).toContain(
      '<AdminStatusResponseData><message>Admin API available and permitted</message>',
    );
  });

  it('repeats the record of the operation with neutral values in errors, as JSON and as XML', async () => {
    const json = await admin('delete', `/ehr/${randomUUID()}`);
    expect([json.status, json.body]).toMatchObject([404, { deleted: 0, error: 'Not Found' }]);
    const update = await admin('put', `/ehr/${randomUUID()}`);
    expect([update.status, update.body]).toMatchObject([404, { updated: 0, error: 'Not Found' }]);
    const xml = await admin('delete', `/ehr/${randomUUID()}`).set('Accept', 'application/xml');
    expect(xml.text).toContain('<AdminDeleteResponseData><deleted>0</deleted><error>Not Found</error>');
  });
});

describe('deleteEhr', () => {
  it('removes everything of the EHR and nothing of another one', async () => {
    const ehrId = await anEhr();
    const other = await anEhr();
    await aComposition(ehrId);
    await aDirectory(ehrId);
    await aComposition(other);
    const before = await documents(other);
    expect((await admin('delete', `/ehr/${ehrId}`)).status).toBe(204);
    expect(Object.values(await documents(ehrId))).toEqual([0, 0, 0, 0, 0, 0]);
    expect(await documents(other)).toEqual(before);
    expect((await request(app).get(`${V1}/ehr/${ehrId}`)).status).toBe(404);
    expect((await admin('delete', `/ehr/${ehrId}`)).status).toBe(404);
    expect((await admin('delete', '/ehr/not an id')).status).toBe(400);
  });

  it('is refused, and removes nothing, where no form of an answer is acceptable', async () => {
    const ehrId = await anEhr();
    expect((await admin('delete', `/ehr/${ehrId}`).set('Accept', 'text/csv')).status).toBe(406);
    expect((await request(app).get(`${V1}/ehr/${ehrId}`)).status).toBe(200);
  });

  it('frees the subject and the id', async () => {
    const subject = {
      namespace: 'hospital',
      id: { _type: 'GENERIC_ID', value: randomUUID(), scheme: 'mrn' },
    };
    const status = {
      _type: 'EHR_STATUS',
      subject: { _type: 'PARTY_SELF', external_ref: { _type: 'PARTY_REF', type: 'PERSON', ...subject } },
    };
    const ehrId = await uid(request(app).post(`${V1}/ehr`).send(status));
    expect((await request(app).post(`${V1}/ehr`).send(status)).status).toBe(409);
    expect((await admin('delete', `/ehr/${ehrId}`)).status).toBe(204);
    expect((await request(app).put(`${V1}/ehr/${ehrId}`).send(status)).status).toBe(201);
  });

  it('of an EHR too large for one transaction goes in steps and leaves nothing either', async () => {
    const ehrId = await anEhr();
    await aComposition(ehrId);
    await aDirectory(ehrId);
    await eraseEhr(ehrId, { versionsAtOnce: 2 });
    expect(Object.values(await documents(ehrId))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('that was interrupted hides the EHR at once and is ended by the next start', async () => {
    const ehrId = await anEhr();
    await aComposition(ehrId);
    await mongoose.connection
      .collection('ehrs')
      .updateOne({ _id: ehrId as never }, { $set: { state: 'deleting' } });
    expect((await request(app).get(`${V1}/ehr/${ehrId}`)).status).toBe(404);
    expect((await request(app).post(`${V1}/ehr/${ehrId}/composition`).send(composition())).status).toBe(404);
    expect(await resumeErasures()).toBe(1);
    expect(Object.values(await documents(ehrId))).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

describe('updateEhr', () => {
  it('answers 0 without a body and writes an amendment of the EHR_STATUS with one', async () => {
    const ehrId = await anEhr();
    expect((await admin('put', `/ehr/${ehrId}`)).body).toEqual({ updated: 0 });
    const status = {
      _type: 'EHR_STATUS',
      archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
      subject: { _type: 'PARTY_SELF' },
      is_queryable: true,
      is_modifiable: false,
    };
    const updated = await admin('put', `/ehr/${ehrId}`).send(status);
    expect([updated.status, updated.body]).toEqual([200, { updated: 1 }]);
    const version = await request(app).get(`${V1}/ehr/${ehrId}/versioned_ehr_status/version`);
    expect(version.body.commit_audit.change_type.defining_code.code_string).toBe('250');
    expect(version.body.commit_audit.committer.name).toBe('root-admin');
    expect(version.body.data.is_modifiable).toBe(false);
    expect((await admin('put', `/ehr/${ehrId}`).send({ _type: 'FOLDER' })).status).toBe(400);
    expect((await admin('put', `/ehr/${randomUUID()}`).send(status)).status).toBe(404);
  });
});

describe('updateEhr with an Idempotency-Key', () => {
  it('writes one version however often it is sent, and refuses the key of another body', async () => {
    const ehrId = await anEhr();
    const status = {
      _type: 'EHR_STATUS',
      archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
      subject: { _type: 'PARTY_SELF' },
      is_queryable: true,
      is_modifiable: true,
    };
    const send = (body: object) =>
      admin('put', `/ehr/${ehrId}`).set('Idempotency-Key', 'updated once').send(body);
    const answers = [await send(status), await send(status)];
    expect(answers.map(({ status: code, body }) => [code, body])).toEqual([
      [200, { updated: 1 }],
      [200, { updated: 1 }],
    ]);
    expect((await send({ ...status, is_modifiable: false })).status).toBe(422);
    const history = await request(app).get(`${V1}/ehr/${ehrId}/versioned_ehr_status/revision_history`);
    expect(history.body.items).toHaveLength(2);
    expect((await send(status).set('Idempotency-Key', 'é')).status).toBe(400);
  });
});

describe('CONTRIBUTIONs', () => {
  it('are answered but never changed by updateContribution', async () => {
    const ehrId = await anEhr();
    await aComposition(ehrId);
    const ehr = await request(app).get(`${V1}/ehr/${ehrId}?include=contributions`);
    const contributionUid = ehr.body.contributions[0].id.value as string;
    const found = await admin('put', `/ehr/${ehrId}/contribution/${contributionUid}`).send({ anything: 1 });
    expect([found.status, found.body]).toEqual([200, { updated: 0 }]);
    expect((await admin('put', `/ehr/${ehrId}/contribution/${randomUUID()}`)).status).toBe(404);
    expect((await admin('put', `/ehr/${ehrId}/contribution/x`)).status).toBe(400);
  });

  it('cannot be deleted: 501 before any lookup', async () => {
    const response = await admin('delete', '/ehr/whatever/contribution/whatever');
    expect([response.status, response.body.deleted]).toEqual([501, 0]);
  });
});

describe.each([
  ['deleteComposition', 'composition', aComposition],
  ['deleteDirectory', 'directory', aDirectory],
] as const)('%s', (_, segment, make) => {
  let ehrId = '';
  let versionUid = '';
  beforeEach(async () => {
    ehrId = await anEhr();
    versionUid = await make(ehrId);
  });

  it('removes the whole container, whichever of its ids is named', async () => {
    const [versionedObjectUid] = versionUid.split('::');
    const first = await admin('delete', `/ehr/${ehrId}/${segment}/${versionUid}`);
    expect([first.status, first.body]).toEqual([200, { deleted: 1 }]);
    expect((await admin('delete', `/ehr/${ehrId}/${segment}/${versionedObjectUid}`)).status).toBe(404);
    expect((await request(app).get(`${V1}/ehr/${ehrId}/${segment}/${versionUid}`)).status).toBe(404);
    expect(await mongoose.connection.collection('aql').countDocuments({ vo: versionedObjectUid! })).toBe(0);
    const again = await make(ehrId);
    const xml = await admin('delete', `/ehr/${ehrId}/${segment}/${again}`).set('Accept', 'application/xml');
    expect(xml.text).toContain('<AdminDeleteResponseData><deleted>1</deleted></AdminDeleteResponseData>');
  });

  it('removes nothing for a version that does not exist', async () => {
    const others = [versionUid.replace(/1$/, '9'), versionUid.replace('::local.cdr::', '::other.cdr::')];
    for (const other of others) {
      expect((await admin('delete', `/ehr/${ehrId}/${segment}/${other}`)).status).toBe(404);
    }
    expect((await request(app).get(`${V1}/ehr/${ehrId}/${segment}/${versionUid}`)).status).toBe(200);
  });

  it('keeps the CONTRIBUTION', async () => {
    await admin('delete', `/ehr/${ehrId}/${segment}/${versionUid}`);
    const ehr = await request(app).get(`${V1}/ehr/${ehrId}?include=contributions`);
    expect(ehr.body.contributions).toHaveLength(2);
  });

  it('knows nothing of objects of another EHR and refuses malformed ids', async () => {
    expect((await admin('delete', `/ehr/${await anEhr()}/${segment}/${versionUid}`)).status).toBe(404);
    expect((await admin('delete', `/ehr/${ehrId}/${segment}/nonsense`)).status).toBe(400);
  });
});

describe('stored queries', () => {
  it('are deleted by exact version', async () => {
    const name = 'org.example::admin_test';
    const stored = await request(app)
      .put(`${V1}/definition/query/${name}/1.2.3`)
      .set('Content-Type', 'text/plain')
      .send('SELECT e/ehr_id/value FROM EHR e');
    expect(stored.status).toBe(200);
    expect((await admin('delete', `/query/${name}/1.2`)).status).toBe(400);
    const deleted = await admin('delete', `/query/${name}/1.2.3`);
    expect([deleted.status, deleted.text]).toEqual([200, '']);
    expect((await admin('delete', `/query/${name}/1.2.3`)).status).toBe(404);
  });
});

describe('templates', () => {
  const put = (id: string, body: string) =>
    admin('put', `/template/${id}`).set('Content-Type', 'application/xml').send(body);

  it('in use are neither updated nor deleted, not even when all their compositions are deleted', async () => {
    const ehrId = await anEhr();
    const versionUid = await aComposition(ehrId);
    await request(app).delete(`${V1}/ehr/${ehrId}/composition/${versionUid}`);
    const deleted = await admin('delete', `/template/${TEMPLATE}`);
    expect([deleted.status, deleted.body]).toMatchObject([
      422,
      {
        deleted: 0,
        message: `Cannot delete template ${TEMPLATE} since it is used by at least one composition`,
      },
    ]);
    expect((await put(TEMPLATE, opt)).status).toBe(422);
    expect((await admin('delete', '/template/all')).status).toBe(422);
    expect((await request(app).get(`${V1}/definition/template/adl1.4/${TEMPLATE}`)).status).toBe(200);
  });

  it('not in use are updated and deleted', async () => {
    const path = `${V1}/definition/template/adl1.4`;
    await request(app).post(path).set('Content-Type', 'application/xml').send(otherOpt);
    const id = 'minimal_admin.en.v1';
    const changed = otherOpt.replace('<template_id>', '<!-- changed --><template_id>');
    const updated = await put(id, changed);
    expect([updated.status, updated.text]).toEqual([200, changed]);
    const json = await put(id, changed).set('Accept', 'application/json');
    expect(json.body).toBe(changed);
    expect((await put(id, opt)).status).toBe(400);
    expect((await put(id, '')).status).toBe(400);
    const broken = await put(id, '{"not":"xml"}');
    expect(broken.body.message).toContain('error: Content is not allowed in prolog.');
    expect((await put('unknown', otherOpt)).body.message).toBe(
      "Template with template_id 'unknown' does not exist",
    );
    const deleted = await admin('delete', `/template/${id}`);
    expect([deleted.status, deleted.body]).toEqual([202, { deleted: 1 }]);
    expect((await admin('delete', `/template/${id}`)).status).toBe(404);
  });

  it('are deleted all at once, unless that is switched off', async () => {
    const off = request(testApp({ ...WITH_ADMIN, adminAllowDeleteAll: false })).delete(`${O}/template/all`);
    expect((await off.set('Authorization', ADMIN)).status).toBe(405);
    for (const name of ['versions', 'versioned_objects', 'aql']) {
      await mongoose.connection.collection(name).deleteMany({});
    }
    expect((await admin('delete', '/template/all')).body).toEqual({ deleted: 1 });
    expect((await admin('delete', '/template/all')).body).toEqual({ deleted: 0 });
  });
});

describe('the audit', () => {
  it('tells of every call who, when, what, about which EHR and with what outcome', async () => {
    const ehrId = await anEhr();
    await admin('delete', `/ehr/${ehrId}/composition/${randomUUID()}`);
    const deletion = await admin('delete', `/ehr/${ehrId}`).set('X-Request-Id', 'of the client');
    await request(app).delete(`${O}/ehr/${ehrId}`).set('Authorization', USER);
    const { body } = await admin('get', `/audit?ehr_id=${ehrId}`);
    expect(body).toMatchObject([
      { user: 'ada', operation: 'deleteEhr', ehr_id: ehrId, status: 403 },
      {
        user: 'root-admin',
        operation: 'deleteEhr',
        ehr_id: ehrId,
        status: 204,
        request_id: deletion.headers['x-request-id'] as string,
      },
      { user: 'root-admin', operation: 'deleteComposition', ehr_id: ehrId, status: 404 },
      { user: 'anonymous', operation: 'ehr_create', ehr_id: ehrId, status: 201 },
    ]);
    const refused = (await admin('get', '/audit?user=ada')).body as { status: number }[];
    expect(refused.every(({ status }) => status === 403)).toBe(true);
    expect(refused.length).toBeGreaterThan(0);
  });

  it('answers who looked at a record, also after it is gone', async () => {
    const ehrId = await anEhr();
    await admin('delete', `/ehr/${ehrId}`);
    const { status, body } = await admin('get', `/ehr/${ehrId}/access`);
    expect([status, body.map((entry: { operation: string }) => entry.operation)]).toEqual([
      200,
      ['deleteEhr', 'ehr_create'],
    ]);
    const unknown = randomUUID();
    for (const attempt of [1, 2]) {
      const { status: answered } = await admin('get', `/ehr/${unknown}/access`);
      expect([attempt, answered]).toEqual([attempt, 404]);
    }
  });

  it('is paged and filtered by time', async () => {
    for (let made = 0; made < 3; made += 1) await anEhr();
    const page = (await admin('get', '/audit?offset=1&fetch=2')).body as { time: string }[];
    expect(page).toHaveLength(2);
    expect(page[0]!.time >= page[1]!.time).toBe(true);
    expect((await admin('get', '/audit?to=2020-01-01T00:00:00Z')).body).toEqual([]);
    for (const bad of ['fetch=1001', 'fetch=0', 'offset=-1', 'from=yesterday', 'ehr_id=%20']) {
      const { status, body } = await admin('get', `/audit?${bad}`);
      expect([bad, status]).toEqual([bad, 400]);
      expect(JSON.stringify(body)).toContain(bad.split('=')[0]);
    }
  });
});

describe('AUDIT_READS', () => {
  it('records who read which EHR, when and by what operation', async () => {
    const auditing = testApp({ ...WITH_ADMIN, auditReads: true, auth: 'jwt' });
    const grace = bearer(['USER'], 'grace');
    const call = (path: string) => request(auditing).get(`${V1}${path}`).set('Authorization', grace);
    const ehrId = await anEhr();
    await call(`/ehr/${ehrId}`);
    await call(`/ehr/${ehrId}/ehr_status`);
    await call(`/ehr/${ehrId}/composition/${randomUUID()}`);
    await call('/definition/template/adl1.4');
    const { body } = await admin('get', `/ehr/${ehrId}/access`);
    expect(body).toMatchObject([
      {
        user: 'grace',
        operation: 'composition_get',
        ehr_id: ehrId,
        status: 404,
      },
      { user: 'grace', operation: 'ehr_status_get_at_time', ehr_id: ehrId, status: 200 },
      { user: 'grace', operation: 'ehr_get_by_id', ehr_id: ehrId, status: 200 },
      { user: 'anonymous', operation: 'ehr_create', ehr_id: ehrId, status: 201 },
    ]);
    expect((await admin('get', '/audit?user=grace')).text).not.toContain('/definition/');
  });

  it('records no read when it is off', async () => {
    const ehrId = await anEhr();
    await request(app).get(`${V1}/ehr/${ehrId}`);
    const { body } = await admin('get', `/ehr/${ehrId}/access`);
    expect(body).toMatchObject([{ operation: 'ehr_create' }]);
  });
});
