import { createHash } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import { canonicalText } from '../../../openehr/base/jcs.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { creation } from '../../support/api/world.js';
import { testSettings } from '../../support/settings.js';

const app = testApp({ signing: 'digest' });
const unsigned = testApp();

useDatabase();
let ehrId = '';
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
});

const WRONG = `SHA-256/RFC8785:${'0'.repeat(64)}`;
const versionOf = (uid: string, query = '?verify=true'): request.Test =>
  request(app).get(
    `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}/version/${uid}${query}`,
  );
const stateOf = async (uid: string): Promise<unknown> =>
  (await versionOf(uid)).headers['everchart-signature'];
const signed = (signature: string, listener = app): request.Test =>
  request(listener)
    .post(`${V1}/ehr/${ehrId}/composition`)
    .set('openehr-version', `signature="${signature}"`)
    .send(aComposition());

it('signs each VERSION with the SHA-256 of what anybody can read', async () => {
  const uid = await givenComposition(app, ehrId);
  const { body, headers } = await versionOf(uid);
  const { signature, ...rest } = body as Json;
  const digest = createHash('sha256').update(canonicalText(rest)).digest('hex');
  expect(signature).toBe(`SHA-256/RFC8785:${digest}`);
  expect(headers['everchart-signature']).toBe('verified');
  expect((await versionOf(uid, '')).headers['everchart-signature']).toBeUndefined();
  const deleted = await request(app).delete(`${V1}/ehr/${ehrId}/composition/${uid}`);
  expect(await stateOf(versionUidOf(deleted))).toBe('verified');
  const status = versionUidOf(await request(app).get(`${V1}/ehr/${ehrId}/ehr_status`));
  const read = await request(app).get(
    `${V1}/ehr/${ehrId}/versioned_ehr_status/version/${status}?verify=true`,
  );
  expect(read.headers['everchart-signature']).toBe('verified');
});

it('holds for versions of a CONTRIBUTION, and when attestations are added', async () => {
  const made = await request(app)
    .post(`${V1}/ehr/${ehrId}/contribution`)
    .set('Prefer', 'return=representation')
    .send(creation(aComposition()));
  const uid = String((made.body as Json).versions[0].id.value);
  expect(await stateOf(uid)).toBe('verified');
  const attesting = creation(aComposition()) as Json;
  const openehr = { _type: 'TERMINOLOGY_ID', value: 'openehr' };
  const change_type = {
    _type: 'DV_CODED_TEXT',
    value: 'attestation',
    defining_code: { _type: 'CODE_PHRASE', terminology_id: openehr, code_string: '666' },
  };
  attesting.versions = [
    {
      commit_audit: { change_type },
      preceding_version_uid: { value: uid },
      attestations: [{ reason: { _type: 'DV_TEXT', value: 'signed' }, is_pending: false }],
    },
  ];
  const attested = await request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(attesting);
  expect(attested.status).toBe(201);
  const { body, headers } = await versionOf(uid);
  expect((body as Json).attestations).toHaveLength(1);
  expect(headers['everchart-signature']).toBe('verified');
});

it('keeps what a client signed, but for a digest that is not that of the version', async () => {
  const made = await signed('of a client');
  expect(made.status).toBe(201);
  const { body, headers } = await versionOf(versionUidOf(made));
  expect([(body as Json).signature, headers['everchart-signature']]).toEqual(['of a client', 'unverifiable']);
  for (const listener of [app, unsigned]) {
    const wrong = await signed(WRONG, listener);
    expect([wrong.status, (wrong.body as Json).message]).toEqual([
      422,
      'the signature is not the digest of the version that would be made',
    ]);
    const contribution = creation(aComposition()) as Json;
    contribution.versions[0].signature = WRONG;
    const inOne = await request(listener).post(`${V1}/ehr/${ehrId}/contribution`).send(contribution);
    expect(inOne.status).toBe(422);
  }
});

it('leaves unsigned what is committed without the setting', async () => {
  const uid = await givenComposition(unsigned, ehrId);
  expect((await versionOf(uid)).body).not.toHaveProperty('signature');
  expect(await stateOf(uid)).toBe('absent');
});

it('shows a change of what was stored, to who reads it and to verify', async () => {
  const uid = await givenComposition(app, ehrId);
  expect((await verifyStorage()).violations).toEqual([]);
  await mongoose.connection
    .collection<{ _id: string }>('versions')
    .updateOne({ _id: uid }, { $set: { 'commit_audit.committer.name': 'somebody else' } });
  expect(await stateOf(uid)).toBe('mismatched');
  expect((await verifyStorage()).violations).toContainEqual({
    kind: 'versions',
    id: uid,
    message: 'its signature is not that of what it is',
  });
});

it('says of content that is no JSON any more that its signature is not that', async () => {
  const uid = await givenComposition(app, ehrId);
  await mongoose.connection
    .collection<{ _id: string }>('versions')
    .updateOne({ _id: uid }, { $set: { data: '{' }, $unset: { encoding: '' } });
  const { status, headers } = await versionOf(uid)
    .buffer()
    .parse((answer, done) => {
      answer.on('data', () => undefined).on('end', () => done(null, null));
    });
  expect([status, headers['everchart-signature']]).toEqual([200, 'mismatched']);
});

it('counts the steps of a digest that is asked for', async () => {
  const uid = await givenComposition(app, ehrId);
  const work = { ...testSettings().work, steps: 40 };
  const few = testApp({ signing: 'digest', work });
  const path = `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}/version/${uid}`;
  expect((await request(few).get(path)).status).toBe(200);
  const refused = await request(few).get(`${path}?verify=true`);
  expect([refused.status, (refused.body as Json).message]).toEqual([
    422,
    expect.stringContaining('MAX_WORK_STEPS'),
  ]);
});
