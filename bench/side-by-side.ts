import { realComposition, seededRandom, templateText } from '../cli/demo/patient.js';
import type { JsonObject, JsonValue } from '../openehr/base/json.js';
import { isJsonObject } from '../openehr/base/json.js';
import {
  loadClient,
  rowsOf,
  timed,
  type Answer,
  type Figure,
  type ProcessorTime,
  type Send,
} from './load-client.js';

const PRESSURE = 'ehrbase_blood_pressure_simple.de.v0';
const SCREENING = 'Corona_Anamnese';
const READING = 'OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]';
const SYSTOLIC = 'o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value/magnitude';
const SELECT = `SELECT c/context/start_time/value AS time, ${SYSTOLIC} AS systolic FROM EHR e`;
const IN_COMPOSITION = `CONTAINS COMPOSITION c CONTAINS ${READING}`;
/** Minutes over which the compositions spread. */
const SPREAD = 500_000;

/** How much work a table is made of. */
export interface TablePlan {
  readonly ehrs: number;
  readonly compositionsPerEhr: number;
}

type Queries = readonly (readonly [figure: string, aql: string, requests: number])[];

/** The queries of the table: each with its name and how often it runs. */
export function queries(ehrId: string): Queries {
  const averages = `COUNT(*) AS n, MIN(${SYSTOLIC}) AS low, MAX(${SYSTOLIC}) AS high, AVG(${SYSTOLIC}) AS mean`;
  return [
    ['AQL one EHR', `${SELECT}[ehr_id/value='${ehrId}'] ${IN_COMPOSITION}`, 60],
    ['AQL selective population', `${SELECT} ${IN_COMPOSITION} WHERE ${SYSTOLIC} > 175`, 30],
    [
      'AQL 10 % ORDER BY LIMIT 20',
      `${SELECT} ${IN_COMPOSITION} WHERE ${SYSTOLIC} > 150 ORDER BY ${SYSTOLIC} DESC LIMIT 20`,
      30,
    ],
    ['AQL unselective, all rows', `${SELECT} ${IN_COMPOSITION} WHERE ${SYSTOLIC} > 130`, 10],
    ['AQL aggregate', `SELECT ${averages} FROM EHR e ${IN_COMPOSITION}`, 15],
    [
      'AQL newest 20',
      'SELECT c/context/start_time/value AS time FROM EHR e CONTAINS COMPOSITION c ORDER BY c/context/start_time/value DESC LIMIT 20',
      20,
    ],
    ['AQL count of compositions', 'SELECT COUNT(*) AS n FROM EHR e CONTAINS COMPOSITION c', 15],
    [
      'AQL section in report',
      'SELECT c/context/start_time/value AS time, s/name/value AS name FROM EHR e CONTAINS COMPOSITION c[openEHR-EHR-COMPOSITION.report.v1] CONTAINS SECTION s LIMIT 100',
      15,
    ],
  ];
}

/** What one server holds while its table is made. */
interface Load {
  readonly send: Send;
  readonly processor: ProcessorTime | null;
  readonly bodies: readonly string[];
  readonly ehrIds: string[];
  readonly versionUids: string[];
}

/**
 * The table of figures of one server, everchart or another one with the same REST interface: loads it and times the same
 * work, byte for byte, in the same order. `base`: its openEHR base path. `processor`: null where its processes are unknown.
 * @throws Error when it takes no template
 */
export async function table(
  base: string,
  plan: TablePlan,
  more: { readonly token?: string | undefined; readonly processor: ProcessorTime | null },
): Promise<Figure[]> {
  const { send, close } = loadClient(base, more.token);
  for (const name of [PRESSURE, SCREENING] as const) await upload(send, templateText(name), name);
  const bodies = madeUp(plan.ehrs * plan.compositionsPerEhr);
  const load: Load = { send, processor: more.processor, bodies, ehrIds: [], versionUids: [] };
  const made = [...(await commits(load, plan.ehrs)), ...(await reads(load))];
  for (const [figure, aql, requests] of queries(load.ehrIds[3] ?? ''))
    made.push(await queried(load, { figure, requests, clients: 1 }, aql));
  made.push(await mixed(load));
  close();
  return made;
}

async function upload(send: Send, opt: string, name: string): Promise<void> {
  const { status, text } = await send('POST', '/definition/template/adl1.4', opt, 'application/xml');
  if (status >= 400 && status !== 409) throw new Error(`template ${name}: ${status} ${text.slice(0, 300)}`);
}

/** JSON texts of compositions: 19 of 20 are blood pressures around 130, one is a screening. */
export function madeUp(count: number): string[] {
  const random = seededRandom(20261122);
  const bell = (mean: number, deviation: number): number => Math.round(mean + random.bell(deviation));
  return Array.from({ length: count }, (_, index) => {
    const isScreening = index % 20 === 13;
    const composition = { ...realComposition(isScreening ? SCREENING : PRESSURE) };
    delete composition.uid;
    const minutes = ((index * 7) % SPREAD) * 60_000;
    const time = new Date(Date.UTC(2026, 0, 5, 7) + minutes).toISOString().replace('.000Z', 'Z');
    if (isJsonObject(composition.context))
      composition.context.start_time = { _type: 'DV_DATE_TIME', value: time };
    const [systolic, diastolic] = isScreening ? [] : quantities(composition);
    if (systolic !== undefined) systolic.magnitude = bell(130, 16);
    if (diastolic !== undefined) diastolic.magnitude = bell(82, 9);
    return JSON.stringify(composition);
  });
}

function quantities(value: JsonValue): JsonObject[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = isJsonObject(value) && value._type === 'DV_QUANTITY' ? [value] : [];
  return [...own, ...Object.values(value).flatMap((member) => quantities(member ?? null))];
}

async function commits(load: Load, ehrs: number): Promise<Figure[]> {
  const { send, processor, bodies, ehrIds } = load;
  const createEhr = async (): Promise<Answer> => {
    const answer = await send('POST', '/ehr');
    const said = `${String(answer.headers.location)} ${String(answer.headers.etag)} ${answer.text}`;
    ehrIds.push(/[0-9a-f]{8}-[0-9a-f-]{27}/.exec(said)?.[0] ?? '');
    return answer;
  };
  // The first one alone: some servers make the user with it.
  await createEhr();
  ehrIds.pop();
  const created = await timed({ figure: 'create EHR', requests: ehrs, clients: 8 }, processor, createEhr);
  const warm = Math.min(200, bodies.length);
  const single = Math.min(300, bodies.length - warm);
  const rest = bodies.length - warm - single;
  await timed({ figure: '', requests: warm, clients: 1 }, null, (index) => commit(load, index));
  const alone = await timed(
    { figure: 'commit, 1 client', requests: single, clients: 1 },
    processor,
    (index) => commit(load, index + warm),
  );
  const together = await timed(
    { figure: 'commit, 16 clients', requests: rest, clients: 16 },
    processor,
    (index) => commit(load, index + warm + single),
  );
  return [created, alone, together];
}

async function commit({ send, bodies, ehrIds, versionUids }: Load, index: number): Promise<Answer> {
  const at = index % bodies.length;
  const answer = await send('POST', `/ehr/${ehrIds[at % ehrIds.length] ?? ''}/composition`, bodies[at]);
  versionUids[at] = String(answer.headers.etag).replace(/^W\//, '').replaceAll('"', '');
  return answer;
}

function read({ send, ehrIds, versionUids }: Load, index: number): Promise<Answer> {
  const at = (index * 7919) % versionUids.length;
  return send('GET', `/ehr/${ehrIds[at % ehrIds.length] ?? ''}/composition/${versionUids[at] ?? ''}`);
}

function readEhr({ send, ehrIds }: Load, index: number): Promise<Answer> {
  return send('GET', `/ehr/${ehrIds[index % ehrIds.length] ?? ''}`);
}

async function reads(load: Load): Promise<Figure[]> {
  const { processor } = load;
  const get = (index: number): Promise<Answer> => read(load, index);
  await timed({ figure: '', requests: 300, clients: 4 }, null, get);
  return [
    await timed({ figure: 'GET composition, 1 client', requests: 600, clients: 1 }, processor, get),
    await timed({ figure: 'GET composition, 16 clients', requests: 4_000, clients: 16 }, processor, get),
    await timed({ figure: 'GET EHR, 16 clients', requests: 2_000, clients: 16 }, processor, (index) =>
      readEhr(load, index),
    ),
  ];
}

const query = ({ send }: Load, q: string): Promise<Answer> =>
  send('POST', '/query/aql', JSON.stringify({ q }));

async function queried(
  load: Load,
  work: Pick<Figure, 'figure' | 'requests' | 'clients'>,
  aql: string,
): Promise<Figure> {
  const first = await query(load, aql);
  await query(load, aql);
  await query(load, aql);
  return { ...(await timed(work, load.processor, () => query(load, aql))), ...rowsOf(first) };
}

/** Of ten requests three commit, four get a composition, one gets an EHR, two ask for the readings of one. */
function mixed(load: Load): Promise<Figure> {
  const one = (index: number): Promise<Answer> => {
    const kind = index % 10;
    if (kind < 3) return commit(load, index);
    if (kind < 7) return read(load, index);
    if (kind < 8) return readEhr(load, index);
    const [[, ofEhr] = ['', '']] = queries(load.ehrIds[index % load.ehrIds.length] ?? '');
    return query(load, ofEhr);
  };
  return timed({ figure: 'mixed load, 32 clients', requests: 3_000, clients: 32 }, load.processor, one);
}
