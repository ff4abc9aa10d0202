import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import { textTable } from '../cli/output.js';
import { COLLECTIONS } from '../models/access/layout.js';
import { ASKS, type NamedPolicy } from './access-policies.js';
import { answered, putPolicies, V1, type AccessServers } from './access-servers.js';
import { inTurns, mediansOf } from './in-turns.js';
import type { Answer, Send } from './load-client.js';
import { milliseconds } from './measure.js';
import { madeUp } from './side-by-side.js';

/** EHRs with one COMPOSITION each: as many as are named, and more. Every one has a tag, and every twentieth is marked. */
const NAMED = 5_000;
const JOINED = 25_000;
const AT_ONCE = 1_000;
const HOUSE = 'access.house';

const OF_HOUSE: NamedPolicy = [
  'house',
  `permit (principal, action, resource) when { principal.roles.contains("${ASKS}") && resource.hasTag("${HOUSE}") &&
   resource.getTag("${HOUSE}").contains("north") };`,
];

const COMPOSITIONS = 'FROM EHR e CONTAINS COMPOSITION c';
const START = 'c/context/start_time/value';
const QUERIES: readonly (readonly [name: string, aql: string])[] = [
  ['AQL count of compositions', `SELECT COUNT(*) ${COMPOSITIONS}`],
  ['AQL newest 20', `SELECT ${START} ${COMPOSITIONS} ORDER BY ${START} DESC LIMIT 20`],
  ['AQL count of EHRs', 'SELECT COUNT(*) FROM EHR e'],
];
const TURNS = 7;

type Doc = Record<string, unknown> & { readonly _id: string };

/**
 * What lists and queries over all EHRs cost where each has a tag and some are marked: of so many that their ids stand in a query, and of more, where
 * each document is asked. docs/access.md#many-marks
 */
export async function benchMany(servers: AccessServers, print: (line: string) => void): Promise<void> {
  const { admin } = servers;
  const subject = { _type: 'PARTY_SELF', external_ref: externalRef('M-found') };
  const status = { _type: 'EHR_STATUS', archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1' };
  const named = { name: { _type: 'DV_TEXT', value: 'Status' }, is_queryable: true, is_modifiable: true };
  const made = await answered(
    admin('POST', `${V1}/ehr`, JSON.stringify({ ...status, ...named, subject })),
    201,
  );
  const ehrId = etagOf(made);
  const [body = ''] = madeUp(1);
  const versionUid = etagOf(await answered(admin('POST', `${V1}/ehr/${ehrId}/composition`, body), 201));
  await putPolicies([OF_HOUSE]);
  await insert(COLLECTIONS.itemTags, [tagOf(ehrId)]);
  await collection(COLLECTIONS.settings).updateOne({ _id: 'marks' }, { $inc: { seq: 1 } }, { upsert: true });
  await store({ ehrId, versionUid }, NAMED, () => 'none');
  await rows('named', servers, print);
  await store({ ehrId, versionUid }, JOINED - NAMED, (index) => `none ${index}`);
  await rows('joined', servers, print);
}

function externalRef(value: string): object {
  return {
    ...{ _type: 'PARTY_REF', namespace: 'many', type: 'PERSON' },
    id: { _type: 'GENERIC_ID', value, scheme: 'mrn' },
  };
}

/** Stores copies of an EHR with a COMPOSITION, as far as lists and queries read them. `template`: that marks of a part name. */
async function store(
  { ehrId, versionUid }: { readonly ehrId: string; readonly versionUid: string },
  count: number,
  template: (index: number) => string,
): Promise<void> {
  const ehr = await collection(COLLECTIONS.ehrs).findOne({ _id: ehrId });
  const aql = await collection(COLLECTIONS.aql).findOne({ _id: versionUid });
  for (let first = 0; first < count; first += AT_ONCE) {
    const ids = Array.from({ length: AT_ONCE }, () => randomUUID());
    await insert(
      COLLECTIONS.ehrs,
      ids.map((_id) => {
        const copy: Doc = { ...ehr, _id };
        delete copy['subject'];
        delete copy['identities'];
        return copy;
      }),
    );
    await insert(
      COLLECTIONS.aql,
      ids.map((id, index) => ({
        ...{ ...aql, _id: `${id}::bench::1`, ehr: id, vo: id },
        start: new Date(Date.UTC(2020, 0, 1) + (first + index) * 60_000),
      })),
    );
    await insert(COLLECTIONS.itemTags, ids.map(tagOf));
    await insert(
      COLLECTIONS.ehrMarks,
      ids.flatMap((id, index) => marksOf(id, first + index, template)),
    );
  }
}

function tagOf(ehrId: string): Doc {
  const ofEhr = { target_type: 'EHR_STATUS', target_version: null, target_path: null };
  return { _id: randomUUID(), owner_id: ehrId, target: ehrId, key: HOUSE, value: 'north, south', ...ofEhr };
}

/** Of a hundred EHRs four are marked whole, and one in five parts. */
function marksOf(ehrId: string, index: number, template: (index: number) => string): Doc[] {
  const mark = (more: object): Doc => ({
    ...{ _id: randomUUID(), ehr_id: ehrId, kind: 'patient_restriction', ground: 'bench', open: true },
    ...{ placed: { time: new Date(), by: 'bench' }, lifted: [] },
    ...more,
  });
  if (index % 25 === 0) return [mark({})];
  if (index % 100 !== 1) return [];
  return Array.from({ length: 5 }, (_, part) => mark({ template_id: template(index * 5 + part) }));
}

async function rows(
  name: string,
  { enforced, recorded }: AccessServers,
  print: (line: string) => void,
): Promise<void> {
  const works: (readonly [string, (send: Send) => Promise<Answer>])[] = [
    ...QUERIES.map(
      ([of, q]) => [of, (send: Send) => send('POST', `${V1}/query/aql`, JSON.stringify({ q }))] as const,
    ),
    ['find by the subject', (send) => send('GET', '/rest/ehrs?identifier=M-found')],
  ];
  const table: string[][] = [];
  for (const [work, send] of works) {
    const times = await inTurns(
      TURNS,
      () => answered(send(recorded), 200),
      () => answered(send(enforced), 200),
    );
    const [without, with_] = mediansOf(times);
    table.push([work, milliseconds(without), milliseconds(with_), (with_ / without).toFixed(2)]);
  }
  print(textTable([`tags and marks ${name}`, 'without', 'with', 'ratio'], table));
}

function collection(name: string): mongoose.mongo.Collection<{ _id: string }> {
  return mongoose.connection.collection<{ _id: string }>(name);
}

async function insert(name: string, docs: readonly { readonly _id: string }[]): Promise<void> {
  if (docs.length > 0) await collection(name).insertMany([...docs]);
}

function etagOf({ headers }: Answer): string {
  return String(headers.etag).replace(/^W\//, '').replaceAll('"', '');
}
