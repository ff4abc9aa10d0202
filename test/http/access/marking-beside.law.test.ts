import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { draws, firstSeed } from '../../support/laws.js';
import { merge } from '../../support/merge-http.js';
import { markBeyondNames } from '../../support/policy/beyond-names.js';
import { MARK_ROLES, putMarks, RESTRICTED, tokenOf, WITHHELD } from '../../support/policy/marks.js';
import { asText } from '../../support/as-text.js';
import { Random } from '../../support/random.js';
import {
  aComposition,
  answered,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
} from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';

/** Marks that are set while others read and write; in the second half of them there are more than queries name. */
const SIZES = { small: 4, full: 1_000 };
const READERS = 4;
const SAID = 'nobody is to see this';

useDatabase();
const settings = { ...everythingOn({ auth: 'jwt', accessMode: 'enforce' }), rolePermissions: MARK_ROLES };
const app = testApp(settings);
const open = testApp();
const NURSE = tokenOf(['USER'], {}, 'nurse');

const RESOLVED = 'return=representation, resolve_refs';

async function contributionOf(ehr: string, uid: string): Promise<string> {
  const path = `${V1}/ehr/${ehr}/versioned_composition/${versionedObjectUidOf(uid)}/version/${uid}`;
  const { body } = await request(open).get(path).expect(200);
  return (body as { contribution: { id: { value: string } } }).contribution.id.value;
}

function textOf({ text, body }: { readonly text?: string; readonly body?: unknown }): string {
  return text ?? (typeof body === 'string' ? body : '');
}

interface Hidden {
  readonly ehr: string;
  readonly uid: string;
  readonly container: string;
  readonly composition: object;
}

/** A COMPOSITION with a tag on it. */
async function givenHidden(): Promise<Hidden> {
  const ehr = await givenEhr(open);
  const composition = { ...aComposition(), composer: { _type: 'PARTY_IDENTIFIED', name: SAID } };
  const uid = await givenComposition(open, ehr, composition);
  const container = versionedObjectUidOf(uid);
  await request(open)
    .put(`${V1}/ehr/${ehr}/composition/${container}/tags`)
    .send([{ key: 'said', value: SAID }])
    .expect(200);
  return { ehr, uid, container, composition };
}

/** Whether an answer gives what is hidden, or names it. */
function isSeenIn(answer: request.Response, { container }: Hidden): boolean {
  const text = textOf(answer);
  return answer.status < 300 && (text.includes(SAID) || text.includes(container));
}

/** Everything that could tell of it. */
async function asksFor({ ehr, uid, container }: Hidden): Promise<(() => request.Test)[]> {
  const contribution = await contributionOf(ehr, uid);
  const get = (path: string) => request(app).get(path).set('Authorization', NURSE);
  const query = (ehr_id?: string) =>
    request(app)
      .post(`${V1}/query/aql`)
      .set('Authorization', NURSE)
      .send({ q: 'SELECT c/composer/name FROM EHR e CONTAINS COMPOSITION c', ehr_id });
  const object = `${V1}/ehr/${ehr}/versioned_composition/${container}`;
  return [
    () => get(`${V1}/ehr/${ehr}/composition/${uid}`),
    () => get(`${object}/version/${uid}`),
    () => get(object),
    () => get(`${object}/revision_history`),
    () => get(`${V1}/ehr/${ehr}/composition/${container}/tags`),
    () => get(`${V1}/ehr/${ehr}?include=compositions`),
    () => get(`${V1}/ehr/${ehr}?include=versions`),
    () => get(`/rest/ehrs/${ehr}/extract`),
    () => query(ehr),
    () => query(),
    () => query().set('Accept', 'application/x-ndjson').buffer(true).parse(asText),
    () => query().set('Accept', 'text/csv').buffer(true).parse(asText),
    () => get(`${V1}/ehr/${ehr}/contribution/${contribution}`).set('Prefer', RESOLVED),
  ];
}

/** Merges another patient's record into it, which says the same where the mark is on all of it. */
async function mergedInto(ehr: string, isSame: boolean): Promise<void> {
  const source = await givenEhr(open);
  const composer = { _type: 'PARTY_IDENTIFIED', name: isSame ? SAID : 'somebody' };
  await givenComposition(open, source, { ...aComposition(), composer });
  const { status, text } = await answered(() => merge(app, source, ehr));
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
}

beforeAll(() => givenTemplate(open));

it('nothing that a mark hides is read by who asks after its commit, and nothing is committed after it', async () => {
  const seed = firstSeed();
  const random = new Random(seed);
  const met = { seenBefore: 0, askedAfter: 0, written: 0, refused: 0 };
  const rounds = draws(SIZES);
  for (let round = 0; round < rounds; round += 1) {
    if (round === Math.ceil(rounds / 2)) await markBeyondNames(['patient_restriction']);
    const hidden = await givenHidden();
    const { ehr, uid, container, composition } = hidden;
    const mark = random.pick([
      RESTRICTED,
      WITHHELD,
      { ...RESTRICTED, object_uid: container },
      { ...WITHHELD, template_id: 'minimal_evaluation.en.v1' },
      { ...WITHHELD, category: 'event', from: '2000-01-01' },
    ]);
    const isMerged = random.chance(0.5);
    const others = new Set<string>();
    const asks = await asksFor(hidden);
    let isSet = false;
    let isDone = false;
    const read = async (): Promise<void> => {
      while (!isDone) {
        const which = random.below(asks.length);
        const isAfter = isSet;
        const answer = await asks[which]!();
        const isSeen = isSeenIn(answer, hidden);
        const told = { seed, round, which, mark, isMerged, isAfter, status: answer.status };
        if (isAfter) expect({ ...told, isSeen }).toEqual({ ...told, isSeen: false });
        met.seenBefore += isSeen ? 1 : 0;
        met.askedAfter += isAfter ? 1 : 0;
      }
    };
    const write = async (): Promise<void> => {
      while (!isDone) {
        const { status } = await request(app)
          .put(`${V1}/ehr/${ehr}/composition/${container}`)
          .set({ Authorization: NURSE, 'If-Match': `"${await latest()}"` })
          .send(composition);
        if (status === 200) met.written += 1;
        if (status === 409 || status === 404) met.refused += 1;
        others.add(String(status));
      }
    };
    const latest = async (): Promise<string> => {
      const { headers } = await request(open).get(`${V1}/ehr/${ehr}/composition/${container}`);
      return (headers as Record<string, string>)['etag']?.replaceAll('"', '') ?? uid;
    };
    const beside = [...Array.from({ length: READERS }, read), write(), write()];
    try {
      while (met.seenBefore === 0 || met.written === 0)
        await new Promise((resolve) => setTimeout(resolve, 5));
      const merging = isMerged ? mergedInto(ehr, !('object_uid' in mark)) : Promise.resolve();
      const { status } = await answered(() => putMarks(app, ehr, [mark]));
      expect({ seed, round, status }).toEqual({ seed, round, status: 200 });
      await merging;
      isSet = true;
      // What is there now was committed before the mark, or with it.
      const then = await latest();
      for (const [which, ask] of asks.entries()) {
        const isSeen = isSeenIn(await ask(), hidden);
        const told = { seed, round, which, mark, isMerged };
        expect({ isSeen, ...told }).toEqual({ isSeen: false, ...told });
      }
      expect({ seed, round, latest: await latest() }).toEqual({ seed, round, latest: then });
    } finally {
      isDone = true;
    }
    await Promise.all(beside);
    expect([...others].filter((status) => !['200', '404', '409', '412', '503'].includes(status))).toEqual([]);
  }
  for (const [name, count] of Object.entries(met)) expect([name, count > 0]).toEqual([name, true]);
}, 3_600_000);
