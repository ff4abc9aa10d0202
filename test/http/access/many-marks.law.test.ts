import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { draws, firstSeed } from '../../support/laws.js';
import { merge, statusOf } from '../../support/merge-http.js';
import { markBeyondNames, tagBeyondNames } from '../../support/policy/beyond-names.js';
import { putCategories } from '../../support/policy/categories.js';
import { MARK_ROLES, putMarks, ROOT, tokenOf } from '../../support/policy/marks.js';
import { putPolicies } from '../../support/policy/put.js';
import { Random } from '../../support/random.js';
import {
  aComposition,
  givenComposition,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';

/** EHRs, each of one of two houses or of both, some of them marked and some merged. */
const SIZES = { small: 14, full: 400 };

useDatabase();
const settings = { ...everythingOn({ auth: 'jwt', accessMode: 'enforce' }), rolePermissions: MARK_ROLES };
const app = testApp(settings);
const open = testApp();
const HOUSES = ['north', 'south'] as const;
const TEMPLATE = 'minimal_evaluation.en.v1';
const POLICIES = {
  house: `permit (principal, action, resource) when { principal has organisation && resource.hasTag("access.house") &&
    resource.getTag("access.house").contains(principal.organisation) };`,
  own: 'permit (principal, action, resource) when { principal has ehr && resource.ehr_id == principal.ehr };',
  admin: 'permit (principal, action, resource) when { principal.roles.contains("ADMIN") };',
};

/** What is of which category: by template, by the archetype of the root, and what nothing here is of. */
const CATEGORIES = [
  { name: 'psychiatry', templates: [TEMPLATE, 'more'] },
  { name: 'minimal', archetypes: ['openEHR-EHR-COMPOSITION.minimal.v1'] },
  { name: 'elsewhere', templates: ['another'], archetypes: ['openEHR-EHR-COMPOSITION.another.v1'] },
];
/** Of which all that is made here is. */
const OF_CATEGORIES = ['event', 'psychiatry', 'minimal'];

interface Composition {
  readonly uid: string;
  readonly day: string;
}

interface Mark {
  readonly kind: 'restriction_of_processing' | 'patient_restriction' | 'research_objection';
  readonly ground: string;
  readonly organisation?: string;
  readonly object_uid?: string;
  readonly template_id?: string;
  readonly category?: string;
  readonly origin?: string;
  readonly from?: string;
  readonly to?: string;
}

/** What a plain account of these rules knows of an EHR. */
interface Patient {
  readonly ehr: string;
  readonly subject: string;
  houses: string[];
  marks: Mark[];
  compositions: Composition[];
}

/** Who asks. */
interface Person {
  readonly token: string;
  readonly houses: readonly string[];
  readonly organisation?: string;
  readonly isAdministrator?: boolean;
  readonly isResearcher?: boolean;
  readonly own?: string;
}

function picks({ object_uid: uid, ...mark }: Mark, composition: Composition): boolean {
  if (uid !== undefined) return versionedObjectUidOf(composition.uid) === uid;
  return (
    (mark.template_id === undefined || mark.template_id === TEMPLATE) &&
    (mark.category === undefined || OF_CATEGORIES.includes(mark.category)) &&
    (mark.origin === undefined || mark.origin === settings.systemId) &&
    (mark.from === undefined || composition.day >= mark.from) &&
    (mark.to === undefined || composition.day <= mark.to)
  );
}

function isWhole({ object_uid, template_id, category, origin, from, to }: Mark): boolean {
  return [object_uid, template_id, category, origin, from, to].every((each) => each === undefined);
}

function holdsFor({ kind, organisation }: Mark, person: Person, ehr: string): boolean {
  const ofHim = organisation === undefined || person.organisation === undefined;
  if (!ofHim && organisation !== person.organisation) return false;
  if (kind === 'patient_restriction') return person.own !== ehr;
  return kind === 'restriction_of_processing' || person.isResearcher === true;
}

function seesEhr(person: Person, { ehr, houses, marks }: Patient): boolean {
  const isHis =
    person.isAdministrator === true ||
    person.own === ehr ||
    person.houses.some((house) => houses.includes(house));
  return isHis && !marks.some((mark) => isWhole(mark) && holdsFor(mark, person, ehr));
}

function seenCompositions(person: Person, patient: Patient): string[] {
  if (!seesEhr(person, patient)) return [];
  const { compositions, marks, ehr } = patient;
  const isHidden = (composition: Composition): boolean =>
    marks.some((mark) => holdsFor(mark, person, ehr) && picks(mark, composition));
  return compositions.flatMap((each) => (isHidden(each) ? [] : [each.uid]));
}

const DAYS = ['2020-01-01', '2020-02-01', '2020-03-01'] as const;

function randomMark(random: Random, { compositions }: Patient): Mark {
  const kind = random.pick<Mark['kind']>([
    ...(['restriction_of_processing', 'research_objection'] as const),
    ...(['patient_restriction', 'patient_restriction', 'patient_restriction'] as const),
  ]);
  const ground = `drawn ${random.below(1_000_000)}`;
  const organisation = random.chance(0.3) ? { organisation: random.pick(HOUSES) } : {};
  if (random.chance(0.2)) return { kind, ground };
  if (random.chance(0.2))
    return { kind, ground, object_uid: versionedObjectUidOf(random.pick(compositions).uid) };
  // Such a one is about an EHR or one object.
  if (kind === 'restriction_of_processing') return { kind, ground };
  const part = random.pick([
    { template_id: TEMPLATE },
    { template_id: 'another' },
    { category: 'event' },
    { category: 'persistent' },
    { category: 'psychiatry' },
    { category: 'minimal' },
    { category: 'elsewhere' },
    { origin: settings.systemId },
    { origin: 'elsewhere' },
    { from: DAYS[1] },
    { to: DAYS[1] },
    { from: DAYS[1], to: DAYS[1], template_id: TEMPLATE },
  ]);
  return { kind, ground, ...part, ...organisation };
}

async function givenPatient(random: Random, index: number): Promise<Patient> {
  const subject = `many-${index}`;
  const made = await request(open).post(`${V1}/ehr`).send(statusOf(subject)).expect(201);
  const ehr = versionUidOf(made);
  const compositions: Composition[] = [];
  for (let count = 0; count < 2; count += 1) {
    const day = random.pick(DAYS);
    const composition = aComposition();
    composition['context'] = { ...composition['context'], start_time: { value: `${day}T12:00:00Z` } };
    compositions.push({ uid: await givenComposition(open, ehr, composition), day });
  }
  const houses = random.pick([['north'], ['south'], ['north', 'south'], []]);
  if (houses.length > 0) {
    const status = versionUidOf(await request(open).get(`${V1}/ehr/${ehr}/ehr_status`).expect(200));
    await request(app)
      .put(`${V1}/ehr/${ehr}/ehr_status/${versionedObjectUidOf(status)}/tags`)
      .set('Authorization', ROOT)
      .send([{ key: 'access.house', value: houses.join(', ') }])
      .expect(200);
  }
  const patient: Patient = { ehr, subject, houses, marks: [], compositions };
  if (random.chance(0.6)) {
    patient.marks = random.list(1, 3, () => randomMark(random, patient));
    await putMarks(app, ehr, patient.marks).expect(200);
  }
  if (random.chance(0.2)) {
    patient.marks = patient.marks.slice(1);
    await putMarks(app, ehr, patient.marks).expect(200);
  }
  return patient;
}

/** Some are merged into others, which then have the marks, the houses and the content of both. */
async function mergeSome(random: Random, patients: Patient[]): Promise<Patient[]> {
  const left = [...patients];
  for (let count = 0; count < patients.length / 6; count += 1) {
    const source = left.splice(random.below(left.length), 1)[0] as Patient;
    const target = random.pick(left);
    await merge(app, source.ehr, target.ehr).expect(200);
    target.houses = [...target.houses, ...source.houses];
    target.marks = [...target.marks, ...source.marks];
    const listed = await request(open)
      .post(`${V1}/query/aql`)
      .send({ q: 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c', ehr_id: target.ehr });
    const uids = (listed.body as { rows: [string][] }).rows.map(([uid]) => uid);
    target.compositions = [...target.compositions, ...source.compositions].filter(({ uid }) =>
      uids.includes(uid),
    );
  }
  return left;
}

const get = (path: string, token: string) => request(app).get(path).set('Authorization', token);

async function rowsOf(person: Person, q: string): Promise<Json[]> {
  const asked = request(app).post(`${V1}/query/aql`).set('Authorization', person.token).send({ q });
  const { status, body } = await asked;
  expect([q, status, body]).toEqual([q, 200, expect.anything()]);
  return (body as { rows: Json[] }).rows;
}

async function streamed(person: Person, q: string): Promise<string[]> {
  const { text } = await request(app)
    .post(`${V1}/query/aql`)
    .set('Authorization', person.token)
    .set('Accept', 'application/x-ndjson')
    .buffer(true)
    .parse((answer, done) => {
      let whole = '';
      answer.on('data', (part: Buffer) => (whole += part.toString()));
      answer.on('end', () => done(null, whole));
    })
    .send({ q })
    .expect(200)
    .then(({ body }) => ({ text: String(body) }));
  return text.split('\n');
}

const sorted = (texts: readonly string[]): string[] => [...texts].sort();
const COMPOSITIONS = 'SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c';

async function requireRight(person: Person, patients: readonly Patient[]): Promise<void> {
  const seen = patients.filter((each) => seesEhr(person, each));
  const uids = seen.flatMap((each) => seenCompositions(person, each));
  const textsOf = async (q: string) => sorted((await rowsOf(person, q)).map((row) => row[0] as string));
  expect(await textsOf('SELECT e/ehr_id/value FROM EHR e')).toEqual(sorted(seen.map(({ ehr }) => ehr)));
  expect(await textsOf(COMPOSITIONS)).toEqual(sorted(uids));
  expect(await rowsOf(person, 'SELECT COUNT(*) FROM COMPOSITION c')).toEqual([[uids.length]]);
  expect(await textsOf('SELECT DISTINCT e/ehr_id/value FROM EHR e NOT CONTAINS COMPOSITION c')).toEqual(
    sorted(seen.filter((each) => seenCompositions(person, each).length === 0).map(({ ehr }) => ehr)),
  );
  const page = await rowsOf(person, `${COMPOSITIONS} ORDER BY c/context/start_time/value DESC LIMIT 3`);
  expect(page).toHaveLength(Math.min(3, uids.length));
  for (const [uid] of page as unknown as string[][]) expect(uids).toContain(uid);
  const lines = (await streamed(person, COMPOSITIONS)).join('\n');
  for (const { uid } of patients.flatMap(({ compositions }) => compositions))
    expect([uid, lines.includes(uid)]).toEqual([uid, uids.includes(uid)]);
  for (const { ehr, subject } of patients) {
    const isSeen = seen.some((each) => each.ehr === ehr);
    for (const identifier of [ehr, subject]) {
      const { body } = await get(`/rest/ehrs?identifier=${identifier}`, person.token).expect(200);
      expect((body as { ehrs: Json[] }).ehrs.map(({ ehr_id: id }) => id as string)).toEqual(
        isSeen ? [ehr] : [],
      );
    }
  }
}

async function requireListed(person: Person, patients: readonly Patient[]): Promise<void> {
  const listed: string[] = [];
  for (let after: string | undefined = 'start'; after !== undefined;) {
    const { body } = await get(
      `/rest/admin/ehr?fetch=3${after === 'start' ? '' : `&after=${after}`}`,
      person.token,
    ).expect(200);
    const { ehrs, next } = body as { ehrs: Json[]; next?: string };
    listed.push(...ehrs.map(({ ehr_id: ehr }) => ehr as string));
    after = next;
  }
  expect(listed).toEqual(sorted(patients.filter((each) => seesEhr(person, each)).map(({ ehr }) => ehr)));
}

async function fill(): Promise<void> {
  await tagBeyondNames('access.house', 'north,south');
  await markBeyondNames(['patient_restriction', 'research_objection']);
}

beforeAll(async () => {
  await givenTemplate(open);
  await putCategories(app, CATEGORIES).expect(200);
  await putPolicies(app, POLICIES);
});

it(
  'however many EHRs have tags and marks, lists and queries answer what each user may see',
  async () => {
    const random = new Random(firstSeed());
    const all: Patient[] = [];
    for (let index = 0; index < draws(SIZES); index += 1) all.push(await givenPatient(random, index));
    const patients = await mergeSome(random, all);
    const own = random.pick(patients).ehr;
    const nurse = (organisation: string): Person => ({
      token: tokenOf(['USER'], { organisation }, `nurse of ${organisation}`),
      ...{ houses: [organisation], organisation },
    });
    const research = { organisation: 'north', purpose_of_use: 'HRESCH' };
    const administrator = { token: ROOT, houses: [], isAdministrator: true };
    const people: Person[] = [
      nurse('north'),
      nurse('south'),
      nurse('none'),
      { ...nurse('north'), token: tokenOf(['USER'], research, 'researcher'), isResearcher: true },
      { token: tokenOf(['USER'], { ownEhrId: own }, 'patient'), houses: [], own },
      administrator,
    ];
    // As names of EHRs, and as what each document is asked.
    for (const work of [() => Promise.resolve(), fill]) {
      await work();
      for (const person of people) await requireRight(person, patients);
      await requireListed(administrator, patients);
    }
    expect(patients.filter((each) => seesEhr(nurse('north'), each)).length).toBeGreaterThan(0);
    expect(patients.filter((each) => !seesEhr(nurse('north'), each)).length).toBeGreaterThan(0);
  },
  240_000 + draws(SIZES) * 4_000,
);
