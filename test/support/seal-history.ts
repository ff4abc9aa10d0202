import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import request, { type Test } from 'supertest';
import { AuditDraft, withAuditDraft } from '../../change/commit/audit-draft.js';
import { eraseEhr } from '../../maintenance/erase.js';
import { pruneAudit } from '../../maintenance/prune-audit.js';
import { sealNewRecords } from '../../maintenance/seal.js';
import { testApp } from './app.js';
import { fixtureText } from './fixture.js';
import { emptied, exported, imported, refusals } from './interchange.js';
import {
  admin,
  folder,
  givenDirectory,
  givenMergeTemplates,
  merge,
  statusOf,
  unmerge,
} from './merge-http.js';
import { RevisedData, revisionTexts } from './openehr/revised-data.js';
import { element, multiple, node, root, single, template } from './openehr/opt-builder.js';
import { putMarks, WITHHELD } from './policy/marks.js';
import { putCategories } from './policy/categories.js';
import { putPolicy } from './policy/put.js';
import { givenComposition, givenEhr, V1, versionedObjectUidOf, type Json } from './resources.js';
import { everythingOn } from './settings.js';
import { ADMIN, WITH_ADMIN } from './tokens.js';

/** Who may do anything without a token; merges of more in steps. */
const app = testApp({ ...WITH_ADMIN, mergeStepsFrom: 6, auditReads: true, templateRevisions: true });
/** With policies and marks, which hold nothing back here. */
const judged = testApp(everythingOn({ auth: 'jwt', accessMode: 'dry' }));
const PERMIT = 'permit (principal, action, resource);';
const SEMVER = '1.0.0';

/** What is said to be done by its name, and does it. */
export type SealedOperation = readonly [name: string, run: () => Promise<void>];

async function expectStatus(asked: Test, ...statuses: readonly number[]): Promise<Json> {
  const { status, text, body } = await asked;
  if (!statuses.includes(status)) throw new Error(`${status} ${text}`);
  return body as Json;
}

const upload = (opt: string): Test =>
  request(app)
    .post(`${V1}/definition/template/adl1.4`)
    .set({ 'Content-Type': 'application/xml', Authorization: ADMIN })
    .send(opt);
const templateOf = (id: string): string => revisionTexts(id)[0];
const policy = (id: string): Test => putPolicy(judged, id, PERMIT);

async function withMarkedObject(): Promise<{ readonly ehrId: string; readonly uid: string }> {
  const ehrId = await givenEhr(app, statusOf(randomUUID()));
  const uid = versionedObjectUidOf(await givenComposition(app, ehrId));
  await expectStatus(putMarks(judged, ehrId, [WITHHELD, { ...WITHHELD, object_uid: uid }], ADMIN), 200);
  return { ehrId, uid };
}

async function pair(compositions: number): Promise<readonly [source: string, target: string]> {
  const ids = [await givenEhr(app, statusOf(randomUUID())), await givenEhr(app)] as const;
  for (const ehrId of ids) await givenDirectory(app, ehrId, folder('root'));
  for (let n = 0; n < compositions; n += 1) await givenComposition(app, ids[0]);
  return ids;
}

/** Merges with everything that can be archived, in one transaction or, where there are many, in steps. */
async function merged(compositions: number): Promise<readonly [source: string, target: string]> {
  const [source, target] = await pair(compositions);
  await expectStatus(merge(app, source, target, { reversible: true, folder_merge: 'COPY' }), 200);
  return [source, target];
}

const TREE = 'openEHR-EHR-EVALUATION.noted.v1';
const revision = (id: string, at: string): string => {
  const tree = node('ITEM_TREE', { id: 'at0001', inside: multiple('items', element(at, node('DV_TEXT'))) });
  const entry = root(TREE, single('data', tree), { at0001: 'Tree', at0002: 'One', at0003: 'Two' }, '0..*');
  return template(entry, { id });
};
const ITEMS = `/content[${TREE}]/data[at0001]`;
const MOVED = { rules: [{ move: `${ITEMS}/items[at0002]`, to: `${ITEMS}/items[at0003]` }] };

/** An upgrade that moves a path, so that the template gets aliases; and takes it back. */
async function upgradedAndBack(): Promise<void> {
  const id = `noted ${randomUUID()}`;
  const data = new RevisedData(app);
  await expectStatus(upload(revision(id, 'at0002')), 201);
  await expectStatus(upload(revision(id, 'at0003')), 200, 201);
  const path = `${encodeURIComponent(id)}/upgrade`;
  const plan = await expectStatus(data.admin(`${path}?dry_run=true`, MOVED), 200);
  const { job } = await expectStatus(data.admin(path, { ...MOVED, hash: plan['hash'] as string }), 202);
  await data.settled(`${path}/${String(job)}`);
  await expectStatus(data.admin(`${path}/${String(job)}/undo`), 200);
  await data.settled(`${path}/${String(job)}`);
}

async function erasedInSteps(): Promise<void> {
  const [, target] = await merged(2);
  await expectStatus(putMarks(judged, target, [WITHHELD], ADMIN), 200);
  const sender = { user: 'ada', operation: 'deleteEhr', request_id: randomUUID(), ehr_id: target };
  await withAuditDraft(new AuditDraft(() => sender, 204), () =>
    eraseEhr(target, { cascade: true, versionsAtOnce: 1 }),
  );
}

async function finalised(): Promise<void> {
  const [source] = await merged(1);
  const records = mongoose.connection.collection<{ _id: string; source_ehr: string }>('merge_records');
  const record = await records.findOne({ source_ehr: source });
  const path = `/ehr/merge/${record?._id ?? ''}/finalise`;
  await expectStatus(admin(app, 'post', path).send({ reason: 'it is one person' }), 200);
}

const query = (name: string): string => `${V1}/definition/query/org.example::${name}/${SEMVER}`;
const storeQuery = (name: string): Test =>
  request(app)
    .put(query(name))
    .set({ 'Content-Type': 'text/plain', Authorization: ADMIN })
    .send('SELECT e/ehr_id/value FROM EHR e');

async function revisedAndRemoved(): Promise<void> {
  const id = `revised ${randomUUID()}`;
  for (const opt of revisionTexts(id)) await expectStatus(upload(opt), 200, 201);
  const path = `/template/${encodeURIComponent(id)}`;
  const revisions = await expectStatus(admin(app, 'get', `${path}/revisions`), 200);
  const former = (revisions as unknown as Json[]).at(-1);
  await expectStatus(admin(app, 'delete', `${path}/revisions/${String(former?.['digest'])}`), 200, 204);
}

async function templateDeleted(): Promise<void> {
  const id = `deleted ${randomUUID()}`;
  await expectStatus(upload(templateOf(id)), 201);
  await expectStatus(admin(app, 'delete', `/template/${encodeURIComponent(id)}`), 202);
}

/** Each operation that leaves notes and may be made beside any other, once. */
export const NOTED_OPERATIONS: readonly SealedOperation[] = [
  [
    'a policy is stored, replaced and removed',
    async () => {
      for (const id of ['a', 'a', 'b']) await expectStatus(policy(id), 200);
      const path = '/rest/admin/policies/b';
      await expectStatus(request(judged).delete(path).set('Authorization', ADMIN), 204);
    },
  ],
  [
    'marks are set and lifted',
    async () => {
      const { ehrId } = await withMarkedObject();
      await expectStatus(putMarks(judged, ehrId, [], ADMIN), 200);
    },
  ],
  [
    'a marked COMPOSITION is moved',
    async () => {
      const { ehrId, uid } = await withMarkedObject();
      const path = `/ehr/${ehrId}/composition/${uid}/move`;
      await expectStatus(admin(app, 'post', path).send({ target_ehr: await givenEhr(app) }), 200);
    },
  ],
  [
    'a marked EHR is merged and taken out',
    async () => {
      const [{ ehrId }, target] = [await withMarkedObject(), await givenEhr(app)];
      await expectStatus(merge(app, ehrId, target, { reversible: true }), 200);
      await expectStatus(unmerge(app, ehrId, target), 200);
    },
  ],
  [
    'EHRs are merged in one transaction and taken out',
    async () => {
      await expectStatus(unmerge(app, ...(await merged(2))), 200);
    },
  ],
  [
    'EHRs are merged in steps and taken out',
    async () => {
      await expectStatus(unmerge(app, ...(await merged(9))), 200);
    },
  ],
  [
    'EHRs stay merged',
    async () => {
      await merged(2);
    },
  ],
  ['a merge is made final', finalised],
  [
    'a marked EHR is erased',
    async () => {
      const { ehrId } = await withMarkedObject();
      await expectStatus(admin(app, 'delete', `/ehr/${ehrId}`), 200, 204);
    },
  ],
  ['an EHR with a merge is erased in steps', erasedInSteps],
  [
    'a COMPOSITION is erased',
    async () => {
      const { ehrId, uid } = await withMarkedObject();
      await expectStatus(admin(app, 'delete', `/ehr/${ehrId}/composition/${uid}`), 200, 204);
    },
  ],
  [
    'categories are stored and replaced',
    async () => {
      for (const templates of [['one'], ['one', 'other']])
        await expectStatus(putCategories(judged, [{ name: 'psychiatry', templates }], ADMIN), 200);
    },
  ],
  ['a template is uploaded and deleted', templateDeleted],
  ['a template is revised, and a revision removed', revisedAndRemoved],
  ['an upgrade moves a path of a template and is taken back', upgradedAndBack],
  [
    'a query is stored and deleted',
    async () => {
      const [kept, gone] = [`kept${randomUUID()}`, `gone${randomUUID()}`];
      for (const name of [kept, gone]) await expectStatus(storeQuery(name), 200, 201);
      await expectStatus(admin(app, 'delete', `/query/org.example::${gone}/${SEMVER}`), 200, 204);
    },
  ],
];

/** Removes records of the audit while nobody else does anything. */
const PRUNE: SealedOperation = [
  'the audit is pruned',
  async () => {
    // Records of the same instant stay.
    await setTimeout(5);
    if ((await pruneAudit(new Date(), null)) === 0) throw new Error('nothing was pruned');
  },
];

/** Each operation that leaves notes, once. */
export const SEALED_OPERATIONS: readonly SealedOperation[] = [
  ...NOTED_OPERATIONS.slice(0, 8),
  PRUNE,
  ...NOTED_OPERATIONS.slice(8),
];

/** Fills the database with what an import restores. */
export async function givenRestored(): Promise<void> {
  const lines = await givenRestorable();
  // Of notes in the block that begins it nothing would be asked.
  await sealNewRecords();
  const refused = refusals(await imported(lines));
  if (refused.length > 0) throw new Error(refused.join('; '));
}

/** The lines of a server that had templates, queries, policies, marks and merges, of which nothing is here. */
export async function givenRestorable(): Promise<string[]> {
  await emptied();
  await givenMergeTemplates(app);
  await expectStatus(upload(fixtureText('opt/minimal_admin.en.v1.opt')), 201, 409);
  await expectStatus(storeQuery('restored'), 200, 201);
  for (const id of ['restored', 'restored']) await expectStatus(policy(id), 200);
  await withMarkedObject();
  await merged(2);
  await expectStatus(unmerge(app, ...(await merged(2))), 200);
  const lines = await exported();
  await emptied();
  return lines;
}
