import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import type { Operation } from '../../../routes/http/operation/operation.js';
import { everyOperation } from '../../../src/operation-table.js';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { draws, firstSeed } from '../../support/laws.js';
import { tokenOf } from '../../support/policy/marks.js';
import {
  expectedOf,
  MARKS,
  PURPOSES,
  WHO,
  type Asked,
  type Expected,
  type Mark,
  type Row,
  type Who,
} from '../../support/policy/matrix-model.js';
import { markedEhr } from '../../support/policy/matrix-world.js';
import { CREATING, requestsAbout, type UnseenRequest } from '../../support/policy/unseen-requests.js';
import { absentNames, statusOf, type Names } from '../../support/policy/unseen-world.js';
import { Random } from '../../support/random.js';
import { givenTemplate, V1 } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';

useDatabase();

const ROLES = Object.fromEntries(
  Object.entries(WHO).flatMap(([who, permissions]) => (permissions === null ? [] : [[who, permissions]])),
);
const settings = everythingOn({ auth: 'jwt', accessMode: 'enforce', rolePermissions: ROLES });
const app = testApp(settings);
const served = useServer(app);
const open = testApp({ accessMode: 'dry' });
const { operations } = everyOperation(settings);

/** Asked by name, where the mark of an EHR is another thing than that something of it is absent. */
const LISTS = ['ehr_find', 'listEhrs', 'listDistinct', 'overview_get', 'favourite_list', 'draft_list'];
const PAGES = ['listEhrs', 'listDistinct', 'overview_get'];
/** Of what a user keeps for himself nobody here has any: it has no EHR of its own, and the case at the end says what they answer. */
const OWN = ['draft_get', 'draft_delete', 'favourite_delete'];
/** Rows without an EHR that would change what other cells need. */
const isJudged = ({ discloses }: Operation): boolean => discloses !== 'nothing' && discloses !== 'whole';

/** Without an EHR in their path, and about one all the same, as they are asked here. */
const FOR_ONE = ['ehr_create', 'ehr_get_by_subject', 'ehr_find', 'print_note'];

function rowOf({ id, access, discloses, path }: Operation): Row {
  return {
    access,
    discloses,
    isForOne: path.includes('{ehr_id}') || FOR_ONE.includes(id),
    isAboutOne: !LISTS.includes(id) && !id.startsWith('query_'),
    onlyCreates: ['composition_create', 'directory_create', 'contribution_create'].includes(id),
  };
}

interface Cell extends Asked {
  readonly operation: Operation;
}

/** Every row with every mark, everybody and every purpose; what is of no record without marks. */
const CELLS: readonly Cell[] = operations.flatMap((operation) =>
  (isJudged(operation) ? MARKS : (['none'] as const)).flatMap((mark) =>
    (Object.keys(WHO) as Who[]).flatMap((who) =>
      Object.keys(PURPOSES).map((purpose) => ({ operation, mark, who, purpose })),
    ),
  ),
);

/** In an order that a seed draws. */
function shuffled(random: Random): Cell[] {
  const cells = [...CELLS];
  for (let last = cells.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    [cells[last], cells[other]] = [cells[other]!, cells[last]!];
  }
  return cells;
}

/** EHRs by their mark: made anew when something was written to one. */
const worlds = new Map<string, Names>();

async function worldOf(mark: Mark, which: 'asked' | 'twin'): Promise<Names> {
  const key = `${which} ${mark}`;
  const known = worlds.get(key);
  if (known !== undefined) return known;
  const made = await markedEhr({ open, app, token: tokenOf(['ADMIN'], {}, 'root') }, mark);
  worlds.set(key, made);
  return made;
}

interface Observed {
  readonly status: number;
  readonly code: unknown;
  /** Whether anything of the EHR is told that was not in the request. */
  readonly tells: boolean;
}

const METHODS = { GET: 'get', PUT: 'put', POST: 'post', DELETE: 'delete', OPTIONS: 'options' } as const;

async function observed(
  { operation, who, purpose }: Cell,
  asked: UnseenRequest,
  world: Names,
  own: string,
): Promise<Observed> {
  const { claim, header, reason } = PURPOSES[purpose] ?? {};
  const claims = {
    ...(claim !== undefined && { purpose_of_use: claim }),
    ...(who === 'OWN' && { ownEhrId: own }),
  };
  const path = asked.path.startsWith('/') ? asked.path : `${storedPath(operation)}${asked.path}`;
  const [to, method] = [request(served.url), METHODS[operation.method]];
  const sending = to[method](path).set({
    ...asked.headers,
    ...(WHO[who] !== null && { Authorization: tokenOf([who], claims, who.toLowerCase()) }),
    ...(header !== undefined && { 'Purpose-Of-Use': header }),
    ...(reason !== undefined && { 'Purpose-Of-Use-Reason': reason }),
  });
  const { status, headers, text } = await (asked.body === undefined ? sending : sending.send(asked.body));
  const sent = `${path} ${JSON.stringify(asked)}`;
  const told = `${JSON.stringify(headers)} ${text}`;
  const tells = Object.values(world).some((id) => id !== '' && !sent.includes(id) && told.includes(id));
  return { status, code: codeOf(text), tells };
}

function codeOf(text: string): unknown {
  return text.startsWith('{') ? (JSON.parse(text) as { code?: unknown }).code : undefined;
}

/** Paths of rows without an EHR, with a name for whatever is to be named. */
function storedPath({ path }: Operation): string {
  return path
    .replace('{qualified_query_name}', 'org.example::q')
    .replace('{version}', '1.0.0')
    .replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000001');
}

/** Which request of an operation is sent: the first, of searches the one for a subject, of candidates the one for an EHR. */
function requestOf(operation: Operation, names: Names): UnseenRequest {
  const all = requestsAbout(operation, names);
  const asked = operation.id === 'getMergeCandidates' ? all[1] : all[0];
  return asked ?? { path: '', headers: {} };
}

async function tried(cell: Cell): Promise<void> {
  const { operation, mark } = cell;
  const expected = expectedOf(rowOf(operation), cell);
  const name = `${operation.id}, ${mark}, ${cell.who}, ${cell.purpose}`;
  if (!isJudged(operation)) {
    await triedWithoutRecord(cell, name, expected);
    return;
  }
  const world = await worldOf(mark, 'asked');
  const about = requestOf(operation, world);
  const answer = await observed(cell, about, world, world['ehr'] ?? '');
  if (operation.method !== 'GET' && answer.status < 300) worlds.delete(`asked ${mark}`);
  if (typeof expected === 'object') {
    const code = expected.isRestricted ? 'restricted' : answer.code;
    expect({ name, ...answer }).toEqual({ name, status: expected.status, code, tells: false });
    return;
  }
  const other = expected === 'as absent' ? await absence(cell) : await unmarked(cell);
  // Of a page of many EHRs it is chance whether one of them is on it; a hidden one never is.
  const isAsTold = expected === 'as absent' || !PAGES.includes(operation.id);
  expect({ name, expected, ...answer }).toEqual({
    ...{ name, expected, ...other },
    tells: isAsTold ? other.tells : answer.tells,
  });
}

/** The same request about an EHR of the same kind that nothing is on. */
async function unmarked(cell: Cell): Promise<Observed> {
  const twin = await worldOf('none', 'twin');
  const answer = await observed(cell, requestOf(cell.operation, twin), twin, twin['ehr'] ?? '');
  if (cell.operation.method !== 'GET' && answer.status < 300) worlds.delete('twin none');
  return answer;
}

/** The same request about what is not there. A token of a patient names an EHR that is. */
async function absence(cell: Cell): Promise<Observed> {
  const absent = absentNames(randomUUID());
  const { ehr = '' } = await worldOf(cell.mark, 'asked');
  return { ...(await observed(cell, requestOf(cell.operation, absent), absent, ehr)), tells: false };
}

/** What is of no record, or of all whatever is marked: who may not does not come in; who may and reads is not told of records by `nothing`. */
async function triedWithoutRecord(cell: Cell, name: string, expected: Expected): Promise<void> {
  const { operation } = cell;
  const { discloses, method } = operation;
  if (expected === 'as unmarked' && method !== 'GET') return;
  const world = await worldOf('none', 'asked');
  const path = operation.path.replace('{ehr_id}', world['ehr'] ?? '');
  const answer = await observed(
    { ...cell, operation: { ...operation, path } },
    { path: '', headers: {} },
    world,
    world['ehr'] ?? '',
  );
  if (typeof expected === 'object')
    expect({ name, ...answer }).toMatchObject({ name, status: expected.status, tells: false });
  // Who may read marks and accesses depends on more than permissions: their own tests say so.
  else if (!path.includes('/rest/ehrs/'))
    expect({ name, isIn: ![401, 403].includes(answer.status) }).toEqual({ name, isIn: true });
  if (discloses === 'nothing') expect({ name, tells: answer.tells }).toEqual({ name, tells: false });
}

beforeAll(async () => {
  await givenTemplate(open);
  await request(open)
    .put(`${V1}/definition/query/org.example::q/1.0.0`)
    .set('Content-Type', 'text/plain')
    .send('SELECT e/ehr_id/value FROM EHR e')
    .expect(200);
});

it('the matrix has every row of the table, every mark, everybody and every purpose', () => {
  const rows = new Set(CELLS.map(({ operation }) => operation.id));
  expect(operations.filter(({ id }) => !rows.has(id))).toEqual([]);
  const judged = operations.filter((operation) => isJudged(operation)).length;
  const others = operations.length - judged;
  const each = Object.keys(WHO).length * Object.keys(PURPOSES).length;
  expect(CELLS).toHaveLength((judged * MARKS.length + others) * each);
});

it('operations, marks, roles and purposes answer as a model of the rules says', async () => {
  const random = new Random(firstSeed());
  const cells = shuffled(random).filter(
    ({ operation: { id } }) => !CREATING.includes(id) && !OWN.includes(id),
  );
  const count = Math.min(cells.length, draws({ small: 150, full: 50_000 }));
  for (const cell of cells.slice(0, count)) await tried(cell);
}, 3_600_000);

/* What the draw leaves out: what is made has no EHR yet, and what a user keeps for himself is of no other one. */

const EVERYBODY = Object.keys(WHO) as Who[];
const operationOf = (id: string): Operation => operations.find((one) => one.id === id)!;

it.each(CREATING)('%s under an id or for a subject in use is 409 whatever is marked', async (id) => {
  const operation = operationOf(id);
  for (const who of EVERYBODY)
    for (const mark of MARKS) {
      const world = await worldOf(mark, 'asked');
      const about = {
        path: id === 'ehr_create' ? `${V1}/ehr` : `${V1}/ehr/${world['ehr'] ?? ''}`,
        headers: {},
        body: statusOf(world['subject'] ?? '', world['subject'] ?? ''),
      };
      const cell = { operation, mark, who, purpose: 'none' } as const;
      const { status, tells } = await observed(cell, about, world, world['ehr'] ?? '');
      const wall = expectedOf(rowOf(operation), { ...cell, mark: 'none' });
      const expected = typeof wall === 'object' ? wall.status : 409;
      expect({ who, mark, status, tells }).toEqual({ who, mark, status: expected, tells: false });
    }
});

it.each(OWN)('%s of what nobody keeps is 404 to whom the wall lets in', async (id) => {
  const operation = operationOf(id);
  const world = await worldOf('none', 'asked');
  for (const who of EVERYBODY) {
    const cell = { operation, mark: 'none', who, purpose: 'none' } as const;
    const { status, tells } = await observed(cell, { path: '', headers: {} }, world, world['ehr'] ?? '');
    const wall = expectedOf(rowOf(operation), cell);
    const expected = typeof wall === 'object' ? wall.status : 404;
    expect({ who, status, tells }).toEqual({ who, status: expected, tells: false });
  }
});
