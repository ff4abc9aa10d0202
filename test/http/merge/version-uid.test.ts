import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import mongoose from 'mongoose';
import request from 'supertest';
import { verifyStorage } from '../../../maintenance/verify.js';
import type { VersionDoc } from '../../../models/version.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import {
  folder,
  givenDirectory,
  givenMergeTemplates,
  merge,
  statusOf,
  unmerge,
} from '../../support/merge-http.js';
import { runStep, steps, type Step } from '../../support/merge/random-record.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  versionedObjectUidOf,
  V1,
  type Json,
} from '../../support/resources.js';
import { WITH_ADMIN } from '../../support/tokens.js';

/** `MERGE_RUNS=200` for a long look. */
const RUNS = Number(process.env['MERGE_RUNS'] ?? 4);

useDatabase();
const app = testApp(WITH_ADMIN);
beforeAll(() => givenMergeTemplates(app));

const persistent = (composer: string): Json => ({
  ...aComposition('persistent_minimal.en.v1'),
  composer: { _type: 'PARTY_IDENTIFIED', name: composer },
});

function put(ehrId: string, path: string, ifMatch: string, body: object): request.Test {
  return request(app).put(`${V1}/ehr/${ehrId}/${path}`).set('If-Match', `"${ifMatch}"`).send(body);
}

describe('an OBJECT_VERSION_ID means one content for ever', () => {
  it('a client that holds a version of a merge cannot write over another after the unmerge', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const theirs = await givenComposition(app, target, persistent('110'));
    await givenComposition(app, source, persistent('200'));
    await merge(app, source, target, { composition_merge: 'PERSISTENT' });
    const id = versionedObjectUidOf(theirs);
    const held = await request(app).get(`${V1}/ehr/${target}/composition/${id}`);
    expect([held.headers.etag, held.body.composer.name]).toEqual([`"${id}::local.cdr::2"`, '200']);
    expect((await unmerge(app, source, target)).status).toBe(200);
    const now = await request(app).get(`${V1}/ehr/${target}/composition/${id}`);
    expect([now.headers.etag, now.body.composer.name]).toEqual([`"${id}::local.cdr::3"`, '110']);
    expect((await put(target, `composition/${id}`, `${id}::local.cdr::3`, persistent('120'))).status).toBe(
      200,
    );
    expect((await put(target, `composition/${id}`, `${id}::local.cdr::2`, held.body as Json)).status).toBe(
      412,
    );
    const second = await request(app).get(`${V1}/ehr/${target}/composition/${id}::local.cdr::2`);
    expect(second.body).toEqual(held.body);
  });

  it('an unmerge commits one CONTRIBUTION in each EHR, and those of the merge can still be read', async () => {
    const [source, target] = [await givenEhr(app), await givenEhr(app)];
    const theirs = await givenComposition(app, target, persistent('theirs'));
    const mine = await givenComposition(app, source, persistent('mine'));
    await givenDirectory(app, source, folder('mine'));
    await merge(app, source, target, { composition_merge: 'PERSISTENT', folder_merge: 'COPY' });
    await unmerge(app, source, target);
    const described = async (ehrId: string): Promise<Record<string, string[]>> => {
      const ehr = await request(app).get(`${V1}/ehr/${ehrId}?include=contributions`);
      const found: Record<string, string[]> = {};
      for (const { id } of ehr.body.contributions as Json[]) {
        const { body } = await request(app).get(`${V1}/ehr/${ehrId}/contribution/${String(id.value)}`);
        const text = body.audit.description?.value as string | undefined;
        if (text !== undefined) found[text] = body.versions.map((one: Json) => String(one.id.value));
      }
      return found;
    };
    const [s, t] = [versionedObjectUidOf(mine), versionedObjectUidOf(theirs)];
    expect(await described(target)).toEqual({
      [`Merge of EHR ${source} into ${target}`]: expect.arrayContaining([
        `${t}::local.cdr::2`,
        `${s}::local.cdr::2`,
      ]),
      [`Unmerge of EHR ${source} from ${target}`]: [
        `${t}::local.cdr::3`,
        expect.stringMatching(/::local.cdr::2$/),
      ],
    });
    expect(await described(source)).toEqual({
      [`Unmerge of EHR ${source} from ${target}`]: [`${s}::local.cdr::3`],
    });
    const history = await request(app).get(`${V1}/ehr/${source}/versioned_composition/${s}/revision_history`);
    const codes = (history.body.items as Json[]).map(
      ({ audits }) => audits[0].change_type.defining_code.code_string as string,
    );
    expect(codes).toEqual(['249', '523', '249']);
    const live = await request(app).get(`${V1}/ehr/${source}/composition/${s}`);
    expect(live.body.composer.name).toBe('mine');
  });

  it('nobody else can take the id of a directory that a merge ended', async () => {
    const [source, target] = [await givenEhr(app, statusOf('reused')), await givenEhr(app)];
    const ended = versionedObjectUidOf(await givenDirectory(app, source, folder('mine')));
    await merge(app, source, target);
    const other = { ...folder('other'), uid: { _type: 'HIER_OBJECT_ID', value: ended } };
    const taken = await request(app)
      .post(`${V1}/ehr/${target}/contribution`)
      .send({ versions: [{ data: other, commit_audit: { change_type: { value: 'creation' } } }] });
    expect(taken.status).toBe(409);
    expect((await unmerge(app, source, target)).status).toBe(200);
    const directory = await request(app).get(`${V1}/ehr/${source}/directory`);
    expect(directory.body.uid.value).toBe(`${ended}::local.cdr::1`);
  });

  it('whatever is merged, taken back and edited in whichever order', async () => {
    await fc.assert(
      fc.asyncProperty(sequences, async (script) => {
        const ehrIds = [await givenEhr(app), await givenEhr(app), await givenEhr(app)] as const;
        const seen = new Map<string, string>();
        for (const move of script) {
          await run(ehrIds, move);
          for (const [uid, content] of await contents(ehrIds)) {
            expect([uid, seen.get(uid) ?? content]).toEqual([uid, content]);
            seen.set(uid, content);
          }
        }
        expect((await verifyStorage()).violations).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  }, 3_600_000);
});

type Triple = readonly [string, string, string];
type Act =
  | { readonly kind: 'edit'; readonly ehr: number; readonly steps: readonly Step[] }
  | { readonly kind: 'merge'; readonly ehr: number; readonly by: number; readonly isRich: boolean }
  | { readonly kind: 'unmerge'; readonly ehr: number; readonly by: number; readonly choice: string | null };

const pair = { ehr: fc.nat({ max: 2 }), by: fc.constantFrom(1, 2) };
const sequences = fc.array(
  fc.oneof(
    {
      arbitrary: fc.record({ kind: fc.constant('edit' as const), ehr: fc.nat({ max: 2 }), steps: steps(4) }),
      weight: 3,
    },
    {
      arbitrary: fc.record({ kind: fc.constant('merge' as const), ...pair, isRich: fc.boolean() }),
      weight: 2,
    },
    {
      arbitrary: fc.record({
        kind: fc.constant('unmerge' as const),
        ...pair,
        choice: fc.constantFrom(null, 'take_back', 'keep_in_target'),
      }),
      weight: 2,
    },
  ),
  { minLength: 4, maxLength: 14 },
);

async function run(ehrIds: Triple, act: Act): Promise<void> {
  const ehrId = ehrIds[act.ehr]!;
  if (act.kind === 'edit') {
    const { body } = await request(app).get(`${V1}/ehr/${ehrId}`);
    if (body.ehr_id === undefined) return;
    for (const step of act.steps) await runStep([ehrId, ehrId], step);
    return;
  }
  const other = ehrIds[(act.ehr + act.by) % 3]!;
  const further =
    act.kind === 'merge'
      ? act.isRich && { folder_merge: 'COPY', composition_merge: 'PERSISTENT' }
      : act.choice !== null && { on_conflict: act.choice };
  const call = act.kind === 'merge' ? merge : unmerge;
  const answer = await call(app, ehrId, other, further === false ? {} : further);
  expect([answer.status, answer.body.message]).toEqual([
    answer.status < 500 ? answer.status : 'below 500',
    answer.body.message,
  ]);
}

/** Content of every version of the EHRs, with what a client sees of the VERSION. */
async function contents(ehrIds: Triple): Promise<[string, string][]> {
  const owned = { ehr_id: { $in: [...ehrIds] } };
  const versions = await mongoose.connection.collection<VersionDoc>('versions').find(owned).toArray();
  return versions.map(({ _id, data, commit_audit, lifecycle_state, contribution_uid }) => [
    _id,
    JSON.stringify([data, commit_audit, lifecycle_state, contribution_uid]),
  ]);
}
