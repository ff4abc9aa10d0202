import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import mongoose from 'mongoose';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { undoRestore } from '../../../maintenance/interchange/undo.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { auditRecords } from '../../../models/audit.js';
import { Contribution } from '../../../models/contribution.js';
import { groupBy } from '../../../openehr/base/maps.js';
import { storageSettings } from '../../../models/settings.js';
import { COLLECTION_LAYOUT } from '../../../models/access/layout.js';
import { testApp } from '../../support/app.js';
import { attestation } from '../../support/attestation.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { givenDirectory, folder, givenTag, givenUpdate, merge, statusOf } from '../../support/merge-http.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  type Json,
} from '../../support/resources.js';
import { Random } from '../../support/random.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
const app = testApp(WITH_ADMIN);
let ehrId = '';
let uid = '';
let lines: string[] = [];

/** A template and an EHR with a subject, a directory, a COMPOSITION in two versions, the second signed and tagged. */
beforeEach(async () => {
  await emptied();
  await givenTemplate(app);
  ehrId = await givenEhr(app, statusOf('p1'));
  await givenDirectory(app, ehrId, folder('root'));
  const first = await givenComposition(app, ehrId);
  await givenUpdate(app, ehrId, first, aComposition());
  uid = `${versionedObjectUidOf(first)}::local.cdr::2`;
  await request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(attestation(uid));
  await givenTag(app, { ehrId, type: 'composition', uid: versionedObjectUidOf(uid) }, 'k');
  lines = await exported();
});
afterEach(async () => {
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
});

/** The lines with something else in those of a kind that hold a text. */
function changed(kind: string, holding: string, from: string, to: string): string[] {
  const isMeant = (line: string): boolean => line.startsWith(`{"kind":"${kind}"`) && line.includes(holding);
  expect(lines.filter((line) => isMeant(line) && line.includes(from)).length).toBeGreaterThan(0);
  return lines.map((line) => (isMeant(line) ? line.replaceAll(from, to) : line));
}

/** Lines of EHRs in a random order, in which those of one EHR stay in theirs. */
function mixed(all: readonly string[], random: Random): string[] {
  const ehrOf = (line: string): string | undefined => {
    const { ehr_id, ehr } = JSON.parse(line) as Json;
    return (ehr_id ?? ehr?.ehr_id.value) as string | undefined;
  };
  const before = all.findIndex((line) => line.startsWith('{"kind":"ehr"'));
  const queues = [...groupBy(all.slice(before, -1), ehrOf).values()];
  const lines = all.slice(0, before);
  for (let left = queues; left.length > 0; left = left.filter(({ length }) => length > 0))
    lines.push(random.pick(left).shift()!);
  return [...lines, all.at(-1)!];
}

async function documents(name: string): Promise<number> {
  return mongoose.connection.collection(name).countDocuments({});
}

/** Collections that have anything of an EHR, by whatever field; the audit tells of refusals too. */
async function naming(id: string): Promise<string[]> {
  const found: string[] = [];
  for (const { name } of COLLECTION_LAYOUT) {
    const all = await mongoose.connection.collection(name).find({}).toArray();
    if (name !== 'audit' && JSON.stringify(all).includes(id)) found.push(name);
  }
  return found;
}

describe('an interchange file', () => {
  it('obeys its schema, line by line, and ends with a line that says what was before it', async () => {
    expect((await merge(app, await givenEhr(app), ehrId)).status).toBe(200);
    const schema = JSON.parse(readFileSync('docs/spec/interchange.schema.json', 'utf8')) as object;
    const validate = new Ajv2020({ allErrors: true }).compile(schema);
    const all = await exported();
    for (const line of all)
      expect([line.slice(0, 60), validate(JSON.parse(line)), validate.errors]).toEqual([
        line.slice(0, 60),
        true,
        null,
      ]);
    expect(new Set(all.map((line) => (JSON.parse(line) as { kind: string }).kind)).size).toBe(9);
    expect(JSON.parse(all.at(-1)!)).toMatchObject({ kind: 'end', lines: all.length - 1 });
    expect(validate({ kind: 'version', ehr_id: ehrId })).toBe(false);
  });

  it('of one EHR has the templates that it uses, and nothing of another', async () => {
    const other = await givenEhr(app, statusOf('p2'));
    await givenComposition(app, other);
    expect(await exported({ ehrIds: [ehrId], since: null })).toHaveLength(lines.length);
    const both = await exported({ ehrIds: [other, ehrId], since: null });
    expect(both.filter((line) => line.startsWith('{"kind":"template"'))).toHaveLength(1);
    await expect(exported({ ehrIds: ['7d44b88c-4199-4bad-97dc-d78268e01398'], since: null })).rejects.toThrow(
      'does not exist',
    );
    await merge(app, ehrId, other);
    await expect(exported({ ehrIds: [ehrId], since: null })).rejects.toThrow(`was merged into ${other}`);
  });

  it('since a time has the EHRs to which something was committed', async () => {
    const since = new Date();
    const other = await givenEhr(app);
    const ehrs = (await exported({ ehrIds: null, since })).filter((line) => line.startsWith('{"kind":"ehr"'));
    expect(ehrs.map((line) => line.includes(other))).toEqual([true]);
  });

  it('is of one moment of each EHR while others write, and is given up when that is lost', async () => {
    const commit = async (): Promise<void> => {
      await givenComposition(app, ehrId);
    };
    await expect(exported(undefined, 0, commit)).rejects.toThrow('was changed while it was exported');
    const [beside] = await Promise.all([exported(), ...Array.from({ length: 30 }, commit)]);
    await emptied();
    expect(refusals(await imported(beside))).toEqual([]);
    expect(await exported()).toEqual(beside);
  });
});

describe('a restore', () => {
  it('changes nothing that is there, and says of each line whether it was', async () => {
    const again = await imported(lines);
    expect(again.map(({ result }) => result)).toEqual(lines.slice(1, -1).map(() => 'unchanged'));
    await emptied();
    const first = await imported(lines);
    expect(first.map(({ result }) => result)).toEqual(lines.slice(1, -1).map(() => 'imported'));
    expect(await exported()).toEqual(lines);
  });

  it.each([1, 2, 3])('takes lines of several EHRs in any mixture (%d)', async (seed) => {
    const others = await Promise.all(['p2', 'p3', 'p4'].map((subject) => givenEhr(app, statusOf(subject))));
    for (const other of others) {
      await givenDirectory(app, other, folder('root'));
      const status = await request(app).get(`${V1}/ehr/${other}/ehr_status`);
      const next = { ...(status.body as Json), is_modifiable: true };
      const put = request(app).put(`${V1}/ehr/${other}/ehr_status`);
      expect((await put.set('If-Match', status.headers['etag']!).send(next)).status).toBe(200);
      await givenUpdate(app, other, await givenComposition(app, other), aComposition());
    }
    expect((await merge(app, others[0]!, others[1]!)).status).toBe(200);
    const all = await exported();
    const random = new Random(seed);
    const mixture = mixed(all, random);
    expect(mixture).not.toEqual(all);
    await emptied();
    const how = { parallel: random.whole(1, 4), linesAtOnce: random.pick([1, 3, 1_000]) };
    expect(refusals(await imported(mixture, how))).toEqual([]);
    expect(await exported()).toEqual(all);
  });

  it('tells of itself apart from what it restored', async () => {
    await emptied();
    await imported(lines, { batch: '0b6a8a6c-5e0e-4d39-a1b5-6c2f0c0a9a11' });
    const contributions = await Contribution.find({}).exec();
    expect(contributions.every(({ batch }) => batch === '0b6a8a6c-5e0e-4d39-a1b5-6c2f0c0a9a11')).toBe(true);
    const [record] = await auditRecords({ operation: 'restore', offset: 0, fetch: 1 });
    expect(record).toMatchObject({ target: '0b6a8a6c-5e0e-4d39-a1b5-6c2f0c0a9a11', status: 200 });
    expect(JSON.stringify(await exported())).not.toContain('0b6a8a6c');
  });

  it('adds what was committed since, and the signature of what is there', async () => {
    const before = lines;
    const third = `${versionedObjectUidOf(uid)}::local.cdr::3`;
    await givenUpdate(app, ehrId, uid, aComposition());
    await request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(attestation(third));
    await request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(attestation(uid));
    const after = await exported();
    await emptied();
    await imported(before);
    expect(refusals(await imported(after))).toEqual([]);
    expect(await exported()).toEqual(after);
    // An older file has nothing to say any more.
    expect((await imported(before)).every(({ result }) => result === 'unchanged')).toBe(true);
  });

  it.each([
    ['contribution', '249', '"name":"', '"name":"x', 'another CONTRIBUTION with uid'],
    ['version', '::2"},"prec', '"composer"', '"composed"', 'another VERSION with uid'],
    ['ehr', '', '"value":"local.cdr"', '"value":"other.cdr"', 'another EHR with id'],
    ['item_tag', '', '"key":"k"', '"key":"l"', 'here it is another one'],
    ['template', '', 'Minimal', 'Maximal', 'another template'],
  ])('refuses another %s of an id that is there', async (...row) => {
    const [kind, holding, from, to, reason] = row;
    expect(refusals(await imported(changed(kind, holding, from, to)))[0]).toContain(reason);
    expect(await exported()).toEqual(lines);
  });

  it.each([
    [
      'a version without the one before it',
      'version',
      '::1"},"lifecycle',
      '::1"',
      '::5"',
      'neither here nor before it',
    ],
    [
      'data with another uid',
      'version',
      '"type":"FOLDER"',
      '"data":{"_type":"FOLDER","uid":{"_type":"OBJECT_VERSION_ID","value":"',
      '"data":{"_type":"FOLDER","uid":{"_type":"OBJECT_VERSION_ID","value":"x',
      'its data has another uid or type',
    ],
    [
      'a deletion with data',
      'version',
      '"type":"FOLDER"',
      '"code_string":"532"',
      '"code_string":"523"',
      'do not agree on whether it is a deletion',
    ],
    [
      'a digest of something else',
      'version',
      '"type":"FOLDER"',
      '"lifecycle_state":',
      `"signature":"SHA-256/RFC8785:${'0'.repeat(64)}","lifecycle_state":`,
      'its signature is not that of what it is',
    ],
    [
      'a COMPOSITION of an unknown template',
      'version',
      '"type":"COMPOSITION"',
      '"template_id":"minimal',
      '"template_id":"maximal',
      'is neither here nor before what uses it',
    ],
    [
      'a tag without its target',
      'item_tag',
      '',
      '"target_type":"COMPOSITION"',
      '"target_type":"EHR_STATUS"',
      'is neither here nor before it',
    ],
  ])('refuses %s, and all of its EHR', async (...row) => {
    const [, kind, holding, from, to, reason] = row;
    const wrong = changed(kind, holding, from, to);
    await emptied();
    expect(refusals(await imported(wrong)).join()).toContain(reason);
    expect(await naming(ehrId)).toEqual([]);
  });

  it('refuses the subject of another EHR, and goes on with others', async () => {
    const other = await givenEhr(app, statusOf('p2'));
    const both = await exported();
    await emptied();
    await givenEhr(app, statusOf('p1'));
    expect(refusals(await imported(both))).toEqual([
      expect.stringContaining(`the subject of EHR ${ehrId} is that of EHR`),
    ]);
    expect((await request(app).get(`${V1}/ehr/${other}`)).status).toBe(200);
  });

  it('refuses a merge of an EHR that is here and was not merged', async () => {
    const other = await givenEhr(app);
    const before = await exported();
    expect((await merge(app, other, ehrId)).status).toBe(200);
    const after = await exported();
    await emptied();
    await imported(before);
    expect(refusals(await imported(after)).join()).toContain(`EHR ${other} was merged into ${ehrId}`);
  });

  it('keeps the system that created a version, and notes that it came', async () => {
    await emptied('new.system');
    expect(refusals(await imported(lines))).toEqual([]);
    expect(await naming(ehrId)).toEqual(expect.arrayContaining(['aql', 'item_tags', 'versioned_objects']));
    expect(await storageSettings()).toMatchObject({ system_id: 'new.system', systems: ['local.cdr'] });
    expect(await exported()).toEqual(lines);
  });
});

describe('an import that is taken back', () => {
  const batch = 'c0ffee00-0000-4000-8000-000000000001';

  it('leaves nothing of the EHRs that it made, with their merges', async () => {
    expect((await merge(app, await givenEhr(app), ehrId)).status).toBe(200);
    const all = await exported();
    await emptied();
    const before = await givenEhr(app);
    await imported(all, { batch });
    await sealNewRecords();
    expect(await undoRestore([batch])).toEqual({ ehrs: 1, kept: [] });
    expect(await mongoose.connection.collection<{ _id: string }>('ehrs').distinct('_id')).toEqual([before]);
    expect([await documents('merge_records'), await documents('item_tags')]).toEqual([0, 0]);
    expect(refusals(await imported(all))).toEqual([]);
  });

  it('keeps an EHR in which something was tagged since, with the tags that it restored', async () => {
    await emptied();
    await imported(lines, { batch });
    const given = { ehrId, type: 'composition', uid } as const;
    const tag = await givenTag(app, given, 'added');
    const reason = 'it has item tags that the import did not restore';
    expect(await undoRestore([batch])).toEqual({ ehrs: 0, kept: [{ ehrId, reason }] });
    expect(await documents('item_tags')).toBe(2);
    await request(app)
      .delete(`/rest/experimental/tags/ehr/${ehrId}/composition/${uid}/item_tag`)
      .send([tag])
      .expect(204);
    expect(await exported()).toEqual(lines);
    expect(await undoRestore([batch])).toEqual({ ehrs: 1, kept: [] });
  });

  it('keeps an EHR whose item tag that it restored has another value now', async () => {
    await emptied();
    await imported(lines, { batch });
    const path = `/rest/experimental/tags/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}/item_tag`;
    const { body } = await request(app).get(path);
    await request(app)
      .put(path)
      .send([{ id: body[0].id, key: 'k', value: 'other' }])
      .expect(200);
    expect(await undoRestore([batch])).toMatchObject({ ehrs: 0, kept: [{ ehrId }] });
  });

  it('keeps an EHR to which something was committed since, and what was there before', async () => {
    await givenUpdate(app, ehrId, uid, aComposition());
    const other = await givenEhr(app);
    const all = await exported();
    await emptied();
    await imported(lines);
    await imported(all, { batch });
    const reason = 'it has CONTRIBUTIONs that the import did not restore';
    expect(await undoRestore([batch])).toEqual({ ehrs: 1, kept: [{ ehrId, reason }] });
    expect((await request(app).get(`${V1}/ehr/${other}`)).status).toBe(404);
    await expect(undoRestore(['c0ffee00-0000-4000-8000-000000000002'])).rejects.toThrow(
      'nothing here was restored',
    );
  });
});
