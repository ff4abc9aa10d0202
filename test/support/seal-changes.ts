import { randomUUID } from 'node:crypto';
import request, { type Test } from 'supertest';
import { reindexStorage } from '../../maintenance/reindex.js';
import { testApp } from './app.js';
import { attestation } from './attestation.js';
import {
  admin,
  folder,
  givenDirectory,
  givenTag,
  givenUpdate,
  merge,
  MERGE_TEMPLATES,
  rows,
  statusOf,
  unmerge,
} from './merge-http.js';
import { givenJointUpdate } from './merge/joint-update.js';
import {
  aComposition,
  answered,
  givenComposition,
  givenEhr,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from './resources.js';
import type { SealedOperation } from './seal-history.js';
import { bearer, WITH_ADMIN } from './tokens.js';

/** Merges of more in steps; MOVER may bring what was made elsewhere. */
const app = testApp({
  ...WITH_ADMIN,
  mergeStepsFrom: 12,
  auditReads: true,
  rolePermissions: { MOVER: ['restore'], ADMIN: ['read', 'write', 'define', 'admin'] },
});
const [LIST] = MERGE_TEMPLATES;
const aList = (): Json => aComposition(LIST);

/** Asks, again while the database has no time. @throws Error at any other status than those of success */
async function done(ask: () => Test): Promise<Json> {
  const { status, text, body } = await answered(ask);
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body as Json;
}

const pathOf = (ehrId: string, below: string): string => `${V1}/ehr/${ehrId}/${below}`;
const moved = (path: string, extract: string): Test =>
  request(app)
    .post(path)
    .set({ Authorization: bearer(['MOVER'], 'mover'), 'Content-Type': 'application/json' })
    .send(extract);

/** An EHR of somebody with a list, so many further COMPOSITIONs, a directory of them, and tags. */
async function aPatient(compositions = 2): Promise<string> {
  const ehrId = await givenEhr(app, statusOf(randomUUID()));
  const uids = [await givenComposition(app, ehrId, aList())];
  for (let n = 0; n < compositions; n += 1) uids.push(await givenComposition(app, ehrId));
  await givenDirectory(app, ehrId, folder('root', uids.map(versionedObjectUidOf)));
  for (const uid of [versionedObjectUidOf(uids[0]!), uids.at(-1)!])
    await givenTag(app, { ehrId, type: 'composition', uid }, 'seen');
  return ehrId;
}

/** Version uids of what an EHR has now by a template. */
async function latestOf(ehrId: string, template: string): Promise<string[]> {
  const q = `SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c WHERE c/archetype_details/template_id/value = '${template}'`;
  return (await rows(app, q, ehrId)).map(([uid]) => String(uid));
}

async function putStatus(ehrId: string, further: object): Promise<void> {
  const uid = versionUidOf(await answered(() => request(app).get(pathOf(ehrId, 'ehr_status'))));
  const status = statusOf(randomUUID(), further);
  await done(() => request(app).put(pathOf(ehrId, 'ehr_status')).set('If-Match', `"${uid}"`).send(status));
}

async function putDirectory(ehrId: string): Promise<string> {
  const path = pathOf(ehrId, 'directory');
  const uid = versionUidOf(await answered(() => request(app).get(path)));
  const root = folder('root', [], [folder(randomUUID())]);
  return versionUidOf(await answered(() => request(app).put(path).set('If-Match', `"${uid}"`).send(root)));
}

/** Writes on each list that an EHR has, signs it, and changes directory and EHR_STATUS. */
async function changed(ehrId: string): Promise<void> {
  for (const uid of await latestOf(ehrId, LIST)) {
    const next = await givenUpdate(app, ehrId, uid, aList());
    await done(() => request(app).post(pathOf(ehrId, 'contribution')).send(attestation(next)));
  }
  await putDirectory(ehrId);
  await putStatus(ehrId, {});
}

const HOW = {
  reversible: true,
  composition_merge: 'PERSISTENT',
  folder_merge: 'COPY',
  resolutions: { ehr_status: { other_details: 'source' } },
} as const;
const joined = (source: string, target: string): Promise<Json> => done(() => merge(app, source, target, HOW));
const parted = (source: string, target: string, onConflict = 'take_back'): Promise<Json> =>
  done(() => unmerge(app, source, target, { on_conflict: onConflict }));

async function joinedAndParted(compositions: number, onConflict: string): Promise<void> {
  const [source, target] = [await aPatient(compositions), await aPatient()];
  await joined(source, target);
  await changed(target);
  await parted(source, target, onConflict);
  for (const ehrId of [source, target]) await changed(ehrId);
}

/** An EHR that was erased, as the EXTRACT that was made of it before. */
async function aStranger(): Promise<readonly [ehrId: string, extract: string]> {
  const ehrId = await aPatient();
  await changed(ehrId);
  const { text } = await answered(() => request(app).get(pathOf(ehrId, 'extract')));
  await done(() => admin(app, 'delete', `/ehr/${ehrId}`));
  return [ehrId, text];
}

/** Each kind of change of what is sealed that `NOTED_OPERATIONS` has not, once; each of EHRs of its own, so that it may be made beside any other. */
export const CHANGING_OPERATIONS: readonly SealedOperation[] = [
  [
    'an EHR_STATUS has another subject, and other flags',
    async () => {
      const ehrId = await givenEhr(app, statusOf(randomUUID()));
      for (const flags of [{}, { is_queryable: false }, { is_modifiable: false }, {}])
        await putStatus(ehrId, flags);
    },
  ],
  [
    'a directory is changed, deleted and made anew',
    async () => {
      const ehrId = await aPatient();
      const uid = await putDirectory(ehrId);
      await done(() => request(app).delete(pathOf(ehrId, 'directory')).set('If-Match', `"${uid}"`));
      await givenDirectory(app, ehrId, folder('anew'));
    },
  ],
  [
    'tags are set, changed and taken away',
    async () => {
      const ehrId = await aPatient();
      const [uid = ''] = await latestOf(ehrId, LIST);
      const path = `${pathOf(ehrId, 'composition')}/${versionedObjectUidOf(uid)}/tags`;
      for (const value of ['one', 'other'])
        await done(() =>
          request(app)
            .put(path)
            .send([{ key: 'k', value }]),
        );
      await done(() => request(app).delete(`${path}/k`));
    },
  ],
  [
    'a CONTRIBUTION is of several objects, and one of them is moved',
    async () => {
      const ehrId = await aPatient(3);
      const [first = '', ...others] = await latestOf(ehrId, 'minimal_evaluation.en.v1');
      await givenJointUpdate(app, ehrId, [first, ...others]);
      const path = `/ehr/${ehrId}/composition/${versionedObjectUidOf(first)}/move`;
      const target = await aPatient();
      await done(() => admin(app, 'post', path).send({ target_ehr: target }));
    },
  ],
  ['lists are joined, changed and parted', () => joinedAndParted(2, 'take_back')],
  ['lists are joined in steps, changed and parted', () => joinedAndParted(14, 'take_back')],
  [
    'lists are joined, changed, and parted without what was written',
    () => joinedAndParted(3, 'keep_in_target'),
  ],
  [
    'a joined list is deleted before its merge is taken back',
    async () => {
      const [source, target] = [await aPatient(), await aPatient()];
      await joined(source, target);
      for (const uid of await latestOf(target, LIST))
        await done(() => request(app).delete(pathOf(target, `composition/${uid}`)));
      await parted(source, target);
    },
  ],
  [
    'two are joined to one, and parted in the order in which they came',
    async () => {
      const [first, second, target] = [await aPatient(), await aPatient(), await aPatient()];
      await joined(first, target);
      await changed(target);
      await joined(second, target);
      await parted(first, target);
      await changed(target);
      await parted(second, target);
    },
  ],
  [
    'one is joined to another, that to a third, and both are parted again',
    async () => {
      const [first, second, third] = [await aPatient(), await aPatient(), await aPatient()];
      await joined(first, second);
      await joined(second, third);
      await changed(third);
      await parted(second, third);
      await changed(second);
      await parted(first, second);
    },
  ],
  [
    'joined lists are one for good, and erased with their EHR',
    async () => {
      const [source, target] = [await aPatient(), await aPatient()];
      const { merge_id: mergeId } = await joined(source, target);
      const reason = { reason: 'it is one person' };
      await done(() => admin(app, 'post', `/ehr/merge/${String(mergeId)}/finalise`).send(reason));
      await changed(target);
      await done(() => admin(app, 'delete', `/ehr/${target}?cascade=true`));
    },
  ],
  [
    'an object and a directory are erased',
    async () => {
      const ehrId = await aPatient();
      await changed(ehrId);
      const uids = await latestOf(ehrId, LIST);
      uids.push(await putDirectory(ehrId));
      for (const [index, type] of ['composition', 'directory'].entries())
        await done(() => admin(app, 'delete', `/ehr/${ehrId}/${type}/${versionedObjectUidOf(uids[index]!)}`));
    },
  ],
  [
    'an EHR is made of an EXTRACT',
    async () => {
      const [ehrId, extract] = await aStranger();
      await done(() => moved(`${V1}/ehr/extract`, extract));
      await changed(ehrId);
    },
  ],
  [
    'an EXTRACT comes into an EHR, and is taken out',
    async () => {
      const [[, extract], target] = [await aStranger(), await aPatient()];
      const path = `/rest/admin/ehr/${target}/extract`;
      const { hash } = await done(() => moved(`${path}?dry_run=true`, extract));
      const { import_id: batch } = await done(() => moved(`${path}?plan=${String(hash)}`, extract));
      await done(() => moved(`${path}/${String(batch)}/undo`, ''));
    },
  ],
  [
    'what queries read is written anew',
    async () => {
      await reindexStorage('all');
    },
  ],
];
