import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { draws, firstSeed } from '../../support/laws.js';
import { putMarks, MARK_ROLES, tokenOf, RESTRICTED } from '../../support/policy/marks.js';
import { Random } from '../../support/random.js';
import {
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
} from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';

/** Changes of what holds, each followed by every kind of read. */
const SIZES = { small: 12, full: 600 };
const POLICY = '/rest/admin/policies/only';

useDatabase();
const app = testApp({ ...everythingOn({ auth: 'jwt', accessMode: 'enforce' }), rolePermissions: MARK_ROLES });
const open = testApp();
const USER = tokenOf(['USER'], {}, 'nurse');
const ADMIN = tokenOf(['ADMIN'], {}, 'root');

beforeAll(() => givenTemplate(open));

/** Policies of which the first reads are asked for ahead in different ways, and whether an EHR, and what is in it, is seen under them. */
const SETS = [
  { text: null, ehr: true, version: true },
  { text: 'permit (principal, action, resource);', ehr: true, version: true },
  { text: 'permit (principal, action, resource is Ehr);', ehr: true, version: false },
  { text: 'permit (principal, action, resource is Version);', ehr: false, version: true },
  {
    text: 'permit (principal, action, resource) unless { resource is Ehr && resource has namespace };',
    ehr: true,
    version: true,
  },
  {
    text: 'permit (principal, action, resource) when { resource.hasTag("access.vip") };',
    ehr: false,
    version: false,
  },
  {
    text: 'permit (principal, action, resource) when { principal.sub == "nobody" };',
    ehr: false,
    version: false,
  },
] as const;

/** Stores the only policy, or removes it. */
async function hold(text: string | null): Promise<void> {
  const change =
    text === null ? request(app).delete(POLICY) : request(app).put(POLICY).send({ policy: text });
  const { status } = await change.set('Authorization', ADMIN);
  expect([200, 201, 204, 404]).toContain(status);
}

it('what is read ahead is judged by what holds when the request begins', async () => {
  const seed = firstSeed();
  const random = new Random(seed);
  const [ehr, marked] = [await givenEhr(open), await givenEhr(open)];
  const uids = { [ehr]: await givenComposition(open, ehr), [marked]: await givenComposition(open, marked) };
  const total = draws(SIZES);
  const met = new Set<string>();
  for (let step = 0; step < total; step += 1) {
    // The first mark of all comes in the middle: from then on EHRs are asked for their marks.
    const isMarked = step >= total / 2;
    if (isMarked && step - 1 < total / 2) await putMarks(app, marked, [RESTRICTED]).expect(200);
    const set = random.pick(SETS);
    await hold(set.text);
    for (const id of [ehr, marked]) {
      const uid = uids[id] ?? '';
      const container = versionedObjectUidOf(uid);
      const isBarred = isMarked && id === marked;
      // What is in an EHR is seen by itself where nothing is asked of the EHR but its id.
      const reads = {
        [`/ehr/${id}`]: set.ehr,
        [`/ehr/${id}/composition/${uid}`]: set.version,
        [`/ehr/${id}/composition/${container}`]: set.version,
        [`/ehr/${id}/versioned_composition/${container}/version/${uid}`]: set.version,
      };
      for (const [path, isPermitted] of Object.entries(reads)) {
        const isEhrFirst = path !== `/ehr/${id}` && !set.ehr;
        const isSeen = isPermitted && !isBarred && !isEhrFirst;
        const answer = await request(app).get(`${V1}${path}`).set('Authorization', USER);
        const told = { seed, step, text: set.text, isMarked, path };
        expect({ ...told, status: answer.status }).toEqual({ ...told, status: isSeen ? 200 : 404 });
        met.add(`${String(isSeen)} ${String(isMarked)}`);
      }
    }
  }
  expect(met.size).toBe(4);
}, 3_600_000);
