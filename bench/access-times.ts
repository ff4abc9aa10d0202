import { randomUUID } from 'node:crypto';
import { textTable } from '../cli/output.js';
import type { AccessRecords } from './access-records.js';
import { V1 } from './access-servers.js';
import { inTurns, mediansOf, type InTurns } from './in-turns.js';
import type { Answer, Send } from './load-client.js';
import { milliseconds } from './measure.js';

const PAIRS = 2_000;
/** Times of what is hidden and of what is not there may differ by so much. */
const AIM = 0.05;

/** One request for something hidden, and the same for what is not there. */
interface Pair {
  readonly name: string;
  readonly hidden: (index: number) => Promise<Answer>;
  readonly absent: (index: number) => Promise<Answer>;
}

/**
 * Whether time tells what is hidden from what is not there: the medians of 2,000 interleaved pairs of each operation. Ids that are not there
 * are new ones each time; hidden ones come again and again, as somebody who measures would ask.
 * @throws Error where an answer of a pair has another status or length than the other one
 */
export async function benchPairs(
  send: Send,
  records: AccessRecords,
  print: (line: string) => void,
): Promise<void> {
  print(`\n${PAIRS} pairs, one hidden and one that is not there, in turns`);
  const rows: string[][] = [];
  for (const pair of pairs(send, records)) {
    rows.push(await measured(pair));
    print(rows.at(-1)?.join(' | ') ?? '');
  }
  print(
    textTable(
      ['operation', 'status', 'hidden ms', 'absent ms', 'differ by', 'first half', 'second half'],
      rows,
    ),
  );
}

async function measured({ name, hidden, absent }: Pair): Promise<string[]> {
  const [one, other] = [await hidden(0), await absent(0)];
  if (one.status !== other.status || one.text.length !== other.text.length)
    throw new Error(`${name}: ${one.status} ${one.text} is not ${other.status} ${other.text}`);
  const times = await inTurns(PAIRS, hidden, absent);
  const [first, second] = mediansOf(times);
  const differences = [times, part(times, 0), part(times, 1)].map((each) => {
    const [seen, missing] = mediansOf(each);
    return percent(seen / missing - 1);
  });
  return [name, `${one.status}`, milliseconds(first), milliseconds(second), ...differences];
}

/** One half of the pairs: what the other one does not repeat is the machine. */
function part({ first, second }: InTurns, half: number): InTurns {
  const of = (times: readonly number[]): readonly number[] =>
    times.slice((half * times.length) / 2, ((half + 1) * times.length) / 2);
  return { first: of(first), second: of(second) };
}

function percent(share: number): string {
  const text = `${share < 0 ? '−' : '+'}${(Math.abs(share) * 100).toFixed(1)} %`;
  return Math.abs(share) < AIM ? text : `**${text}**`;
}

function pairs(send: Send, { hiddenEhrs, hiddenSubjects, hidden, beyond }: AccessRecords): Pair[] {
  const at = <T>(list: readonly T[], index: number): T => list[(index * 31) % list.length] as T;
  const get = (path: string): Promise<Answer> => send('GET', `${V1}${path}`);
  const query = (q: string): Promise<Answer> => send('POST', `${V1}/query/aql`, JSON.stringify({ q }));
  const remove = (ehrId: string, uid: string): Promise<Answer> =>
    send('DELETE', `${V1}/ehr/${ehrId}/composition/${uid}`);
  const version = (uid: string): string => uid.replace(/^[^:]+/, () => randomUUID());
  const inEhr = (name: string, path: (uid: string) => string): Pair => ({
    name,
    hidden: (index) => {
      const { ehrId, versionUid } = at(hidden, index);
      return get(`/ehr/${ehrId}${path(versionUid)}`);
    },
    absent: (index) => {
      const { ehrId, versionUid } = at(hidden, index);
      return get(`/ehr/${ehrId}${path(version(versionUid))}`);
    },
  });
  const ofEhr = (name: string, ask: (ehrId: string) => Promise<Answer>): Pair => ({
    name,
    hidden: (index) => ask(at(hiddenEhrs, index)),
    absent: () => ask(randomUUID()),
  });
  const containerOf = (uid: string): string => uid.split('::')[0] ?? '';
  const subject = (id: string): Promise<Answer> => get(`/ehr?subject_id=${id}&subject_namespace=patients`);
  const uids = 'FROM EHR e CONTAINS COMPOSITION c';
  return [
    inEhr('GET composition, version', (uid) => `/composition/${uid}`),
    inEhr('GET composition, latest', (uid) => `/composition/${containerOf(uid)}`),
    inEhr('GET VERSION', (uid) => `/versioned_composition/${containerOf(uid)}/version/${uid}`),
    inEhr('GET revision history', (uid) => `/versioned_composition/${containerOf(uid)}/revision_history`),
    {
      name: 'GET CONTRIBUTION',
      hidden: (index) =>
        get(`/ehr/${at(hidden, index).ehrId}/contribution/${at(hidden, index).contributionUid}`),
      absent: (index) => get(`/ehr/${at(hidden, index).ehrId}/contribution/${randomUUID()}`),
    },
    ofEhr('GET EHR', (ehrId) => get(`/ehr/${ehrId}`)),
    {
      name: 'GET composition of an EHR',
      hidden: (index) => get(`/ehr/${at(beyond, index).ehrId}/composition/${at(beyond, index).versionUid}`),
      absent: (index) => get(`/ehr/${randomUUID()}/composition/${at(beyond, index).versionUid}`),
    },
    ofEhr('GET EHR_STATUS', (ehrId) => get(`/ehr/${ehrId}/ehr_status`)),
    {
      name: 'GET EHR of a subject',
      hidden: (index) => subject(at(hiddenSubjects, index)),
      absent: (index) => subject(`N-${index % 100}`),
    },
    ofEhr('list of EHRs, by id', (id) => send('GET', `/rest/ehrs?identifier=${id}`)),
    ofEhr('AQL with ehr_id', (id) =>
      query(`SELECT c/uid/value FROM EHR e[ehr_id/value='${id}'] CONTAINS COMPOSITION c`),
    ),
    {
      name: 'AQL, one composition',
      hidden: (index) =>
        query(`SELECT c/name/value ${uids} WHERE c/uid/value = '${at(hidden, index).versionUid}'`),
      absent: (index) =>
        query(`SELECT c/name/value ${uids} WHERE c/uid/value = '${version(at(hidden, index).versionUid)}'`),
    },
    {
      name: 'DELETE composition',
      hidden: (index) => remove(at(hidden, index).ehrId, at(hidden, index).versionUid),
      absent: (index) => remove(at(hidden, index).ehrId, version(at(hidden, index).versionUid)),
    },
  ];
}
