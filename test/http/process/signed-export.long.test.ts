import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp, useServer } from '../../support/app.js';
import { attestation } from '../../support/attestation.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { runCommand, runHere } from '../../support/process/command-line.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  type Json,
} from '../../support/resources.js';

useDatabase();

const app = testApp({ signing: 'digest' });
const server = useServer(app);
const folder = mkdtempSync(join(tmpdir(), 'everchart-signed-'));
const source = join(folder, 'signed.ndjson');
let ehrId = '';

const coded = (value: string, code_string: string): Json => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
    code_string,
  },
});
const signedBy = (name: string, change: [value: string, code: string]): Json => ({
  _type: 'ATTESTATION',
  change_type: coded(...change),
  committer: { _type: 'PARTY_IDENTIFIED', name },
  reason: coded('signed', '240'),
  is_pending: true,
  proof: 'abc',
});
const post = (body: Json) => request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(body);

/** One that nobody signed, one created by an ATTESTATION, one changed by one and signed once more. */
beforeAll(async () => {
  await givenTemplate(app);
  ehrId = await givenEhr(app);
  await givenComposition(app, ehrId);
  const changed = await givenComposition(app, ehrId);
  const versions = [
    { commit_audit: signedBy('Ada', ['creation', '249']), data: aComposition() },
    {
      commit_audit: signedBy('Grace', ['modification', '251']),
      preceding_version_uid: { value: changed },
      data: aComposition(),
    },
  ];
  expect((await post({ versions })).status).toBe(201);
  const latest = `${versionedObjectUidOf(changed)}::local.cdr::2`;
  expect((await post(attestation(latest))).status).toBe(201);
  expect((await runHere('export', '--ehr', ehrId, '--output', source, '--url', server.url)).code).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the versions of an EHR say of who signed them, in the order of their committers. */
async function signatures(ehr: string): Promise<object[]> {
  const { body } = await request(app).get(`${V1}/ehr/${ehr}?include=compositions`);
  const found: { by: string; [name: string]: unknown }[] = [];
  for (const { id } of body.compositions as { id: { value: string } }[]) {
    const path = `${V1}/ehr/${ehr}/versioned_composition/${id.value}/version`;
    const { commit_audit: audit, attestations = [] } = (await request(app).get(path)).body as Json;
    const isSigned = audit._type === 'ATTESTATION';
    found.push({
      by: isSigned ? String(audit.committer.name) : '',
      ...(isSigned && { reason: audit.reason, proof: audit.proof, is_pending: audit.is_pending }),
      attested: (attestations as Json[]).map(({ committer, reason }) => ({ committer, reason })),
    });
  }
  return found.sort((a, b) => (a.by < b.by ? -1 : 1));
}

/** The same records for another EHR. */
function copied(): { copy: string; file: string } {
  const copy = randomUUID();
  const file = join(folder, `${copy}.ndjson`);
  writeFileSync(file, readFileSync(source, 'utf8').replaceAll(ehrId, copy));
  return { copy, file };
}

/** What is known of the digest of each COMPOSITION. */
async function digests(ehr: string): Promise<unknown[]> {
  const { body } = await request(app).get(`${V1}/ehr/${ehr}?include=compositions`);
  const states: unknown[] = [];
  for (const { id } of body.compositions as { id: { value: string } }[]) {
    const path = `${V1}/ehr/${ehr}/versioned_composition/${id.value}/version`;
    const uid = String(((await request(app).get(path)).body as Json).uid.value);
    const { headers } = await request(app).get(`${path}/${uid}?verify=true`);
    states.push(headers['everchart-signature']);
  }
  return states;
}

describe('what was signed', () => {
  it('comes back by an import over HTTP as it was exported, in JSON, XML and AQL', async () => {
    const { copy, file } = copied();
    const done = await runHere('import', file, '--new-ids', '--url', server.url);
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/^4 imported/)]);
    expect(await signatures(copy)).toEqual(await signatures(ehrId));
    expect(await signatures(copy)).toMatchObject([
      { by: '', attested: [] },
      { by: 'Ada', proof: 'abc', is_pending: true, attested: [] },
      { by: 'Grace', proof: 'abc', attested: [{ committer: { name: 'Ada' } }] },
    ]);
    const q = `SELECT v/commit_audit AS a, v/uid/value AS u FROM EHR e CONTAINS VERSION v[LATEST_VERSION] CONTAINS COMPOSITION c WHERE v/commit_audit/committer/name = 'Grace'`;
    const { body } = await request(app).post(`${V1}/query/aql`).send({ q, ehr_id: copy });
    expect(body.rows).toHaveLength(1);
    const [[audit, uid]] = body.rows;
    expect(audit).toMatchObject({ _type: 'ATTESTATION', change_type: { value: 'creation' }, proof: 'abc' });
    const version = `${V1}/ehr/${copy}/versioned_composition/${versionedObjectUidOf(uid)}/version/${uid}`;
    const xml = await request(app).get(version).set('Accept', 'application/xml');
    expect(xml.text).toMatch(/<commit_audit xsi:type="ATTESTATION">.*<proof>abc<\/proof>.*<attestations/s);
    expect(await signatures(copy)).toHaveLength(3);
    expect(readFileSync(source, 'utf8')).not.toContain('SHA-256/RFC8785');
    expect(await digests(copy)).toEqual(['verified', 'verified', 'verified']);
  });

  it('comes back by an import beside the database too, checked before it is written', async () => {
    const { copy, file } = copied();
    const env = {
      LOG_LEVEL: 'warn',
      MONGODB_URI: testDatabaseUri(),
      MONGODB_DATABASE: testDatabaseName(),
    };
    const local = (...args: string[]) => runCommand(['import', '--local', file, '--new-ids', ...args], env);
    const checked = await local('--dry-run');
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringMatching(/^4 valid/)]);
    const done = await local();
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/^4 imported/)]);
    expect(await signatures(copy)).toEqual(await signatures(ehrId));
  });

  it.each([
    ['commit_audit', 'signed'],
    ['attestations', [{}, 'signed']],
    ['attestations', [{ _type: 'ATTESTATION', is_pending: true }]],
  ])('is refused where it is none: %s %j', async (name, value) => {
    const file = join(folder, `${randomUUID()}.ndjson`);
    writeFileSync(file, JSON.stringify({ ehr_id: randomUUID(), composition: aComposition(), [name]: value }));
    const { code, stdout } = await runHere('import', file, '--url', server.url);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^0 imported, .* 1 failed/)]);
    const error = readFileSync(`${file}.import-errors.ndjson`, 'utf8');
    expect(error).toContain(name);
  });
});
