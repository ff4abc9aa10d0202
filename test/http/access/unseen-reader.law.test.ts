import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import type { Operation } from '../../../routes/http/operation/operation.js';
import { everyOperation } from '../../../src/operation-table.js';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { seeds } from '../../support/laws.js';
import { OBJECTED, putMarks, RESTRICTED, tokenOf, WITHHELD } from '../../support/policy/marks.js';
import { putPolicy } from '../../support/policy/put.js';
import {
  answerOf,
  answersOf,
  givenDefinitions,
  masked,
  type Answer,
} from '../../support/policy/unseen-answers.js';
import { CREATING, unseenRequests, type UnseenRequest } from '../../support/policy/unseen-requests.js';
import {
  absentNames,
  hiddenThings,
  seenEhr,
  statusOf,
  type Names,
  type SeenEhr,
} from '../../support/policy/unseen-world.js';
import { Random } from '../../support/random.js';
import { V1 } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';
import { ADMIN } from '../../support/tokens.js';

useDatabase();

/** Who asks has this role, and no other one: `unseen.law` asks as an administrator. */
const READER = ['USER'];
const settings = everythingOn({ auth: 'jwt', accessMode: 'enforce' });
const app = testApp(settings);
const served = useServer(app);
const telling = useServer(testApp({ ...settings, accessRefused: '403' }));
const open = testApp({ accessMode: 'dry' });
const ADA = tokenOf(READER);

const { rolePermissions } = settings;
const mayAsk = ({ access }: Operation): boolean =>
  access === 'open' ||
  access === 'anyone' ||
  access === 'identified' ||
  isIn(rolePermissions['USER'], access);
const isIn = (list: readonly string[] | undefined, word: string): boolean => list?.includes(word) === true;

/** What he may ask for, all that is judged of it. */
const ASKED = everyOperation(settings).operations.filter(
  (operation) =>
    operation.discloses !== 'nothing' &&
    operation.discloses !== 'whole' &&
    !CREATING.includes(operation.id) &&
    mayAsk(operation),
);
const READS = ASKED.filter(({ discloses }) => ['read', 'query', 'export'].includes(discloses));

const EVERYBODY = 'permit (principal, action, resource);';
const HIDING = `forbid (principal, action, resource) when { principal.sub == "ada" && (
  resource.hasTag("access.hidden") ||
  (resource is Version && resource has committer && resource.committer == "hidden")) };`;
/** A directory is no COMPOSITION: the mark of an EHR hides it, or a policy. */
const FOLDERS = `forbid (principal, action, resource is Version) when { principal.sub != "root-admin" &&
  resource.kind == "FOLDER" && resource has committer && resource.committer == "hidden" };`;

/** What the server itself has done, in the overview of whoever may read: nothing of what is in a record. */
const OF_SERVER = ['activity', 'database', 'ignored', 'slowest_queries'];

const SIZES = { small: 1, full: 15 };
const IS_SMALL = !process.env['TEST_LAWS'] && !process.env['TEST_LONG'];
/** In `npm test` each case tries some of the operations, another case others. */
const PARTS = IS_SMALL ? 5 : 1;
const partOf = (operations: readonly Operation[], which: number): Operation[] =>
  operations.filter((_, index) => index % PARTS === which % PARTS);

const policy = async (id: string, text: string): Promise<void> => {
  await putPolicy(app, id, text).expect(200);
};

beforeAll(async () => {
  await givenDefinitions(open);
  await policy('everybody', EVERYBODY);
});

/** Marks what `hiddenThings` made: the EHR, and COMPOSITIONs in the one that is seen. */
async function markHidden(mark: object, names: Names, seen: SeenEhr): Promise<void> {
  const found = await request(open)
    .post(`${V1}/query/aql`)
    .send({ q: 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', ehr_id: seen.ehr })
    .expect(200);
  const uids = (found.body as { rows: string[][] }).rows.flat().filter((uid) => uid !== seen.composition);
  const objects = [...uids, names['deleted_uid'] ?? ''].map((uid) => uid.split('::')[0]);
  await putMarks(app, names['ehr'] ?? '', [mark]).expect(200);
  await putMarks(app, seen.ehr, [
    ...besideOf(mark),
    ...objects.map((object_uid) => ({ ...mark, object_uid })),
  ]).expect(200);
}

/** That somebody objects to research everybody is told who takes his EXTRACT: of what it is about nothing is. */
const besideOf = (mark: object): object[] => (mark === OBJECTED ? [{ ...mark, template_id: 'none.v1' }] : []);

/** How something comes to be hidden from a reader, and of which operations that holds. */
interface Way {
  readonly hiding: string;
  readonly token: string;
  readonly operations: readonly Operation[];
  readonly mark: object | null;
}

const WAYS: readonly (readonly [string, Way])[] = [
  ['policies hide', { hiding: HIDING, token: ADA, operations: ASKED, mark: null }],
  // What would write is told that something is restricted: 409, as docs/access.md#restriction-of-processing says.
  ['restrictions of processing hide', { hiding: FOLDERS, token: ADA, operations: READS, mark: RESTRICTED }],
  // What is new may be written down.
  ['patients withhold', { hiding: FOLDERS, token: ADA, operations: READS, mark: WITHHELD }],
  [
    'objections hide from research',
    {
      hiding: FOLDERS,
      token: tokenOf(READER, { purpose_of_use: 'HRESCH' }),
      operations: ASKED,
      mark: OBJECTED,
    },
  ],
];

it.each(WAYS.map(([name, way], which) => [name, which, way] as const))(
  'what %s is answered to a reader as what is not there, to the last byte',
  async (name, which, { hiding, token, operations, mark }) => {
    await policy('hiding', hiding);
    // Where something is marked is no difference of the two worlds.
    const { ehr: other } = await seenEhr(open, 'another', false);
    if (mark !== null) await putMarks(app, other, [mark]).expect(200);
    for (const [round, seed] of seeds(SIZES).entries()) {
      const asking = {
        url: served.url,
        token,
        operations: partOf(operations, which + round),
        cut: OF_SERVER,
      };
      const identifier = `${name} ${round}`;
      const seen = await seenEhr(open, identifier, seed % 2 === 0);
      if (mark !== null) await putMarks(app, seen.ehr, besideOf(mark)).expect(200);
      const subject = randomUUID();
      const without = await answersOf(asking, { names: absentNames(subject), seen, seed });
      const names = await hiddenThings(open, { seen, subject, identifier, random: new Random(seed) });
      if (mark !== null) await markHidden(mark, names, seen);
      expect({ seed, ...(await answersOf(asking, { names, seen, seed })) }).toEqual({ seed, ...without });
    }
  },
  3_600_000,
);

/** The same request, which changes nothing of what is there where it is for another version. */
const another = (asked: UnseenRequest): UnseenRequest =>
  asked.headers['If-Match'] === undefined ? asked : { ...asked, headers: { 'If-Match': NO_VERSION } };
const NO_VERSION = '"5f1c9a6e-1b7d-4e0a-9c3b-0a8b6d2f4e11::local.cdr::7"';

/** Without what says which of two refusals it is. */
function withoutReason({ headers, text, ...answer }: Answer): object {
  const body = JSON.parse(text) as Record<string, unknown>;
  return {
    ...answer,
    headers: { ...headers, 'content-length': '' },
    body: { ...body, code: '', error: '', message: '' },
  };
}

/** What is told of each, where those that delete are asked for after the others. */
async function inOrder<T extends { readonly operation: Operation }, R>(
  all: readonly T[],
  tell: (each: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const told: R[] = [];
  for (const deletes of [false, true])
    for (const [index, each] of all.entries())
      if ((each.operation.method === 'DELETE') === deletes) told[index] = await tell(each, index);
  return told;
}

it('with ACCESS_REFUSED=403 a reader is refused exactly what is hidden from him, and all else is the same', async () => {
  await policy('hiding', HIDING);
  let refused = 0;
  for (const [round, seed] of seeds(SIZES).entries()) {
    const operations = partOf(ASKED, round + 2);
    const asking = { url: served.url, token: ADA, operations, cut: OF_SERVER };
    const seen = await seenEhr(open, `refused ${round}`, false);
    const subject = randomUUID();
    const absent = { names: absentNames(subject), seen, seed };
    expect(await answersOf({ ...asking, url: telling.url }, absent)).toEqual(await answersOf(asking, absent));
    const made = { seen, subject, identifier: `refused ${round}`, random: new Random(seed) };
    const names = await hiddenThings(open, made);
    const asked = operations.flatMap((operation) =>
      unseenRequests(operation, names, seen).map((about) => ({ operation, about })),
    );
    const pairs: { silent: Answer; told: Answer }[] = [];
    const to = async (url: string, { operation, about }: (typeof asked)[number]): Promise<Answer> =>
      masked(await answerOf({ url, token: ADA }, operation, about), names, OF_SERVER);
    for (const each of asked)
      pairs.push({ silent: await to(served.url, each), told: await to(telling.url, each) });
    // Who sees all asks then, for he does what he asks for: what takes away last.
    const there = await inOrder(asked, async ({ operation, about }, index) => {
      if (pairs[index]?.silent.status !== 404) return false;
      // The EHR is there, whatever else is not.
      if (about.path.includes(names['ehr'] ?? '')) return true;
      const answer = await answerOf({ url: served.url, token: ADMIN }, operation, another(about));
      return answer.status !== 404;
    });
    for (const [index, { operation, about }] of asked.entries()) {
      const { silent, told } = pairs[index]!;
      const which = { seed, operation: operation.id, about };
      if (there[index] !== true) expect({ which, told }).toEqual({ which, told: silent });
      else {
        refused += 1;
        expect({ which, ...withoutReason(told) }).toEqual({ which, ...withoutReason(silent), status: 403 });
      }
    }
  }
  expect(refused).toBeGreaterThan(5);
}, 3_600_000);

/** Under an id, or for a subject, that an EHR has. */
function creations({ subject = '', ehr = '' }: Names): UnseenRequest[] {
  const sent = (path: string, body: object, headers: UnseenRequest['headers'] = {}): UnseenRequest => ({
    ...{ path, body, headers },
  });
  const [taken, free] = [statusOf('taken', subject), statusOf('free')];
  const prefer = { Prefer: 'return=representation' };
  return [
    sent(`${V1}/ehr`, taken),
    sent(`${V1}/ehr`, taken, prefer),
    sent(`${V1}/ehr`, taken, { Accept: 'application/xml' }),
    sent(`${V1}/ehr/${ehr}`, taken),
    sent(`${V1}/ehr/${ehr}`, free),
    sent(`${V1}/ehr/${ehr}`, free, prefer),
    sent(`${V1}/ehr/${ehr}`, { ...free, _type: 'NONSENSE' }),
    sent(`${V1}/ehr/${ehr}?unknown=1`, free),
  ];
}

/** An EHR with a subject, and the names that requests have for it. */
async function takenEhr(): Promise<Names> {
  const subject = randomUUID();
  const made = await request(open).post(`${V1}/ehr`).send(statusOf(subject, subject)).expect(201);
  return { subject, ehr: (made.headers as Record<string, string>)['etag']!.replaceAll('"', '') };
}

const TAGGED =
  'forbid (principal, action, resource) when { principal.sub == "ada" && resource.hasTag("access.hidden") };';

it('making an EHR that is there is refused alike, whether it is hidden, and by what, or seen', async () => {
  await policy('hiding', TAGGED);
  const create = everyOperation(settings).operations.filter(({ id }) => CREATING.includes(id));
  const refusals = async (names: Names, token: string): Promise<Answer[]> => {
    const all: Answer[] = [];
    for (const asked of creations(names)) {
      const id = asked.path === `${V1}/ehr` ? 'ehr_create' : 'ehr_create_with_id';
      const operation = create.find((each) => each.id === id)!;
      for (const { url } of [served, telling])
        all.push(masked(await answerOf({ url, token }, operation, asked), names));
    }
    return all;
  };
  const research = tokenOf(READER, { purpose_of_use: 'HRESCH' });
  const isSeen = async ({ ehr = '' }: Names, token: string): Promise<boolean> =>
    (await request(app).get(`${V1}/ehr/${ehr}`).set('Authorization', token)).status === 200;
  const visible = await takenEhr();
  expect(await isSeen(visible, ADA)).toBe(true);
  const expected = await refusals(visible, ADA);
  expect(new Set(expected.map(({ status }) => status))).toEqual(new Set([409, 400]));
  const tagged = await takenEhr();
  const status = await request(open)
    .get(`${V1}/ehr/${tagged['ehr'] ?? ''}/ehr_status`)
    .expect(200);
  const container = (status.body as { uid: { value: string } }).uid.value.split('::')[0] ?? '';
  await request(open)
    .put(`${V1}/ehr/${tagged['ehr'] ?? ''}/ehr_status/${container}/tags`)
    .send([{ key: 'access.hidden', value: 'yes' }])
    .expect(200);
  for (const [token, mark] of [
    [ADA, null],
    [ADA, RESTRICTED],
    [ADA, WITHHELD],
    [research, OBJECTED],
  ] as const) {
    const hidden = mark === null ? tagged : await takenEhr();
    if (mark !== null) await putMarks(app, hidden['ehr'] ?? '', [mark]).expect(200);
    expect({ mark, isSeen: await isSeen(hidden, token) }).toEqual({ mark, isSeen: false });
    expect({ mark, answers: await refusals(hidden, token) }).toEqual({ mark, answers: expected });
  }
});
