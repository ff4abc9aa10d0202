import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { isDuplicateKey } from '../../database/mongo-error.js';
import { sealBaseline } from '../../maintenance/baseline.js';
import { sealNewRecords } from '../../maintenance/seal.js';
import { verifyStorage } from '../../maintenance/verify.js';
import type { Violation } from '../../maintenance/verify-report.js';
import { COLLECTION_LAYOUT } from '../../models/access/layout.js';
import { STORAGE_ID } from '../../models/cross-collection/state-note.js';
import { idText } from '../../models/cross-collection/seal-record.js';
import { claimStorage } from '../../models/settings.js';
import { testApp } from '../support/app.js';
import { attestation } from '../support/attestation.js';
import { useDatabase } from '../support/database.js';
import { seeds } from '../support/laws.js';
import {
  admin,
  folder,
  givenDirectory,
  givenMergeTemplates,
  givenUpdate,
  merge,
  MERGE_TEMPLATES,
  statusOf,
  unmerge,
} from '../support/merge-http.js';
import { RevisedData, revisionTexts } from '../support/openehr/revised-data.js';
import { aComposition, givenComposition, givenEhr, V1, versionedObjectUidOf } from '../support/resources.js';
import { ADMIN, WITH_ADMIN } from '../support/tokens.js';
import { UNVERIFIED, VERIFIED } from '../support/verified-collections.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, auditReads: true, accessMode: 'dry', templateRevisions: true });

interface Stored {
  _id: string;
  [field: string]: unknown;
}
const collection = (name: string) => mongoose.connection.collection<Stored>(name);

const SIZES = { small: 6, full: 4_000 };

/** What the page lists of those, as `<collection>.<field>`. */
const LISTED = [
  /^ehrs\.(write_seq|merge_seq|marks_seq|merging|shares_contributions|subject_dropped)$/,
  /^ehrs\.identities$/,
  /^merged ehrs\.(is_queryable|is_modifiable|subject|ehr_status_id|directory_id|released_subject)(\.|$)/,
  /^ended versioned_objects\./,
  /^empty seal_blocks\.leaves$/,
  /^ehrs\.(subject\.)?added$/,
  /^versioned_objects\.(category|template_id|added)$/,
  /^(templates|template_revisions)\.used$/,
  /^item_tags\.(key|value|target_path|target_version|added)$/,
  /^contributions\.(unsealed|leaves)$/,
  /^seal_blocks\.(added|leaves\.added|leaves\.\d+\.added)$/,
  /^(aql_shapes|idempotency_keys)\./,
  /^other settings\./,
  /^settings\.(?!system_id$)/,
];

/** A generator of numbers from a seed. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const given = async (count: number): Promise<string[]> => {
  const ehrIds: string[] = [];
  for (let n = 0; n < count; n += 1) ehrIds.push(await givenEhr(app, statusOf(randomUUID())));
  return ehrIds;
};

/** Everything that is stored, sealed in two blocks: of what is in the first one notes have to tell what changed since. */
beforeAll(async () => {
  await claimStorage('local.cdr', 'all');
  await sealBaseline();
  await givenMergeTemplates(app);
  await givenDefinitions();
  const [first = '', second = '', third = '', fourth = ''] = await given(4);
  await givenMarks(first, [{ kind: 'research_objection', ground: 'objects' }]);
  const uid = await givenComposition(app, first);
  await givenUpdate(app, first, uid, aComposition());
  await request(app).post(`${V1}/ehr/${first}/contribution`).send(attestation(uid));
  await givenDirectory(app, second, folder('root'));
  const moved = versionedObjectUidOf(await givenComposition(app, second));
  await givenComposition(app, third);
  await givenComposition(app, second);
  for (const ehrId of [third, fourth]) await givenComposition(app, ehrId, aComposition(MERGE_TEMPLATES[0]));
  expect((await merge(app, fourth, third, { composition_merge: 'PERSISTENT' })).status).toBe(200);
  await sealNewRecords();
  await givenMarks(first, []);
  await admin(app, 'post', `/ehr/${second}/composition/${moved}/move`).send({ target_ehr: third });
  expect((await merge(app, second, first)).status).toBe(200);
  expect((await unmerge(app, fourth, third)).status).toBe(200);
  const erased = await givenComposition(app, third);
  await admin(app, 'delete', `/ehr/${third}/composition/${versionedObjectUidOf(erased)}`);
  const key = `/ehr/${first}/composition/${versionedObjectUidOf(uid)}/tags`;
  await request(app)
    .put(`${V1}${key}`)
    .send([{ key: 'seen', value: 'yes' }])
    .expect(200);
  await sealNewRecords();
});

/** A query, categories and policies with a version before, and a template with a revision before. */
async function givenDefinitions(): Promise<void> {
  const query = 'SELECT e FROM EHR e';
  await request(app).put(`${V1}/definition/query/org.example::all/1.0.0`).type('text/plain').send(query);
  for (const templates of [['one'], ['one', 'other']])
    await admin(app, 'put', '/categories')
      .send({ categories: [{ name: 'psychiatry', templates }] })
      .expect(200);
  for (const effect of ['permit', 'forbid']) {
    const policy = `${effect} (principal, action, resource is Version);`;
    await admin(app, 'put', '/policies/versions').send({ policy }).expect(200);
  }
  for (const opt of revisionTexts('revised'))
    expect((await new RevisedData(app).upload(opt)).status).toBe(201);
}

async function givenMarks(ehrId: string, marks: readonly object[]): Promise<void> {
  await request(app).put(`/rest/ehrs/${ehrId}/marks`).set('Authorization', ADMIN).send({ marks }).expect(200);
}

interface Damage {
  readonly field: string;
  readonly kind: (typeof KINDS)[number];
}
const KINDS = ['change', 'remove', 'add'] as const;
type Draw = (below: number) => number;

/** Of a tombstone, of a container that ended with it, or of another document than that with the system id. */
async function placeOf(name: string, doc: Stored): Promise<string> {
  if (name === 'seal_blocks') return (doc['leaves'] as unknown[]).length === 0 ? 'empty' : '';
  if (name === 'settings') return doc._id === STORAGE_ID ? '' : 'other';
  if (name === 'ehrs') return String(doc['state']);
  const owner =
    name === 'versioned_objects' ? await collection('ehrs').findOne({ _id: String(doc['ehr_id']) }) : null;
  return owner?.['state'] === 'merged' ? 'ended' : '';
}

/** A copy that keeps the types of the database. */
const structuredCloneOf = (doc: Stored): Stored =>
  mongoose.mongo.BSON.deserialize(mongoose.mongo.BSON.serialize(doc)) as Stored;

/** Another value of the same type where there is one. */
function otherThan(value: unknown, draw: Draw): unknown {
  if (typeof value === 'string') return draw(4) === 0 ? 7 : `${value}x`;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (value instanceof Date) return new Date(value.getTime() - 1_000);
  if (value instanceof mongoose.mongo.Binary) return flipped(value, draw);
  return value === null || draw(2) === 0 ? 'damaged' : null;
}

/** The same bytes but for one of them. */
function flipped({ buffer, position, sub_type: subType }: mongoose.mongo.Binary, draw: Draw): unknown {
  const bytes = Buffer.from(buffer.subarray(0, position));
  const at = draw(Math.max(1, bytes.length));
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return new mongoose.mongo.Binary(bytes, subType);
}

const isContainer = (value: unknown): value is Record<string, unknown> =>
  Array.isArray(value) || (typeof value === 'object' && value !== null && value.constructor === Object);

/** An object or list at any depth of a document, and the names that lead to it: the deeper the rarer. */
function somewhereIn(
  doc: Stored,
  draw: Draw,
): { readonly within: Record<string, unknown>; readonly path: string[] } {
  let within: Record<string, unknown> = doc;
  const path: string[] = [];
  for (;;) {
    const deeper = Object.keys(within).filter((name) => isContainer(within[name]));
    const name = deeper[draw(deeper.length * 2)];
    if (name === undefined || draw(4) === 0) return { within, path };
    within = within[name] as Record<string, unknown>;
    path.push(name);
  }
}

/** Changes, removes or adds one field, or one member of a list, at any depth; `doc` is a copy of what is stored. */
function damaged(doc: Stored, draw: Draw): Damage {
  const { within, path } = somewhereIn(doc, draw);
  const fields = Object.keys(within).filter((field) => path.length > 0 || field !== '_id');
  const drawn = fields[draw(fields.length)];
  const kind = drawn === undefined ? 'add' : KINDS[draw(KINDS.length)]!;
  const field = kind === 'add' ? 'added' : drawn!;
  if (Array.isArray(within)) damageList(within, { field, kind }, draw);
  else if (kind === 'remove') Reflect.deleteProperty(within, field);
  else within[field] = kind === 'add' ? 1 : otherThan(within[field], draw);
  return { field: [...path, field].join('.'), kind };
}

function damageList(list: unknown[], { field, kind }: Damage, draw: Draw): void {
  if (kind === 'add') list.push(1);
  else if (kind === 'remove') list.splice(Number(field), 1);
  else list[Number(field)] = otherThan(list[Number(field)], draw);
}

const UUID = /^[0-9a-f]{8}-/;

/** Ids by which a document may be named: its own, and of what it is about or belongs to. */
function idsOf(doc: Stored): string[] {
  const texts = Object.values(doc).filter((value) => typeof value === 'string');
  return [idText(doc._id), ...[...texts, ...idText(doc._id).split(':')].filter((text) => UUID.test(text))];
}

/** Whether one of these says which document it is. */
function isNamed(violations: readonly Violation[], ...docs: readonly Stored[]): boolean {
  const ids = docs.flatMap(idsOf);
  return violations.some(({ id, message }) =>
    ids.some((one) => id === one || message.includes(one) || id.includes(one)),
  );
}

it('each collection is damaged here, or is one of which the page says that nothing is found', () => {
  const all = COLLECTION_LAYOUT.map(({ name }): string => name);
  expect([...UNVERIFIED].filter((name) => !all.includes(name))).toEqual([]);
  expect([...UNVERIFIED].toSorted()).toEqual(
    all.filter((name) => !VERIFIED.some((one) => one === name)).toSorted(),
  );
});

async function isStored(name: string, { _id }: Stored, copy: Stored): Promise<boolean> {
  try {
    await collection(name).replaceOne({ _id }, copy);
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

describe('one damaged field of any stored document', () => {
  it('is no violation before it is damaged', async () => {
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it.each([
    ['is null', { $set: { 'versions.0': null } }],
    ['has no uid', { $unset: { 'versions.0.uid': 1 } }],
    ['is a number', { $push: { versions: 1 } }],
  ])('is named where an entry of the list of a CONTRIBUTION %s', async (_, update) => {
    const doc = (await collection('contributions').findOne({ 'versions.0': { $exists: true } }))!;
    await collection('contributions').updateOne({ _id: doc._id }, update as never);
    expect((await verifyStorage()).violations).toContainEqual(
      expect.objectContaining({ kind: 'changed', id: doc._id }),
    );
    await collection('contributions').replaceOne({ _id: doc._id }, doc);
  });

  it('is named by verify, or listed as what it does not find', async () => {
    const unseen: string[] = [];
    for (const seed of seeds(SIZES)) {
      const draw = chance(seed * 7_919);
      const name = VERIFIED[draw(VERIFIED.length)] ?? '';
      const docs = await collection(name).find({}).sort({ _id: 1 }).toArray();
      const doc = docs[draw(Math.max(1, docs.length))];
      if (doc === undefined) continue;
      const copy = structuredCloneOf(doc);
      const { field, kind } = damaged(copy, draw);
      // What an index refuses nobody can store.
      if (!(await isStored(name, doc, copy))) continue;
      try {
        const { violations } = await verifyStorage();
        const names = [`${name}.${field}`, `${await placeOf(name, doc)} ${name}.${field}`];
        const isListed = LISTED.some((listed) => names.some((one) => listed.test(one)));
        if (!isNamed(violations, doc, copy) && !isListed)
          unseen.push(
            `${seed}: ${name}.${field} ${kind}: ${violations.map(({ kind: of, id, message }) => `${of} ${id} ${message}`).join('; ')}`,
          );
      } catch (error) {
        unseen.push(`${seed}: ${name}.${field} ${kind}: ${String(error)}`);
      }
      await collection(name).replaceOne({ _id: doc._id }, doc);
    }
    expect(unseen).toEqual([]);
    expect((await verifyStorage()).violations).toEqual([]);
  }, 7_200_000);
});
