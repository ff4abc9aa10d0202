import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import mongoose from 'mongoose';
import request from 'supertest';
import jwt from 'jsonwebtoken';
import { verifyStorage } from '../../../maintenance/verify.js';
import { Contribution } from '../../../models/contribution.js';
import { creation, statusOf } from '../../support/api/world.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { aComposition, dump, givenTemplate, V1, versionUidOf, type Json } from '../../support/resources.js';
import { TEST_JWT_SECRET } from '../../support/settings.js';
import { ADMIN, WITH_ADMIN } from '../../support/tokens.js';

useDatabase();

const ISSUER = 'https://id.example.org/realms/clinic';
const BOB = `Bearer ${jwt.sign(
  { preferred_username: 'bob', azp: 'ward-app', roles: ['USER'] },
  TEST_JWT_SECRET,
  {
    subject: 'staff-f3a1',
    issuer: ISSUER,
    expiresIn: 600,
  },
)}`;
const CHIEF = 'committer.name="Dr. Chief Physician"';
const app = testApp({ ...WITH_ADMIN, auth: 'jwt' });
const strict = testApp({ ...WITH_ADMIN, auth: 'jwt', committerMustBeUser: true });
let ehrId = '';

beforeAll(async () => {
  await givenTemplate(testApp());
  const made = await request(app).post(`${V1}/ehr`).set('Authorization', BOB);
  ehrId = versionUidOf(made);
});

const post = (path: string, of: RequestListener = app, authorization = BOB) =>
  request(of).post(`${V1}${path}`).set('Authorization', authorization);
const composition = (of: RequestListener = app, authorization = BOB) =>
  post(`/ehr/${ehrId}/composition`, of, authorization);
const party = (name: string, more: object = {}): object => ({ _type: 'PARTY_IDENTIFIED', name, ...more });

/** A CONTRIBUTION with one new COMPOSITION; each part names a committer, or none. */
function contribution(committers: { whole?: object; version?: object; attestation?: object }): Json {
  const body = creation(aComposition()) as Json;
  const [version] = body['versions'] as [Json];
  if (committers.whole !== undefined)
    body['audit'] = {
      _type: 'AUDIT_DETAILS',
      committer: committers.whole,
      change_type: version['commit_audit'].change_type,
    };
  if (committers.version !== undefined) version['commit_audit'].committer = committers.version;
  if (committers.attestation !== undefined)
    version['attestations'] = [
      {
        _type: 'ATTESTATION',
        committer: committers.attestation,
        reason: { _type: 'DV_TEXT', value: 'signed' },
        is_pending: false,
      },
    ];
  return body;
}

/** The stored CONTRIBUTION that a request made. */
async function storedBy(requestId: string): Promise<Json> {
  const [stored, ...others] = await Contribution.find({ 'authenticated.request_id': requestId }).exec();
  expect(others).toEqual([]);
  expect(stored).toBeDefined();
  return stored!;
}

describe('every CONTRIBUTION', () => {
  const identity = { sub: 'staff-f3a1', iss: ISSUER, client_id: 'ward-app' };

  it('keeps who was authenticated beside the committer that was claimed', async () => {
    const made = await composition()
      .set('openEHR-AUDIT_DETAILS', CHIEF)
      .set('X-Request-Id', 'forged-by-bob')
      .send(aComposition());
    expect(made.status).toBe(201);
    const stored = await storedBy(String(made.headers['x-request-id']));
    expect(stored['audit'].committer).toMatchObject({ name: 'Dr. Chief Physician' });
    expect(stored['authenticated']).toEqual({ ...identity, request_id: made.headers['x-request-id'] });
    const shown = await request(app)
      .get(`${V1}/ehr/${ehrId}/contribution/${String(stored['_id'])}`)
      .set('Authorization', BOB);
    expect(shown.status).toBe(200);
    expect(Object.keys(shown.body as object)).toEqual(['_type', 'uid', 'versions', 'audit']);
    expect(shown.text).not.toContain('staff-f3a1');
  });

  it('keeps it in whichever way it is made', async () => {
    const folder = {
      _type: 'FOLDER',
      name: { _type: 'DV_TEXT', value: 'root' },
      archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
    };
    const status = await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`).set('Authorization', BOB);
    const calls: (() => request.Test)[] = [
      () => post('/ehr'),
      () => post(`/ehr/${ehrId}/directory`).send(folder),
      () => post(`/ehr/${ehrId}/contribution`).send(contribution({ whole: party('Prof. Nobody') })),
      () => post('/ehr').send(statusOf(randomUUID())),
      () =>
        request(app)
          .put(`${V1}/ehr/${ehrId}/ehr_status`)
          .set('Authorization', BOB)
          .set('If-Match', versionUidOf(status))
          .send(status.body as object),
    ];
    for (const call of calls) {
      const made = await call();
      expect([200, 201, 204]).toContain(made.status);
      const stored = await storedBy(String(made.headers['x-request-id']));
      expect(stored['authenticated']).toMatchObject(identity);
    }
  });

  it('keeps the administrator who updated or merged EHRs', async () => {
    const [source, target] = [versionUidOf(await post('/ehr')), versionUidOf(await post('/ehr'))];
    for (const ehr of [source, target]) {
      const folder = { ...aFolder(ehr), items: [] };
      expect((await post(`/ehr/${ehr}/directory`).send(folder)).status).toBe(201);
    }
    const merge = { source_ehr: source, target_ehr: target, reversible: true, folder_merge: 'COPY' };
    const merged = await request(app).post('/rest/admin/ehr/merge').set('Authorization', ADMIN).send(merge);
    expect(merged.status).toBe(200);
    const joined = await storedBy(String(merged.headers['x-request-id']));
    expect(joined['authenticated']).toMatchObject({ sub: 'root-admin' });
  });

  it('has the request alone with AUTH=none', async () => {
    const made = await request(testApp()).post(`${V1}/ehr`).set('Authorization', BOB);
    const stored = await storedBy(String(made.headers['x-request-id']));
    expect(stored['authenticated']).toEqual({ request_id: made.headers['x-request-id'] });
  });

  it('cannot be told otherwise by its body', async () => {
    const body = { ...contribution({}), authenticated: { sub: 'root' } };
    expect((await post(`/ehr/${ehrId}/contribution`).send(body)).status).toBe(400);
  });

  it('is validated by verify', async () => {
    expect((await verifyStorage()).violations).toEqual([]);
    const made = await composition().send(aComposition());
    const { _id: uid } = await storedBy(String(made.headers['x-request-id']));
    const collection = mongoose.connection.collection<{ _id: string }>('contributions');
    for (const authenticated of [
      'bob',
      {},
      { sub: 'bob' },
      { request_id: 7 },
      { iss: 'i', request_id: 'r' },
    ]) {
      await collection.updateOne({ _id: uid as string }, { $set: { authenticated } });
      const { violations } = await verifyStorage();
      expect(violations).toEqual([
        { kind: 'contributions', id: uid, message: 'authenticated does not tell who sent a request' },
      ]);
    }
    await collection.updateOne({ _id: uid as string }, { $unset: { authenticated: 1 } });
    expect((await verifyStorage()).violations).toEqual([]);
  });
});

describe('with COMMITTER_MUST_BE_USER a user', () => {
  const reference = {
    external_ref: {
      _type: 'PARTY_REF',
      id: { _type: 'GENERIC_ID', value: '4711', scheme: 'id_scheme' },
      namespace: 'staff',
      type: 'PERSON',
    },
  };

  it('commits in his own name, said or not', async () => {
    expect((await composition(strict).send(aComposition())).status).toBe(201);
    const said = composition(strict).set('openEHR-AUDIT_DETAILS', 'committer.name="bob"');
    expect((await said.send(aComposition())).status).toBe(201);
    const body = contribution({ whole: party('bob'), version: party('bob'), attestation: party('bob') });
    expect((await post(`/ehr/${ehrId}/contribution`, strict).send(body)).status).toBe(201);
  });

  it.each([
    ['another name', CHIEF],
    [
      'his name with a reference',
      'committer.name="bob",committer.external_ref.id="4711",committer.external_ref.namespace="staff",committer.external_ref.type="PERSON"',
    ],
    ['his name with an identifier', 'committer.name="bob",committer.identifiers.id="4711"'],
  ])('may not give %s in a header', async (_, header) => {
    const before = await dump();
    const refused = await composition(strict).set('openEHR-AUDIT_DETAILS', header).send(aComposition());
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('commit_for_others');
    const emptyEhr = await post('/ehr', strict).set('openEHR-AUDIT_DETAILS', header);
    expect(emptyEhr.status).toBe(403);
    expect(await dump()).toBe(before);
  });

  it.each([
    ['of the CONTRIBUTION', { whole: party('Prof. Nobody') }],
    ['of the CONTRIBUTION, by reference', { whole: party('bob', reference) }],
    ['of a version', { whole: party('bob'), version: party('Prof. Nobody') }],
    ['of a version that is the patient', { version: { _type: 'PARTY_SELF' } }],
    ['of an attestation', { attestation: party('Prof. Nobody') }],
  ])('may not name another committer %s', async (_, committers) => {
    const before = await dump();
    const refused = await post(`/ehr/${ehrId}/contribution`, strict).send(contribution(committers));
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('commit_for_others');
    expect(await dump()).toBe(before);
  });

  it('names anybody with the permission commit_for_others', async () => {
    const header = composition(strict, ADMIN).set('openEHR-AUDIT_DETAILS', CHIEF);
    expect((await header.send(aComposition())).status).toBe(201);
    const body = contribution({
      whole: party('Prof. Nobody'),
      version: party('Dr. Chief Physician', reference),
    });
    expect((await post(`/ehr/${ehrId}/contribution`, strict, ADMIN).send(body)).status).toBe(201);
  });
});

function aFolder(name: string): object {
  return {
    _type: 'FOLDER',
    name: { _type: 'DV_TEXT', value: name },
    archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
  };
}
