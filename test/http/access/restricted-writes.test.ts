import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { apiCases } from '../../support/api/cases.js';
import { ApiProbe, type Call } from '../../support/api/probe.js';
import { useDatabase } from '../../support/database.js';
import { putMarks, RESTRICTED } from '../../support/policy/marks.js';
import { givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';
import { ADMIN } from '../../support/tokens.js';

useDatabase();

const open = testApp();
const enforced = { auth: 'jwt', accessMode: 'enforce' } as const;
const app = testApp(everythingOn(enforced));
const probe = new ApiProbe(enforced);
const cases = apiCases(open);

/** What is written with an EHR in sight and is no processing of what it holds, each with why: docs/access.md#restriction-of-processing */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'merges keep the marks of both, and taking one back gives each its own': [
    ...['mergeEhrs', 'unmerge', 'confirmMerge', 'withdrawMerge', 'finaliseMerge'],
    ...['sayDistinct', 'takeBackDistinct'],
  ],
  'marks are lifted by it': ['marks_put'],
  'nothing is changed by it, whatever it is about': [
    'updateContribution',
    'deleteContribution',
    'print_note',
  ],
  'lists and drafts of a user are his own': [
    ...['favourite_save', 'favourite_delete', 'draft_save', 'draft_delete'],
  ],
  'what waits for a second person is refused when he confirms it': ['confirmApproval', 'withdrawApproval'],
  'it reads, and is 404 or, to who may know, 403': ['composition_preview', 'decideAccess'],
};
const EXCEPTED = Object.values(EXCEPTIONS).flat();
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** What an EHR is. */
const HELD = ['versions', 'versioned_objects', 'contributions', 'item_tags', 'aql', 'ehrs'];

/** Active EHRs that a request names, in its path, query or body. */
async function ehrsOf({ params, query, body }: Call): Promise<string[]> {
  const named = JSON.stringify([params, query, body]).match(UUID) ?? [];
  const found = mongoose.connection
    .collection<{ _id: string }>('ehrs')
    .find({ _id: { $in: [...new Set(named)] }, state: 'active' });
  return (await found.toArray()).map(({ _id }) => _id).sort();
}

/** All that is stored of EHRs, but for the numbers that every mark raises. */
async function heldBy(ehrs: readonly string[]): Promise<unknown> {
  const held: unknown[] = [];
  for (const name of HELD) {
    const fields = ['ehr_id', 'owner_id', 'ehr', '_id'].map((field) => ({ [field]: { $in: ehrs } }));
    const found = mongoose.connection.collection(name).find({ $or: fields });
    held.push([name, await found.sort({ _id: 1 }).toArray()]);
  }
  return JSON.parse(JSON.stringify(held)) as unknown;
}

const writes = probe.operations.filter(
  ({ method, discloses, id }) =>
    method !== 'GET' && discloses !== 'nothing' && discloses !== 'query' && !EXCEPTED.includes(id),
);
const successes = cases.filter(({ id, status }) => status < 300 && writes.some((row) => row.id === id));

beforeAll(() => givenTemplate(open));

describe('a restriction of processing', () => {
  const tried = new Set<string>();

  it.each(successes.map((each, index) => [`${each.id} (${index})`, each] as const))(
    'stops %s: 409, and nothing is changed',
    async (_, { id, call }) => {
      const { settings, ...given } = await call();
      const ehrs = await ehrsOf(given);
      if (ehrs.length === 0) return;
      tried.add(id);
      for (const ehr of ehrs) await putMarks(app, ehr, [RESTRICTED], ADMIN).expect(200);
      const before = await heldBy(ehrs);
      const answer = await probe.call(id, { ...given, settings: { ...settings, ...enforced } });
      expect([id, answer.status, (answer.body as { code?: string }).code]).toEqual([id, 409, 'restricted']);
      expect(answer.body).toMatchObject({ marks: [{ kind: 'restriction_of_processing' }] });
      expect(await heldBy(ehrs)).toEqual(before);
    },
  );

  it('was tried with every operation that writes to an EHR', () => {
    const untried = writes.map(({ id }) => id).filter((id) => !tried.has(id));
    // Of no EHR that is there, or of a template: what an upgrade does is below, a restore in its own test.
    expect(untried.sort()).toEqual([
      ...['cancelTemplateComparison', 'comparePolicies', 'compareTemplate', 'deleteAllTemplates'],
      ...['deleteTemplate', 'ehr_create', 'ehr_create_with_id', 'ehr_extract_create', 'pauseTemplateUpgrade'],
      ...[
        'restore',
        'resumeTemplateComparison',
        'resumeTemplateUpgrade',
        'undoTemplateUpgrade',
        'upgradeTemplate',
        'verify',
      ],
    ]);
  });

  it('wins over an erasure that is under way, or comes too late', async () => {
    for (let round = 0; round < 8; round += 1) {
      const ehr = await givenEhr(open);
      const uid = await givenComposition(open, ehr);
      const [target, object_uid] = [await givenEhr(open), uid.split('::')[0]];
      const [marked, moved] = await Promise.all([
        putMarks(app, ehr, [{ ...RESTRICTED, object_uid }], ADMIN),
        request(app)
          .post(`/rest/admin/ehr/${ehr}/composition/${object_uid}/move`)
          .set('Authorization', ADMIN)
          .send({ target_ehr: target, dry_run: false }),
      ]);
      expect([marked.status, moved.status].filter((status) => status === 200)).toHaveLength(1);
      const [restricted, erased] = await Promise.all([
        putMarks(app, target, [RESTRICTED], ADMIN),
        request(app).delete(`/rest/admin/ehr/${target}`).set('Authorization', ADMIN),
      ]);
      expect([restricted.status === 200, erased.status === 204].filter(Boolean)).toHaveLength(1);
    }
  });

  it('is on one COMPOSITION, and stops what would erase that and nothing beside it', async () => {
    const ehr = await givenEhr(open);
    const [one, other] = [await givenComposition(open, ehr), await givenComposition(open, ehr)].map(
      (uid) => uid.split('::')[0],
    );
    await putMarks(app, ehr, [{ ...RESTRICTED, object_uid: one }], ADMIN).expect(200);
    const erase = (path: string) =>
      request(app).delete(`/rest/admin/ehr/${ehr}${path}`).set('Authorization', ADMIN);
    await erase(`/composition/${one}`).expect(409, /lift the mark/);
    await erase('').expect(409);
    await erase(`/composition/${other}`).expect(200);
    await putMarks(app, ehr, [], ADMIN).expect(200);
    await erase('').expect(204);
    // Where marks do not hold nothing is stopped by them.
    const free = await givenEhr(open);
    await putMarks(app, free, [RESTRICTED], ADMIN).expect(200);
    await request(testApp(everythingOn({ auth: 'jwt', accessMode: 'observe', auditReads: true })))
      .delete(`/rest/admin/ehr/${free}`)
      .set('Authorization', ADMIN)
      .expect(204);
  });
});
