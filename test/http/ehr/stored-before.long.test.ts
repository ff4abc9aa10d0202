import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { apiClient, type ApiClient } from '../../../cli/transfer/api-client.js';
import { exportedLines, ExportRun } from '../../../cli/transfer/export-run.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import { readRm } from '../../../openehr/rm/read.js';
import { exampleComposition } from '../../../openehr/template/example/example.js';
import { compileTemplate } from '../../../openehr/template/compile.js';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { runHere } from '../../support/process/command-line.js';
import { admin, merge } from '../../support/merge-http.js';
import {
  archetypeDetails as details,
  namedOtherwise,
  namedOtherwiseInside,
  ofOneYear,
} from '../../support/openehr/broken-rules.js';
import { element, evaluation, node, primitive, template } from '../../support/openehr/opt-builder.js';
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
import { WITH_ADMIN } from '../../support/tokens.js';

/** Rules of this release that content of older ones breaks. */
const app = testApp(WITH_ADMIN);
const lenient = testApp({ validation: 'lenient-all' });
const server = useServer(app);
const lenientServer = useServer(lenient);
let client: ApiClient;
useDatabase();

interface Rule {
  readonly broken: () => Json;
  readonly right: () => Json;
  /** A part of what whoever breaks it is told. */
  readonly message: string;
  readonly opt?: string;
}

/** A rule about the ELEMENTs of a template made for it. */
function ofElement(
  id: string,
  constraint: string,
  values: {
    readonly broken: readonly JsonObject[];
    readonly right: readonly JsonObject[];
    readonly message: string;
  },
  cardinality = '0..*',
): Rule {
  const opt = template(evaluation(element('at0002', constraint, '0..*'), { at0002: 'Value' }, cardinality), {
    id,
  });
  const holding = (given: readonly JsonObject[]) => (): Json => {
    const composition: Json = exampleComposition(compileTemplate(opt), {
      detailLevel: 'complete',
      type: 'input',
    });
    const { data } = composition['content'][0];
    const [first] = data.items;
    data.items = given.map((value) => ({ ...first, value }));
    return composition;
  };
  return { opt, broken: holding(values.broken), right: holding(values.right), message: values.message };
}

const identified = (type: string): JsonObject => ({ _type: 'DV_IDENTIFIER', id: '1', type });
const measured = (units: string): JsonObject => ({ _type: 'DV_QUANTITY', magnitude: 1, units });
const half = (precision: number): JsonObject => ({
  ...{ _type: 'DV_PROPORTION', numerator: 1, denominator: 2, type: 3, precision },
});
const text = (value: string): JsonObject => ({ _type: 'DV_TEXT', value });
const LENGTH =
  '<property><terminology_id><value>openehr</value></terminology_id><code_string>122</code_string></property>';

const RULES: Readonly<Record<string, Rule>> = {
  'a root named otherwise': { broken: namedOtherwise, right: aComposition, message: 'Archetyped_valid' },
  'a root inside named otherwise': {
    ...{ broken: namedOtherwiseInside, right: aComposition, message: 'Archetyped_valid' },
  },
  'a duration beyond its pattern': {
    broken: ofOneYear,
    right: () => aComposition('minimal_instruction.en.v1'),
    message: 'must be of the pattern',
  },
  'a text of a DV_IDENTIFIER beyond its list': ofElement(
    'rule.identifier.v1',
    node('DV_IDENTIFIER', { inside: primitive('type', 'STRING', 'C_STRING', '<list>XYZ</list>') }),
    { broken: [identified('A')], right: [identified('XYZ')], message: 'must be "XYZ"' },
  ),
  'units of another property': ofElement(
    'rule.property.v1',
    node('DV_QUANTITY', { xsiType: 'C_DV_QUANTITY', inside: LENGTH }),
    { broken: [measured('mg')], right: [measured('cm')], message: 'must be a unit of Length' },
  ),
  'a DV_PROPORTION of integers with a precision': ofElement('rule.proportion.v1', node('DV_PROPORTION'), {
    ...{ broken: [half(1)], right: [half(0)], message: 'Fraction_validity' },
  }),
  'more members than a container may have': ofElement(
    'rule.container.v1',
    node('DV_TEXT'),
    {
      ...{ broken: [text('a'), text('b')], right: [text('a')] },
      message: 'does not match cardinality 1..1 (found: 2)',
    },
    '1..1',
  ),
};

beforeAll(async () => {
  client = apiClient({ url: server.url, identity: {}, repeatForMs: 1_000 });
  await givenTemplate(app);
  await givenTemplate(app, 'minimal_instruction.en.v1');
  for (const { opt } of Object.values(RULES)) {
    if (opt === undefined) continue;
    const uploaded = await request(app)
      .post(`${V1}/definition/template/adl1.4`)
      .set('Content-Type', 'application/xml')
      .send(opt);
    expect([uploaded.status, uploaded.text]).toEqual([201, '']);
  }
});

const path = (tail: string, ehr: string): string => `${V1}/ehr/${ehr}/${tail}`;

/** Puts content into a stored version, as a release stored it that did not have the rule. */
async function storeInto(uid: string, content: Json): Promise<void> {
  const data = JSON.stringify({ ...content, uid: { _type: 'OBJECT_VERSION_ID', value: uid } });
  await mongoose.connection
    .collection<{ _id: string }>('versions')
    .updateOne({ _id: uid }, { $set: { data }, $unset: { encoding: '' } });
}

async function linesOf(ehrId: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportedLines(client, ehrId, new ExportRun())) lines.push(line.trimEnd());
  return lines;
}

describe.each(Object.entries(RULES))('%s', (_, { broken, right, message }) => {
  it('is refused, and taken with a finding and a warning under lenient validation', async () => {
    const ehr = await givenEhr(app);
    const refused = await request(app).post(path('composition', ehr)).send(broken());
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining(message)]);
    expect((await request(app).post(path('composition', ehr)).send(right())).status).toBe(201);
    const taken = await request(lenient).post(path('composition', ehr)).send(broken());
    expect([taken.status, taken.headers['warning']]).toEqual([
      201,
      expect.stringContaining(message.split('"')[0]!),
    ]);
    const stored = await mongoose.connection
      .collection<{ _id: string; validation_findings?: unknown }>('versions')
      .findOne({ _id: versionUidOf(taken) });
    expect(stored?.validation_findings).toEqual([
      expect.objectContaining({ message: expect.stringContaining(message) }),
    ]);
  });

  it('is read, exported, queried, moved, merged and corrected where it was stored before', async () => {
    const [first, second, third] = [await givenEhr(app), await givenEhr(app), await givenEhr(app)];
    const uid = await givenComposition(app, first, right());
    await storeInto(uid, broken());
    const container = versionedObjectUidOf(uid);
    for (const accept of ['application/json', 'application/xml', 'application/openehr.wt.flat+json']) {
      const read = await request(app)
        .get(path(`composition/${uid}`, first))
        .set('Accept', accept);
      expect([accept, read.status]).toEqual([accept, 200]);
    }
    const exported = (await linesOf(first)).map((line) => JSON.parse(line) as Json);
    const withoutUid = exported.map(({ composition }) => ({ ...composition, uid: undefined }));
    const { content, archetype_details: named } = broken();
    expect(withoutUid).toContainEqual(expect.objectContaining({ archetype_details: named }));
    expect(withoutUid).toContainEqual(expect.objectContaining({ content }));
    const q = `SELECT c FROM EHR e CONTAINS COMPOSITION c WHERE c/uid/value = '${uid}'`;
    expect((await request(app).post(`${V1}/query/aql`).send({ q })).body.rows).toHaveLength(1);
    const moved = await admin(app, 'post', `/ehr/${first}/composition/${container}/move`).send({
      target_ehr: second,
    });
    expect([moved.status, moved.body.message]).toEqual([200, undefined]);
    expect((await merge(app, second, third)).status).toBe(200);
    const { body: list } = await request(app)
      .post(`${V1}/query/aql`)
      .send({ q: 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', ehr_id: third });
    const now = String(list.rows[0][0]);
    const change = (body: Json): request.Test =>
      request(app)
        .put(path(`composition/${versionedObjectUidOf(now)}`, third))
        .set('If-Match', now)
        .send(body);
    expect((await change(broken())).status).toBe(422);
    expect((await change(right())).status).toBe(200);
  });

  it('comes over to another server by export and import, which needs lenient validation', async () => {
    const ehr = await givenEhr(app);
    const uid = await givenComposition(app, ehr, right());
    await storeInto(uid, broken());
    const before = await request(app).get(path(`composition/${uid}`, ehr));
    const folder = mkdtempSync(join(tmpdir(), 'everchart-before-a-rule-'));
    const file = join(folder, 'ehr.ndjson');
    try {
      writeFileSync(file, `${(await linesOf(ehr)).join('\n')}\n`);
      // The other server is this one, without the EHR.
      expect((await admin(app, 'delete', `/ehr/${ehr}?cascade=true`)).status).toBe(204);
      const refused = await runHere('import', file, '--url', server.url);
      const said = refused.stdout + refused.stderr;
      expect([refused.code, said]).toEqual([1, expect.stringContaining(message.split('"')[0]!)]);
      const taken = await runHere('import', file, '--url', lenientServer.url);
      expect([taken.code, taken.stderr]).toEqual([0, expect.any(String)]);
    } finally {
      rmSync(folder, { recursive: true });
    }
    const after = await request(app).get(path(`composition/${uid}`, ehr));
    expect(after.status).toBe(200);
    expect(after.body).toEqual(readRm(before.body as JsonObject, 'COMPOSITION').object);
  });
});

describe('stored before', () => {
  it('an EHR_STATUS named otherwise is read, merged and corrected', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const status = await request(app).get(path('ehr_status', source));
    const archetype_details = details('openEHR-EHR-EHR_STATUS.other.v1');
    await storeInto(versionUidOf(status), { ...(status.body as Json), archetype_details });
    const read = await request(app).get(path('ehr_status', source));
    expect([read.status, read.body.archetype_details.archetype_id.value]).toEqual([
      200,
      'openEHR-EHR-EHR_STATUS.other.v1',
    ]);
    const change = (body: Json): request.Test =>
      request(app).put(path('ehr_status', source)).set('If-Match', versionUidOf(read)).send(body);
    expect((await change(read.body as Json)).status).toBe(400);
    const right = { ...(read.body as Json), archetype_node_id: 'openEHR-EHR-EHR_STATUS.other.v1' };
    expect((await change(right)).status).toBe(200);
    expect((await merge(app, source, target)).status).toBe(200);
  });

  it('a FOLDER named otherwise is read, merged and corrected', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const id = 'openEHR-EHR-FOLDER.generic.v1';
    const folder: Json = {
      _type: 'FOLDER',
      name: text('root'),
      archetype_node_id: id,
      archetype_details: details(id),
    };
    const made = await request(app).post(path('directory', source)).send(folder);
    expect(made.status).toBe(201);
    const other = { ...folder, archetype_details: details('openEHR-EHR-FOLDER.other.v1') };
    await storeInto(versionUidOf(made), other);
    const read = await request(app).get(path('directory', source));
    expect([read.status, read.body.archetype_details.archetype_id.value]).toEqual([
      200,
      'openEHR-EHR-FOLDER.other.v1',
    ]);
    const change = (body: Json): request.Test =>
      request(app).put(path('directory', source)).set('If-Match', versionUidOf(read)).send(body);
    expect((await change(other)).status).toBe(400);
    expect((await change(folder)).status).toBe(200);
    expect((await merge(app, source, target)).status).toBe(200);
  });

  it.each([
    ['801', '532'],
    ['800', '553'],
  ])('a version in the state %s after one in %s is read and gone on with', async (now, before) => {
    const ehr = await givenEhr(app);
    const first = await givenComposition(app, ehr);
    const send = (body: Json, after: string, state: string): request.Test =>
      request(app)
        .put(path(`composition/${versionedObjectUidOf(after)}`, ehr))
        .set('If-Match', after)
        .set('openEHR-VERSION', `lifecycle_state.code_string="${state}"`)
        .send(body);
    const second = versionUidOf(await send(aComposition(), first, '532').expect(200));
    const versions = mongoose.connection.collection<{ _id: string }>('versions');
    const state = (code: string) => ({ $set: { 'lifecycle_state.defining_code.code_string': code } });
    await versions.updateOne({ _id: first }, state(before));
    await versions.updateOne({ _id: second }, state(now));
    expect((await request(app).get(path(`composition/${second}`, ehr))).status).toBe(200);
    // The state that leads back: the rule is asked of what comes, not of what is there.
    expect((await send(aComposition(), second, now)).status).toBe(200);
  });
});
