import { textTable } from '../cli/output.js';
import { livePolicies } from '../change/policy/live-policies.js';
import { policyVersion } from '../models/cross-collection/policy-objects.js';
import { versionsById } from '../models/version.js';
import type { AccessObject } from '../policy/object.js';
import {
  accessPolicies,
  ASKS,
  ASKS_CONTENT,
  ASKS_NAMESPACE,
  ASKS_TAGS,
  type NamedPolicy,
} from './access-policies.js';
import { benchMany } from './access-many.js';
import { storeRecords, type AccessRecords } from './access-records.js';
import { answered, putPolicies, V1, withAccessServers, type AccessServers } from './access-servers.js';
import { benchPairs } from './access-times.js';
import { inBlocks, processorRatio, processorTime } from './in-blocks.js';
import type { Answer, Send } from './load-client.js';
import { milliseconds, quantile } from './measure.js';

const SYSTOLIC = 'o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value/magnitude';
const READINGS =
  'FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]';
/** Population queries: what is rare, what is newest, and all. */
const QUERIES: readonly (readonly [name: string, aql: string, count: number])[] = [
  [
    'AQL selective population',
    `SELECT e/ehr_id/value, ${SYSTOLIC} ${READINGS} WHERE ${SYSTOLIC} > 170 ORDER BY ${SYSTOLIC} DESC LIMIT 20`,
    160,
  ],
  [
    'AQL newest 20',
    'SELECT c/context/start_time/value FROM EHR e CONTAINS COMPOSITION c ORDER BY c/context/start_time/value DESC LIMIT 20',
    160,
  ],
  ['AQL aggregate', `SELECT COUNT(*), AVG(${SYSTOLIC}) ${READINGS}`, 24],
  ['AQL count of compositions', 'SELECT COUNT(*) FROM EHR e CONTAINS COMPOSITION c', 80],
];
const SETS: readonly (readonly [name: string, policies: readonly NamedPolicy[]])[] = [
  ['100 policies', accessPolicies(100)],
  ['100, one asks for a tag', [...accessPolicies(99), ASKS_TAGS]],
  ['100, one asks for content', [...accessPolicies(99), ASKS_CONTENT]],
  ['100, one asks for the name space', [...accessPolicies(99), ASKS_NAMESPACE]],
  ['10,000 policies', accessPolicies(10_000)],
];
const GETS = 1_600;
/** Blocks of each server: what differs between them is judged by the median. */
const ROUNDS = 20;
const HEAD = [
  ...['in turns', 'no record', 'without', 'with', 'ratio'],
  ...['processor without', 'with', 'ratio', 'against no record: clock, processor'],
];

/**
 * What policies of access cost: loading and deciding them, and requests with and without them in turns, on one database in one process; and
 * whether time tells what is hidden from what is not there. docs/access.md, design of costs: docs/performance.md#access
 */
export async function benchAccess(print: (line: string) => void): Promise<void> {
  await withAccessServers(async (servers) => {
    const records = await storeRecords(servers.admin);
    print(`${records.seenEhrs.length + records.hiddenEhrs.length} EHRs, of which every tenth is hidden`);
    for (const [name, policies] of SETS) await benchSet(name, policies, { servers, records }, print);
    await putPolicies([...accessPolicies(99), ASKS_TAGS]);
    await benchPairs(servers.enforced, records, print);
    await benchMany(servers, print);
  });
}

interface World {
  readonly servers: AccessServers;
  readonly records: AccessRecords;
}

async function benchSet(
  name: string,
  policies: readonly NamedPolicy[],
  { servers, records }: World,
  print: (line: string) => void,
): Promise<void> {
  await putPolicies(policies);
  const loaded = await took(() => livePolicies());
  print(`\n${name}: loaded in ${milliseconds(loaded)} ms; ${await decisions(records)}`);
  const rows: string[][] = [];
  // What differs between sets of a hundred is how a version is judged, which two works show.
  const all = works(records);
  const tried = name.startsWith('100,') ? [...all.slice(0, 1), ...all.slice(2, 3)] : all;
  for (const [work, count, send] of tried) {
    rows.push(await row(work, count, servers, send));
    print(rows.at(-1)?.join(' | ') ?? '');
  }
  print(textTable(HEAD, rows));
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The first decision for somebody, and further ones about stored objects. */
async function decisions({ seen, hidden }: AccessRecords): Promise<string> {
  const { set } = await livePolicies();
  const objects: AccessObject[] = [];
  for (const { ehrId, versionUid } of [...seen.slice(0, 100), ...hidden.slice(0, 100)])
    for (const version of await versionsById(ehrId, [versionUid]))
      objects.push(await policyVersion(version, {}, 'bench', false));
  const subject = { sub: 'ada', roles: [ASKS], scopes: [] };
  const first = await took(async () => Promise.resolve(set.rulesFor({ subject, action: 'delete' })));
  const times: number[] = [];
  for (let index = 0; index < 20_000; index += 1) {
    const start = performance.now();
    const object = objects[index % objects.length];
    if (object !== undefined) set.rulesFor({ subject, action: 'read' }).decide(object);
    times.push(performance.now() - start);
  }
  const [median, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  return `first decision for somebody ${milliseconds(first)} ms, then ${median.toFixed(4)} ms (p99 ${p99.toFixed(4)} ms)`;
}

type Work = readonly [name: string, count: number, send: (send: Send, index: number) => Promise<Answer>];

function works({ seen, seenEhrs }: AccessRecords): readonly Work[] {
  const at = <T>(list: readonly T[], index: number): T | undefined => list[(index * 7919) % list.length];
  return [
    [
      'GET composition',
      GETS,
      (send, index) => {
        const { ehrId = '', versionUid = '' } = at(seen, index) ?? {};
        return send('GET', `${V1}/ehr/${ehrId}/composition/${versionUid}`);
      },
    ],
    ['GET EHR', GETS, (send, index) => send('GET', `${V1}/ehr/${at(seenEhrs, index) ?? ''}`)],
    ...QUERIES.map(([name, q, count]): Work => [
      name,
      count,
      (send) => send('POST', `${V1}/query/aql`, JSON.stringify({ q })),
    ]),
  ];
}

async function row(
  name: string,
  count: number,
  { enforced, recorded, open }: AccessServers,
  send: Work[2],
): Promise<string[]> {
  const ok = (to: Send) => (index: number) => answered(send(to, index), 200);
  const rounds = { rounds: ROUNDS, block: Math.ceil(count / ROUNDS) };
  const [unrecorded, without, judged] = await inBlocks(rounds, [ok(open), ok(recorded), ok(enforced)]);
  if (unrecorded === undefined || without === undefined || judged === undefined)
    throw new TypeError('three works have three costs');
  return [
    name,
    milliseconds(unrecorded.clock),
    milliseconds(without.clock),
    milliseconds(judged.clock),
    (judged.clock / without.clock).toFixed(2),
    processorTime(without),
    processorTime(judged),
    processorRatio(judged, without).toFixed(2),
    `${(judged.clock / unrecorded.clock).toFixed(2)}, ${processorRatio(judged, unrecorded).toFixed(2)}`,
  ];
}

if (process.argv[1]?.endsWith('bench/access.ts') === true)
  await benchAccess((line) => void process.stdout.write(`${line}\n`));
