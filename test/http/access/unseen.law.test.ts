import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import request from 'supertest';
import type { Operation } from '../../../routes/http/operation/operation.js';
import { everyOperation } from '../../../src/operation-table.js';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { seeds } from '../../support/laws.js';
import {
  answerOf,
  answersOf,
  masked,
  type Answer,
  type Answers,
  type Asking,
  givenDefinitions,
} from '../../support/policy/unseen-answers.js';
import { CREATING, unseenRequests, type UnseenRequest } from '../../support/policy/unseen-requests.js';
import {
  absentNames,
  hiddenThings,
  seenEhr,
  type Names,
  type SeenEhr,
} from '../../support/policy/unseen-world.js';
import { putMarks, WITHHELD } from '../../support/policy/marks.js';
import { Random } from '../../support/random.js';
import { V1 } from '../../support/resources.js';
import { everythingOn, TEST_JWT_SECRET } from '../../support/settings.js';
import { ADMIN, bearer } from '../../support/tokens.js';
import { putPolicy } from '../../support/policy/put.js';

useDatabase();

const everything = everythingOn({ auth: 'jwt', accessMode: 'enforce' });
const settings = {
  ...everything,
  rolePermissions: { ...everything.rolePermissions, NIGHT: ['read', 'emergency'] as const },
};
const app = testApp(settings);
const served = useServer(app);
const open = testApp({ accessMode: 'dry' });
const ADA = bearer(['USER', 'ADMIN', 'AUDITOR'], 'ada');
const { operations } = everyOperation(settings);
const JUDGED = operations.filter(
  ({ id, discloses }) => discloses !== 'nothing' && discloses !== 'whole' && !CREATING.includes(id),
);

/** What users keep for themselves, of which nobody here has any, and what was said by nobody. */
const OWN = ['favourite_list', 'draft_list', 'draft_get', 'listDistinct'];
const EVERYBODY = 'permit (principal, action, resource);';
const NOBODY = 'permit (principal, action, resource) when { principal.sub == "root-admin" };';
const VERSIONS = `permit (principal, action, resource)
  when { principal.sub == "root-admin" || resource is Version };`;
/** Ways to hide the same: an EHR with a subject, or by its tag, and what `hidden` composed or committed. */
const HIDING = [
  `forbid (principal, action, resource) when { principal.sub == "ada" && (
    (resource is Ehr && resource has namespace && resource.namespace == "hospital") ||
    (resource is Version && resource has composer && resource.composer == "hidden") ||
    (resource is Version && resource.kind != "COMPOSITION" && resource has committer &&
      resource.committer == "hidden")) };`,
  `forbid (principal, action, resource) when { principal.sub == "ada" && (
    resource.hasTag("access.hidden") ||
    (resource is Version && resource has committer && resource.committer like "*dd*n")) };`,
];

beforeAll(async () => {
  await givenDefinitions(open);
});

async function policy(id: string, text: string): Promise<void> {
  await putPolicy(app, id, text).expect(200);
}

/** What counts everything by design, and what the server itself has done. */
const COUNTED = [
  ...['activity', 'database', 'jobs', 'started', 'slowest_queries', 'ignored', 'warnings'],
  ...['examined_ehrs', 'no_evidence', 'next', 'counts'],
];

const told = (operation: Operation, asked: UnseenRequest, token = ADA): Promise<Answer> =>
  answerOf({ url: served.url, token }, operation, asked);
const maskedAs = (answer: Answer, names: Names): Answer => masked(answer, names, COUNTED);

/** `seed`: of what is wrong with the requests, the same in both worlds. */
function answers(
  names: Names,
  seen: SeenEhr,
  seed: number,
  { token = ADA, operations = JUDGED }: Partial<Pick<Asking, 'token' | 'operations'>> = {},
): Promise<Answers> {
  return answersOf({ url: served.url, token, operations, cut: COUNTED }, { names, seen, seed });
}

const IS_SMALL = !process.env['TEST_LAWS'] && !process.env['TEST_LONG'];
/** In `npm test` one case tries all operations, and each of the others some of them, another case others. */
const PARTS = IS_SMALL ? 10 : 1;
const partOf = (operations: readonly Operation[], which: number): Operation[] =>
  operations.filter((_, index) => index % PARTS === which % PARTS);

it('what policies hide is answered by every operation as what is not there', async () => {
  await policy('everybody', EVERYBODY);
  for (const seed of seeds({ small: 1, full: 30 })) {
    const random = new Random(seed);
    await policy('hiding', HIDING[seed % HIDING.length] ?? '');
    const seen = await seenEhr(open, 'shared', seed % 4 >= 2);
    const subject = randomUUID();
    const without = await answers(absentNames(subject), seen, seed);
    const names = await hiddenThings(open, { seen, subject, identifier: 'shared', random });
    const within = await answers(names, seen, seed);
    expect({ seed, ...within }).toEqual({ seed, ...without });
    // To who sees everything each read tells something else: the world is not empty, and the requests are about it.
    const telling = JUDGED.filter(({ method, id }) => method === 'GET' && !OWN.includes(id));
    const silent: string[] = [];
    for (const operation of telling) {
      const asked = unseenRequests(operation, names, seen);
      const toldTo = await Promise.all(
        asked.map(async (each) => maskedAs(await told(operation, each, ADMIN), names)),
      );
      const isOther = toldTo.some(
        (answer, index) => JSON.stringify(answer) !== JSON.stringify(within[`${operation.id} ${index}`]),
      );
      if (!isOther) silent.push(operation.id);
    }
    expect(silent).toEqual([]);
  }
}, 600_000);

/** Reads that name no EHR as they are asked here, of which an emergency opens nothing. */
const OF_ALL = ['query_execute_stored', 'query_execute_stored_version', 'overview_get'];
/** A directory is no COMPOSITION: the mark of an EHR hides it, or a policy. */
const FOLDERS = `forbid (principal, action, resource is Version) when { principal.sub != "root-admin" &&
  resource.kind == "FOLDER" && resource has committer && resource.committer == "hidden" };`;
const NIGHT = { roles: ['NIGHT'], headers: { 'Purpose-Of-Use': 'BTG', 'Purpose-Of-Use-Reason': 'law' } };

it('what a patient withholds is answered by every read as what is not there, but to who breaks the glass', async () => {
  await policy('everybody', EVERYBODY);
  await policy('hiding', FOLDERS);
  const reads = JUDGED.filter(({ discloses }) => ['read', 'query', 'export'].includes(discloses));
  const reading = partOf(reads, 0);
  // What somebody withholds is there in both worlds.
  const { ehr: other } = await seenEhr(open, 'another', false);
  await putMarks(app, other, [WITHHELD], ADMIN).expect(200);
  const seen = await seenEhr(open, 'of two', false);
  const subject = randomUUID();
  const without = await answers(absentNames(subject), seen, 1, { operations: reading });
  const names = await hiddenThings(open, { seen, subject, identifier: 'of two', random: new Random(1) });
  const within = await request(open)
    .post(`${V1}/query/aql`)
    .send({ q: 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', ehr_id: seen.ehr })
    .expect(200);
  const uids = (within.body as { rows: string[][] }).rows.flat().filter((uid) => uid !== seen.composition);
  const objects = [...uids, names['deleted_uid'] ?? ''].map((uid) => uid.split('::')[0]);
  await putMarks(app, names['ehr'] ?? '', [WITHHELD], ADMIN).expect(200);
  await putMarks(
    app,
    seen.ehr,
    objects.map((object_uid) => ({ ...WITHHELD, object_uid })),
    ADMIN,
  ).expect(200);
  expect(await answers(names, seen, 1, { operations: reading })).toEqual(without);
  const night = bearer(NIGHT.roles, 'night');
  const silent: string[] = [];
  for (const operation of reading.filter(
    ({ method, id, access }) => method === 'GET' && access === 'read' && !OWN.includes(id),
  )) {
    let isOther = false;
    for (const [index, asked] of unseenRequests(operation, names, seen).entries()) {
      const broken = { ...asked, headers: { ...asked.headers, ...NIGHT.headers } };
      const answer = maskedAs(await told(operation, broken, night), names);
      // What names no record is refused in an emergency.
      isOther ||=
        answer.status !== 400 &&
        JSON.stringify(answer) !== JSON.stringify(without[`${operation.id} ${index}`]);
    }
    if (!isOther) silent.push(operation.id);
  }
  // Only directories stay hidden, and what is asked of all records.
  expect(silent.filter((id) => !id.includes('directory') && !OF_ALL.includes(id))).toEqual([]);
}, 600_000);

it.each([
  ['nothing is permitted', NOBODY, 1],
  ['what is in EHRs is permitted, but no EHR', VERSIONS, 2],
])('to whom %s every operation answers as in a server that is empty', async (_, text, which) => {
  const operations = partOf(JUDGED, which);
  await policy('everybody', text);
  const nowhere: SeenEhr = { ehr: randomUUID(), composition: '' };
  const subject = randomUUID();
  const masks = { ...absentNames(subject), seen: nowhere.ehr };
  const empty = await answers(masks, nowhere, 1, { operations });
  const seen = await seenEhr(open, 'other', true);
  const made = await hiddenThings(open, { seen, subject, identifier: 'other', random: new Random(1) });
  const full = await answers({ ...made, seen: seen.ehr }, seen, 1, { operations });
  expect(full).toEqual(empty);
});

it.each([
  ['patient/composition-other.cruds', 3],
  ['patient/composition-other.cruds patient/aql-other.s patient/template-**.r', 4],
  ['user/composition-other', 0],
])('what %s does not give is answered by every operation as what is not there', async (scope, which) => {
  const operations = partOf(JUDGED, which);
  await policy('everybody', EVERYBODY);
  await request(app).delete('/rest/admin/policies/hiding').set('Authorization', ADMIN);
  const seen = await seenEhr(open, scope, true);
  const claims = { roles: ['USER', 'ADMIN', 'AUDITOR'], scope: `openid ${scope}`, ehrId: seen.ehr };
  const token = `Bearer ${jwt.sign(claims, TEST_JWT_SECRET, { subject: 'ada', expiresIn: 36_000 })}`;
  const subject = randomUUID();
  const without = await answers(absentNames(subject), seen, 1, { token, operations });
  const names = await hiddenThings(open, { seen, subject, identifier: scope, random: new Random(1) });
  expect(await answers(names, seen, 1, { token, operations })).toEqual(without);
});

/** Whoever merges learns what the identifiers in common are: docs/access.md#known-limits */
const TELLING = ['getMergeCandidates'];
/** What tells it to who sees everything, of each way of reading one. */
const TOLD = ['ehr_find', 'ehr_status_get_at_time', 'query_execute_adhoc_post'];

it('to whom EHRs are permitted without their EHR_STATUS no operation tells whose they are', async () => {
  await policy('everybody', EVERYBODY);
  await policy(
    'hiding',
    'forbid (principal, action, resource is Version) when { principal.sub == "ada" && resource.kind == "EHR_STATUS" };',
  );
  const seen = await seenEhr(open, 'of all', false);
  const [subject, identifier] = [randomUUID(), randomUUID()];
  const names = await hiddenThings(open, { seen, subject, identifier, random: new Random(1) });
  const read = JUDGED.filter(
    ({ discloses, id }, index) =>
      ['read', 'query', 'export'].includes(discloses) &&
      !TELLING.includes(id) &&
      (!IS_SMALL || index % 3 === 0 || TOLD.includes(id)),
  );
  const FOUND = 'found_by_subject';
  const ofPatient = `e/ehr_status/subject/external_ref/id/value`;
  const queries = [
    `SELECT ${ofPatient} FROM EHR e`,
    `SELECT e/ehr_status/other_details FROM EHR e`,
    `SELECT e FROM EHR e`,
    `SELECT s FROM EHR e CONTAINS EHR_STATUS s`,
    `SELECT e/ehr_id/value AS ${FOUND} FROM EHR e WHERE ${ofPatient} = '${subject}'`,
  ];
  const telling = async (token: string): Promise<string[]> => {
    const found: string[] = [];
    for (const operation of read) {
      const asked = unseenRequests(operation, names, seen);
      if (operation.id === 'query_execute_adhoc_post')
        asked.push(...queries.map((q) => ({ path: operation.path, headers: {}, body: { q } })));
      for (const each of asked) {
        const { text, headers } = await told(operation, each, token);
        // An answer repeats what was asked.
        const { q = '' } = { ...each.body } as { q?: string };
        const said = `${JSON.stringify(headers)}${q === '' ? text : text.replaceAll(q, '')}`;
        // A slow query stands in the overview, without its literals.
        const isQuery = operation.discloses === 'query';
        const isFound = isQuery && text.includes(FOUND) && !text.includes('"rows":[]');
        const isTold = isFound || [subject, identifier].some((word) => said.includes(word));
        if (isTold) found.push(operation.id);
      }
    }
    return [...new Set(found)];
  };
  expect(await telling(ADA)).toEqual([]);
  expect(await telling(ADMIN)).toEqual(expect.arrayContaining(TOLD));
});
