import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import mongoose from 'mongoose';
import request from 'supertest';
import { sealBaseline } from '../../maintenance/baseline.js';
import { AuditDraft, withAuditDraft } from '../../change/commit/audit-draft.js';
import { eraseEhr } from '../../maintenance/erase.js';
import { sealHead, sealNewRecords } from '../../maintenance/seal.js';
import { formatSealHead, parseSealHead } from '../../maintenance/seal-head.js';
import { verifyStorage } from '../../maintenance/verify.js';
import { eraseAuditBefore } from '../../models/cross-collection/erase.js';
import type { SealHead } from '../../models/cross-collection/seal-block.js';
import { createLogger } from '../../src/logger.js';
import { keepSealing } from '../../src/process/start.js';
import { testApp } from '../support/app.js';
import { attestation } from '../support/attestation.js';
import { useDatabase } from '../support/database.js';
import {
  admin,
  folder,
  givenDirectory,
  givenMergeTemplates,
  givenUpdate,
  merge,
  statusOf,
  unmerge,
} from '../support/merge-http.js';
import { runStep, steps } from '../support/merge/random-record.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  versionedObjectUidOf,
  V1,
  type Json,
} from '../support/resources.js';
import { WITH_ADMIN } from '../support/tokens.js';

/** `SEAL_RUNS=200` for a long look. */
const RUNS = Number(process.env['SEAL_RUNS'] ?? 8);

useDatabase();
const app = testApp({ ...WITH_ADMIN, auditReads: true });
beforeAll(() => givenMergeTemplates(app));

interface Stored {
  _id: string;
  [field: string]: unknown;
}
const collection = (name: string) => mongoose.connection.collection<Stored>(name);
const blocks = () => mongoose.connection.collection<{ _id: number; leaves: Json[] }>('seal_blocks');

const CLEARED = [
  'ehrs',
  'versions',
  'versioned_objects',
  'contributions',
  'aql',
  'item_tags',
  'merge_records',
];

async function clear(): Promise<void> {
  for (const name of [...CLEARED, 'merge_archive', 'audit', 'removals', 'seal_blocks'])
    await collection(name).deleteMany({});
  // As every new database begins.
  await collection('settings').updateOne(
    { _id: 'storage' },
    { $set: { system_id: 'local.cdr' } },
    { upsert: true },
  );
  await sealBaseline();
}

const RECORDS = ['contributions', 'versions', 'audit'];

/** As a database of a release without seals. */
async function forgetSeals(): Promise<void> {
  for (const name of ['removals', 'seal_blocks']) await collection(name).deleteMany({});
}

/** What the seals tell, as `<kind> <id>`. */
async function sealFindings(since: SealHead | null = null): Promise<string[]> {
  const { violations } = await verifyStorage(undefined, since === null ? [] : [since]);
  const kinds = ['changed', 'missing', 'inserted', 'chain-broken'];
  return violations.filter(({ kind }) => kinds.includes(kind)).map(({ kind, id }) => `${kind} ${id}`);
}

async function erasedIds(): Promise<string[]> {
  return (await verifyStorage()).erased.map(({ id }) => id).toSorted();
}

async function idsOf(name: string, filter: object = {}): Promise<string[]> {
  return (await collection(name).find(filter).sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
}

async function anyId(name: string): Promise<string> {
  const [id] = await idsOf(name);
  if (id === undefined) throw new Error(`${name} is empty`);
  return id;
}

let ehrId = '';
let versionUid = '';
beforeEach(async () => {
  await clear();
  ehrId = await givenEhr(app, statusOf(randomUUID()));
  versionUid = await givenComposition(app, ehrId);
  await sealNewRecords();
  await givenComposition(app, ehrId);
  await request(app).get(`${V1}/ehr/${ehrId}`);
  await sealNewRecords();
});

describe('sealing', () => {
  it('puts every record into a block and tells the head', async () => {
    const records = await sealHead();
    const stored = await Promise.all(
      [...RECORDS, 'ehrs', 'removals'].map((name) => collection(name).countDocuments()),
    );
    expect(records).toMatchObject({
      block: 3,
      records: stored.reduce((sum, count) => sum + count),
      unsealed: 0,
    });
    expect(records.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await collection('contributions').countDocuments({ unsealed: true })).toBe(0);
    expect(await sealNewRecords()).toBe(0);
    expect(await sealHead()).toEqual(records);
    const report = await verifyStorage();
    expect(report).toMatchObject({ violations: [], erased: [], seal: records });
    expect(report.checked['seal_blocks']).toBe(3);
  });

  it('does not find fault with what is not sealed yet', async () => {
    const composition = await givenComposition(app, ehrId);
    await givenUpdate(app, ehrId, composition, aComposition());
    expect((await sealHead()).unsealed).toBeGreaterThanOrEqual(2);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('seals an attestation that comes later, and what was sealed before stays sealed', async () => {
    const attest = () => request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(attestation(versionUid));
    expect((await attest()).status).toBe(201);
    expect(await sealFindings()).toEqual([]);
    await sealNewRecords();
    expect((await attest()).status).toBe(201);
    await sealNewRecords();
    expect(await sealFindings()).toEqual([]);
    const change = { $push: { attestations: { _type: 'ATTESTATION' } } };
    await collection('versions').updateOne({ _id: versionUid }, change as never);
    expect(await sealFindings()).toEqual([`changed ${versionUid}`]);
    await collection('versions').updateOne({ _id: versionUid }, { $set: { attestations: [] } });
    expect(await sealFindings()).toEqual([`changed ${versionUid}`]);
  });

  it('leaves one sound chain when several seal at once and one of them dies in between', async () => {
    for (let n = 0; n < 3; n += 1) await givenComposition(app, ehrId);
    await Promise.all([sealNewRecords(), sealNewRecords(), sealNewRecords()]);
    expect((await sealHead()).unsealed).toBe(0);
    // Died after the block: the marks are still there, and so is its lease, which has run out.
    const id = await anyId('contributions');
    await collection('contributions').updateMany({}, { $set: { unsealed: true } });
    await collection('settings').insertOne({ _id: 'seal', holder: 'dead', expires_at: new Date(0) });
    await Promise.all([sealNewRecords(), sealNewRecords()]);
    await sealNewRecords();
    expect(await collection('contributions').findOne({ _id: id })).not.toHaveProperty('unsealed');
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('goes on from the block of another process that was faster', async () => {
    await givenComposition(app, ehrId);
    const leases = mongoose.connection.collection('settings');
    // Without the lease two of them build the same block: one is refused by its number.
    const taking = setInterval(() => void leases.deleteOne({ _id: 'seal' as never }), 1);
    await Promise.all(Array.from({ length: 4 }, () => sealNewRecords()));
    clearInterval(taking);
    await sealNewRecords();
    const { violations, seal } = await verifyStorage();
    expect([violations, seal?.unsealed]).toEqual([[], 0]);
  });

  it('seals what releases without seals have left, in steps', async () => {
    await forgetSeals();
    const status = { _type: 'AUDIT_DETAILS', system_id: 'x' };
    const old = Array.from({ length: 2_500 }, () => ({
      _id: randomUUID(),
      ehr_id: ehrId,
      time_committed: new Date(0),
      audit: status,
      versions: [],
    }));
    await collection('contributions').insertMany(old);
    let steps = 0;
    await sealNewRecords(() => (steps += 1) > 2);
    const between = (await sealHead()).records;
    expect(between).toBeGreaterThan(1_000);
    expect(between).toBeLessThan(2_500);
    expect(await sealFindings()).toEqual([]);
    await sealNewRecords();
    expect(await sealFindings()).toEqual([]);
    const stored = RECORDS.map((name) => collection(name).countDocuments());
    expect((await sealHead()).records).toBe((await Promise.all(stored)).reduce((sum, one) => sum + one));
    await collection('contributions').updateOne({ _id: old[0]!._id }, { $set: { audit: {} } });
    expect(await sealFindings()).toEqual([`changed ${old[0]!._id}`]);
  });

  it('ends a run although others go on committing', async () => {
    const done = new AbortController();
    const committing = (async () => {
      while (!done.signal.aborted) await givenComposition(app, ehrId);
    })();
    let made = 0;
    for (let run = 0; run < 3; run += 1) made += await sealNewRecords();
    done.abort();
    await committing;
    expect(made).toBeLessThanOrEqual(3);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('goes on by itself in a server, and ends with it', async () => {
    await givenComposition(app, ehrId);
    const stop = keepSealing(createLogger('silent'), 20);
    while ((await sealHead()).unsealed > 0) await pause(20);
    await stop();
    await givenComposition(app, ehrId);
    await pause(60);
    expect((await sealHead()).unsealed).toBeGreaterThan(0);
    expect((await verifyStorage()).violations).toEqual([]);
  });

  it('begins a chain in an empty database too, so that there is a head to keep', async () => {
    await clear();
    await forgetSeals();
    expect(await sealHead()).toMatchObject({ block: 0, hash: '0'.repeat(64), time: null });
    expect((await verifyStorage()).seal).toBeNull();
    expect(await sealNewRecords()).toBe(1);
    expect(await sealHead()).toMatchObject({ block: 1, records: 0, unsealed: 0 });
  });
});

describe('verify names a record', () => {
  const changes: [string, object][] = [
    ['versions', { $set: { data: '{"_type":"COMPOSITION"}' } }],
    ['versions', { $set: { data: null } }],
    ['versions', { $set: { data: 7 } }],
    ['versions', { $set: { 'commit_audit.committer.name': 'Eve' } }],
    ['versions', { $set: { lifecycle_state: {} } }],
    ['versions', { $set: { signature: 'x' } }],
    ['versions', { $set: { preceding_version_uid: 'x' } }],
    ['versions', { $set: { time_committed: new Date(0) } }],
    ['contributions', { $set: { 'audit.committer.name': 'Eve' } }],
    ['contributions', { $set: { versions: [] } }],
    ['contributions', { $set: { versions: 1 } }],
    ['audit', { $set: { user: 'eve' } }],
    ['audit', { $unset: { ehr_id: 1 } }],
    ['audit', { $set: { further: true } }],
  ];
  it.each(changes)('of %s that was changed by %j', async (name, change) => {
    const id = name === 'versions' ? versionUid : await anyId(name);
    await collection(name).updateOne({ _id: id }, change);
    expect(await sealFindings()).toEqual([`changed ${id}`]);
    // Marking it as new does not launder it.
    if (name !== 'versions') await collection(name).updateOne({ _id: id }, { $set: { unsealed: true } });
    await sealNewRecords();
    expect(await sealFindings()).toEqual([`changed ${id}`]);
  });

  it.each(['versions', 'contributions', 'audit'])('of %s that is missing', async (name) => {
    const id = await anyId(name);
    await collection(name).deleteOne({ _id: id });
    expect(await sealFindings()).toEqual([`missing ${id}`]);
  });

  it.each(['versions', 'contributions', 'audit'])('of %s that was inserted', async (name) => {
    const doc = await collection(name).findOne({ _id: await anyId(name) });
    const id = randomUUID();
    await collection(name).insertOne({ ...doc, _id: id });
    expect(await sealFindings()).toEqual([`inserted ${id}`]);
  });

  it('of another patient than it was sealed for', async () => {
    const other = await givenEhr(app, statusOf(randomUUID()));
    await sealNewRecords();
    for (const [name, field] of [
      ['versions', 'ehr_id'],
      ['versioned_objects', 'ehr_id'],
      ['contributions', 'ehr_id'],
      ['aql', 'ehr'],
    ] as const) {
      const key = {
        versions: 'object_id',
        versioned_objects: '_id',
        contributions: 'versions.uid',
        aql: 'vo',
      }[name];
      const of = name === 'contributions' ? versionUid : versionedObjectUidOf(versionUid);
      await collection(name).updateMany({ [key]: of }, { $set: { [field]: other } });
    }
    const [contribution] = await idsOf('contributions', { 'versions.uid': versionUid });
    expect((await sealFindings()).toSorted()).toEqual(
      [`changed ${contribution}`, `changed ${versionUid}`].toSorted(),
    );
  });

  it('but not tags or the order of its fields', async () => {
    const doc = (await collection('versions').findOne({ _id: versionUid })) as Stored;
    const turned = Object.fromEntries(Object.entries(doc).toReversed()) as unknown as Stored;
    await collection('versions').replaceOne({ _id: versionUid }, { ...turned, has_item_tags: true });
    expect(await sealFindings()).toEqual([]);
  });
});

describe('verify names a block', () => {
  beforeEach(async () => {
    await givenComposition(app, ehrId);
    await sealNewRecords();
  });

  it('whose records were changed', async () => {
    await blocks().updateOne({ _id: 2 }, { $pop: { leaves: 1 } } as never);
    expect(await sealFindings()).toEqual(
      expect.arrayContaining(['chain-broken 2', expect.stringMatching(/^inserted /)]),
    );
    await blocks().updateOne({ _id: 2 }, { $set: { leaves: 'none' } } as never);
    expect(await sealFindings()).toContain('chain-broken 2');
  });

  it('whose time was changed', async () => {
    await blocks().updateOne({ _id: 2 }, { $set: { time: new Date(0) } });
    expect(await sealFindings()).toEqual(['chain-broken 2']);
  });

  it('that is missing', async () => {
    await blocks().deleteOne({ _id: 2 });
    expect(await sealFindings()).toEqual(['chain-broken 2']);
  });

  it('that changed its place with another', async () => {
    const [first, second] = await blocks()
      .find({ _id: { $in: [1, 2] } })
      .sort({ _id: 1 })
      .toArray();
    await blocks().replaceOne({ _id: 1 }, { ...second, _id: 1 } as never);
    await blocks().replaceOne({ _id: 2 }, { ...first, _id: 2 } as never);
    expect(await sealFindings()).toEqual(expect.arrayContaining(['chain-broken 1', 'chain-broken 2']));
  });

  it('that a head kept elsewhere tells of, when the newest are gone or written anew', async () => {
    const { block, hash, ...rest } = await sealHead();
    const head = parseSealHead(formatSealHead({ block, hash }));
    expect(parseSealHead(JSON.stringify({ ...rest, block, hash }))).toEqual(head);
    expect(await sealFindings(head)).toEqual([]);
    await blocks().deleteOne({ _id: block });
    expect(await sealFindings(head)).toEqual([`chain-broken ${block}`]);
    expect(await sealFindings()).toEqual(expect.arrayContaining([expect.stringMatching(/^inserted /)]));
    await forgetSeals();
    expect(await sealFindings(head)).toEqual(['chain-broken 1']);
    await sealNewRecords();
    await givenComposition(app, ehrId);
    await sealNewRecords();
    await givenComposition(app, ehrId);
    await sealNewRecords();
    expect(await sealFindings()).toEqual([]);
    expect(await sealFindings(head)).toEqual([`chain-broken ${block}`]);
  });

  it.each(['', '3', '3:abc', '{"block":1}', `-1:${'0'.repeat(64)}`])('but refuses the head %j', (text) => {
    expect(() => parseSealHead(text)).toThrow('a head of the seals is');
  });
});

describe('an erasure', () => {
  it('of an EHR leaves sealed records that verify calls erased', async () => {
    const gone = [ehrId, ...(await idsOf('versions')), ...(await idsOf('contributions'))].toSorted();
    expect((await admin(app, 'delete', `/ehr/${ehrId}`)).status).toBe(204);
    expect(await sealFindings()).toEqual([]);
    expect(await erasedIds()).toEqual(gone);
    await sealNewRecords();
    expect(await sealFindings()).toEqual([]);
    expect(await erasedIds()).toEqual(gone);
    const note = await anyId('removals');
    await collection('removals').deleteOne({ _id: note });
    expect(await sealFindings()).toEqual(expect.arrayContaining([`missing ${note}`]));
  });

  it('of an EHR in steps, and of a COMPOSITION, too', async () => {
    const second = await givenComposition(app, ehrId);
    await sealNewRecords();
    const path = `/ehr/${ehrId}/composition/${versionedObjectUidOf(second)}`;
    expect((await admin(app, 'delete', path)).status).toBe(200);
    expect(await erasedIds()).toEqual([second]);
    const sender = { user: 'ada', operation: 'deleteEhr', request_id: randomUUID() };
    await withAuditDraft(new AuditDraft(() => sender, 204), () => eraseEhr(ehrId, { versionsAtOnce: 1 }));
    await sealNewRecords();
    expect(await sealFindings()).toEqual([]);
    expect(await collection('versions').countDocuments()).toBe(0);
    expect(await erasedIds()).toContain(versionUid);
  });
});

describe('the end of the retention of audit records', () => {
  it('leaves sealed records that verify calls erased', async () => {
    const gone = await idsOf('audit');
    expect(await eraseAuditBefore(new Date(Date.now() + 60_000))).toBe(gone.length);
    expect(gone.length).toBeGreaterThan(0);
    expect(await sealFindings()).toEqual([]);
    expect(await erasedIds()).toEqual(gone);
  });
});

describe('a merge and its unmerge', () => {
  const modes: Json[] = [
    { reversible: true },
    { reversible: true, folder_merge: 'COPY', composition_merge: 'PERSISTENT' },
    { reversible: false, folder_merge: 'COPY' },
  ];
  it.each(modes)('are no violation: %j', async (mode) => {
    const source = await givenEhr(app, statusOf(randomUUID()));
    const persistent = aComposition('persistent_minimal.en.v1');
    for (const owner of [source, ehrId]) await givenComposition(app, owner, persistent);
    await givenDirectory(app, source, folder('root', []));
    if (mode['reversible'] === false) await sealNewRecords();
    expect((await merge(app, source, ehrId, mode)).status).toBe(200);
    expect((await verifyStorage()).violations).toEqual([]);
    await sealNewRecords();
    expect((await verifyStorage()).violations).toEqual([]);
    if (mode['reversible'] === false) return;
    expect((await unmerge(app, source, ehrId)).status).toBe(200);
    expect((await verifyStorage()).violations).toEqual([]);
    await sealNewRecords();
    expect((await verifyStorage()).violations).toEqual([]);
    // What came back is sealed as everything else.
    const [status] = await idsOf('versions', { ehr_id: source, type: 'EHR_STATUS' });
    await collection('versions').updateOne({ _id: status! }, { $set: { signature: 'x' } });
    expect(await sealFindings()).toEqual([`changed ${status!}`]);
    await collection('versions').deleteOne({ _id: status! });
    expect(await sealFindings()).toEqual([`missing ${status!}`]);
  });

  it('keep the CONTRIBUTION of a merge sealed after its unmerge', async () => {
    const source = await givenEhr(app, statusOf(randomUUID()));
    const persistent = aComposition('persistent_minimal.en.v1');
    for (const owner of [source, ehrId]) await givenComposition(app, owner, persistent);
    await givenDirectory(app, source, folder('root', []));
    const directory = await givenDirectory(app, ehrId, folder('root', []));
    const mode = { folder_merge: 'COPY', composition_merge: 'PERSISTENT' };
    expect((await merge(app, source, ehrId, mode)).status).toBe(200);
    await sealNewRecords();
    const latest = `${versionedObjectUidOf(directory)}::local.cdr::2`;
    const changed = await request(app)
      .put(`${V1}/ehr/${ehrId}/directory`)
      .set('If-Match', `"${latest}"`)
      .send({ ...(await request(app).get(`${V1}/ehr/${ehrId}/directory`)).body });
    expect(changed.status).toBe(200);
    expect((await unmerge(app, source, ehrId)).status).toBe(200);
    expect((await verifyStorage()).violations).toEqual([]);
    await sealNewRecords();
    expect((await verifyStorage()).violations).toEqual([]);
    const undone = await collection('merge_history').findOne({ source_ehr: source });
    const id = String(undone?.['contribution_uid']);
    await collection('contributions').updateOne({ _id: id }, { $set: { 'audit.system_id': 'x' } });
    expect(await sealFindings()).toEqual([`changed ${id}`]);
  });
});

type Tampering = (id: string, name: string) => Promise<string>;
const tamperings: Record<string, Tampering> = {
  change: async (id, name) => {
    const field = { versions: 'commit_audit', contributions: 'audit', audit: 'operation' }[name]!;
    await collection(name).updateOne({ _id: id }, { $set: { [field]: 'x' } });
    return `changed ${id}`;
  },
  remove: async (id, name) => {
    await collection(name).deleteOne({ _id: id });
    return `missing ${id}`;
  },
  insert: async (id, name) => {
    const copy = { ...(await collection(name).findOne({ _id: id })), _id: randomUUID() };
    delete (copy as Json)['unsealed'];
    await collection(name).insertOne(copy);
    return `inserted ${copy._id}`;
  },
};

describe('whatever was written', () => {
  it(
    'is sealed soundly, and any single tampering is named',
    async () => {
      const event = fc.constantFrom('seal', 'merge', 'unmerge', 'erase', 'none');
      const run = fc.record({
        script: steps(10),
        events: fc.array(event, { minLength: 6, maxLength: 6 }),
        name: fc.constantFrom('versions', 'contributions', 'audit'),
        kind: fc.constantFrom('change', 'remove', 'insert'),
        pick: fc.nat(),
      });
      await fc.assert(
        fc.asyncProperty(run, async ({ script, events, name, kind, pick }) => {
          await clear();
          const pair = [await givenEhr(app), await givenEhr(app)] as const;
          const third = await givenEhr(app);
          for (const step of script) {
            await runStep(pair, step);
            if (step.pick % 3 === 0) await sealNewRecords();
          }
          const modes = { folder_merge: 'COPY', composition_merge: 'PERSISTENT' };
          for (const what of events) {
            if (what === 'seal') await sealNewRecords();
            if (what === 'merge') await merge(app, pair[0], pair[1], modes);
            if (what === 'unmerge') await unmerge(app, pair[0], pair[1]);
            if (what === 'erase') await admin(app, 'delete', `/ehr/${third}`);
            expect((await verifyStorage()).violations).toEqual([]);
          }
          await sealNewRecords();
          expect((await verifyStorage()).violations).toEqual([]);
          const ids = await idsOf(name);
          fc.pre(ids.length > 0);
          const expected = await tamperings[kind]!(ids[pick % ids.length]!, name);
          expect(await sealFindings()).toEqual([expected]);
        }),
        { numRuns: RUNS },
      );
      // Each run writes, merges and verifies many times; a busy machine takes its time.
    },
    30_000 * RUNS,
  );
});
