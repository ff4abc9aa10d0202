import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { sealBaseline } from '../../maintenance/baseline.js';
import { sealNewRecords } from '../../maintenance/seal.js';
import { verifyStorage } from '../../maintenance/verify.js';
import { claimStorage } from '../../models/settings.js';
import { testApp } from '../support/app.js';
import { attestation } from '../support/attestation.js';
import { useDatabase } from '../support/database.js';
import { draws, seeds } from '../support/laws.js';
import {
  admin,
  folder,
  givenDirectory,
  givenMergeTemplates,
  givenUpdate,
  merge,
  statusOf,
} from '../support/merge-http.js';
import { aComposition, givenComposition, givenEhr, V1, versionedObjectUidOf } from '../support/resources.js';
import { WITH_ADMIN } from '../support/tokens.js';

useDatabase();
const app = testApp({ ...WITH_ADMIN, auditReads: true });

interface Stored {
  _id: string;
  [field: string]: unknown;
}
const collection = (name: string) => mongoose.connection.collection<Stored>(name);

const SIZES = { small: 40, full: 4_000 };

/** Collections of which something is found. */
const COLLECTIONS = [
  'ehrs',
  'versioned_objects',
  'versions',
  'contributions',
  'aql',
  'templates',
  'stored_queries',
  'item_tags',
  'merge_records',
  'merge_archive',
  'audit',
  'removals',
  'seal_blocks',
];

/** What docs/security.md#what-verify-does-not-find lists, as `<collection>.<field>`. */
const LISTED = [
  /^ehrs\.(write_seq|merge_seq|merging|shares_contributions|released_subject|identities)$/,
  /^merged ehrs\.(is_queryable|is_modifiable|subject|ehr_status_id|directory_id)$/,
  /^ended versioned_objects\./,
  /^empty seal_blocks\.leaves$/,
  /^ehrs\.added$/,
  /^versioned_objects\.(category|template_id|added)$/,
  /^templates\.used$/,
  /^item_tags\./,
  /^contributions\.(unsealed|leaves)$/,
  /^seal_blocks\.(added|leaves\.added)$/,
];

/** A generator of numbers from a seed. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

beforeAll(async () => {
  await claimStorage('local.cdr', 'all');
  await sealBaseline();
  await givenMergeTemplates(app);
  const query = 'SELECT e FROM EHR e';
  await request(app).put(`${V1}/definition/query/org.example::all/1.0.0`).type('text/plain').send(query);
  const ehrIds = [];
  for (let n = 0; n < 3; n += 1) ehrIds.push(await givenEhr(app, statusOf(randomUUID())));
  const [first = '', second = '', third = ''] = ehrIds;
  const uid = await givenComposition(app, first);
  await givenUpdate(app, first, uid, aComposition());
  await request(app).post(`${V1}/ehr/${first}/contribution`).send(attestation(uid));
  await givenDirectory(app, second, folder('root'));
  const moved = versionedObjectUidOf(await givenComposition(app, second));
  await givenComposition(app, third);
  await admin(app, 'post', `/ehr/${second}/composition/${moved}/move`).send({ target_ehr: third });
  await givenComposition(app, second);
  expect((await merge(app, second, first)).status).toBe(200);
  const erased = await givenComposition(app, third);
  await admin(app, 'delete', `/ehr/${third}/composition/${versionedObjectUidOf(erased)}`);
  await sealNewRecords();
});

interface Damage {
  readonly field: string;
  readonly kind: 'change' | 'remove' | 'add';
}

/** Of a tombstone, or of a container that ended with it. */
async function placeOf(name: string, doc: Stored): Promise<string> {
  if (name === 'seal_blocks') return (doc['leaves'] as unknown[]).length === 0 ? 'empty' : '';
  if (name === 'ehrs') return String(doc['state']);
  const owner =
    name === 'versioned_objects' ? await collection('ehrs').findOne({ _id: String(doc['ehr_id']) }) : null;
  return owner?.['state'] === 'merged' ? 'ended' : '';
}

/** Another value of the same type where there is one. */
function otherThan(value: unknown, draw: (below: number) => number): unknown {
  if (typeof value === 'string') return draw(4) === 0 ? 7 : `${value}x`;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (value instanceof Date) return new Date(value.getTime() - 1_000);
  return value === null || draw(2) === 0 ? 'damaged' : null;
}

async function damage(name: string, doc: Stored, draw: (below: number) => number): Promise<Damage> {
  const fields = Object.keys(doc).filter((field) => field !== '_id');
  let field = fields[draw(fields.length)] ?? 'added';
  const kind = (['change', 'remove', 'add'] as const)[draw(3)] ?? 'change';
  if (kind === 'add') field = 'added';
  const value = doc[field];
  const update =
    kind === 'remove'
      ? { $unset: { [field]: 1 } }
      : { $set: { [field]: kind === 'add' ? 1 : otherThan(value, draw) } };
  await collection(name).updateOne({ _id: doc._id }, update as never);
  return { field, kind };
}

describe('one damaged field of any stored document', () => {
  it('is no violation before it is damaged', async () => {
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it(
    'is named by verify, or listed as what it does not find',
    async () => {
      const unseen: string[] = [];
      for (const seed of seeds(SIZES)) {
        const draw = chance(seed * 7_919);
        const name = COLLECTIONS[draw(COLLECTIONS.length)] ?? '';
        const docs = await collection(name).find({}).sort({ _id: 1 }).toArray();
        const doc = docs[draw(Math.max(1, docs.length))];
        if (doc === undefined) continue;
        const { field, kind } = await damage(name, doc, draw);
        try {
          const { violations } = await verifyStorage();
          const names = [`${name}.${field}`, `${await placeOf(name, doc)} ${name}.${field}`];
          const isListed = LISTED.some((listed) => names.some((one) => listed.test(one)));
          if (violations.length === 0 && !isListed) unseen.push(`${seed}: ${name}.${field} ${kind}`);
        } catch (error) {
          unseen.push(`${seed}: ${name}.${field} ${kind}: ${String(error)}`);
        }
        await collection(name).replaceOne({ _id: doc._id }, doc);
      }
      expect(unseen).toEqual([]);
      expect((await verifyStorage()).violations).toEqual([]);
    },
    30_000 + 2_000 * draws(SIZES),
  );
});
