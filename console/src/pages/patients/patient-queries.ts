import type { ListedEhr } from '@everchart/client';
import type { Api } from '../../api/api.js';
import { quoted, SUBJECT, subjectsOf, subjectText } from '../../record/subjects.js';

/** One patient in a list. */
export interface Patient {
  readonly ehrId: string;
  /** `EHR_STATUS.subject.external_ref`; null: PARTY_SELF alone. */
  readonly subject: string | null;
  readonly namespace: string | null;
  readonly created: string;
  readonly isModifiable: boolean;
  readonly isQueryable: boolean;
  /** What was searched for is the whole of its id, its subject or an identifier. */
  readonly isNamed: boolean;
}

/** Which patients are wanted. */
export interface PatientSearch {
  /** A piece of a subject or EHR id; empty: all. */
  readonly find: string;
  /** What follows `EHR e` in FROM, and perhaps WHERE; empty: nothing. */
  readonly where?: string;
  readonly offset: number;
  readonly fetch: number;
}

const COLUMNS = `e/ehr_id/value AS ehr, ${SUBJECT}/id/value AS subject, ${SUBJECT}/namespace AS namespace, e/time_created/value AS created, e/ehr_status/is_modifiable AS modifiable`;

/** Longest text that may be an identifier, UTF-16 units; the server takes 200 bytes. */
const LONGEST_IDENTIFIER = 60;

/** One page of patients, newest first; above the first page, beyond `fetch`, those that the text names. */
export async function findPatients(api: Api, search: PatientSearch): Promise<Patient[]> {
  const isName = search.offset === 0 && (search.where ?? '') === '' && search.find !== '';
  const [named, rows] = await Promise.all([
    isName && search.find.length <= LONGEST_IDENTIFIER ? api.ehrsNamed(search.find) : [],
    queryPatients(api, search),
  ]);
  const known = new Set(named.map(({ ehr_id: ehrId }) => ehrId));
  const others = rows.filter(({ ehrId }) => !known.has(ehrId));
  return [...named.map((ehr) => ({ ...listedPatient(ehr), isNamed: true })), ...others];
}

/** A patient as a list of EHRs has it. */
export function listedPatient(ehr: ListedEhr): Patient {
  const { ehr_id: ehrId, time_created: created, subject, is_modifiable, is_queryable } = ehr;
  const flags = {
    isModifiable: is_modifiable !== false,
    isQueryable: is_queryable !== false,
    isNamed: false,
  };
  return { ehrId, subject: subject?.id ?? null, namespace: subject?.namespace ?? null, created, ...flags };
}

async function queryPatients(api: Api, search: PatientSearch): Promise<Patient[]> {
  const { find, offset, fetch, where = '' } = search;
  const { from, condition } = containment(where);
  const conditions = [
    ...(find === '' ? [] : [`(e/ehr_id/value LIKE $find OR ${SUBJECT}/id/value LIKE $find)`]),
    ...(condition === '' ? [] : [`(${condition})`]),
  ];
  const q = [
    `SELECT ${from === '' ? '' : 'DISTINCT '}${COLUMNS}`,
    `FROM EHR e ${from}`,
    conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`,
    'ORDER BY created DESC',
  ].join('\n');
  const parameters: Readonly<Record<string, string>> = find === '' ? {} : { find: `*${likeText(find)}*` };
  const rows = await api.rows<PatientRow>(q, { parameters, offset, fetch });
  return rows.map(patientOf);
}

/** What is known of some patients by their documents. */
export interface PatientActivity {
  readonly compositions: number;
  readonly last: string | null;
}

/** Number and time of the newest document of each of these EHRs. */
export async function patientActivity(
  api: Api,
  ehrIds: readonly string[],
): Promise<Map<string, PatientActivity>> {
  if (ehrIds.length === 0) return new Map();
  const q = `SELECT e/ehr_id/value AS ehr, COUNT(c/uid/value) AS compositions, MAX(c/context/start_time/value) AS last
FROM EHR e CONTAINS COMPOSITION c
WHERE e/ehr_id/value MATCHES {${quoted(ehrIds)}}`;
  const rows = await api.rows<{ ehr: string; compositions: number; last: string | null }>(q);
  return new Map(rows.map(({ ehr, compositions, last }) => [ehr, { compositions, last }]));
}

/** Of whom an EHR is and how much it holds. */
export interface PatientGist {
  /** `P-0001 · hospital`; null: of nobody yet. */
  readonly subject: string | null;
  readonly compositions: number;
}

/** What is known of these EHRs, those that queries leave out too; unknown ones are missing. */
export async function patientGists(api: Api, ehrIds: readonly string[]): Promise<Map<string, PatientGist>> {
  const [subjects, activity] = await Promise.all([subjectsOf(api, ehrIds), patientActivity(api, ehrIds)]);
  const gists = new Map<string, PatientGist>();
  for (const [ehrId, subject] of subjects)
    gists.set(ehrId, { subject, compositions: activity.get(ehrId)?.compositions ?? 0 });
  const hidden = ehrIds.filter((ehrId) => !gists.has(ehrId));
  for (const gist of await Promise.all(hidden.map((ehrId) => hiddenGist(api, ehrId)))) gists.set(...gist);
  return gists;
}

/** Of an EHR that a query sees only where it is fixed to it. */
async function hiddenGist(api: Api, ehrId: string): Promise<[string, PatientGist]> {
  const q = 'SELECT COUNT(c/uid/value) AS compositions FROM EHR e CONTAINS COMPOSITION c';
  const [named, counted] = await Promise.all([
    api.ehrsNamed(ehrId),
    api.rows<{ compositions: number }>(q, { ehrId }),
  ]);
  const subject = named.find(({ ehr_id: id }) => id === ehrId)?.subject;
  return [
    ehrId,
    {
      subject: subject === undefined ? null : subjectText(subject.id, subject.namespace),
      compositions: counted[0]?.compositions ?? 0,
    },
  ];
}

interface PatientRow {
  readonly ehr: string;
  readonly subject: string | null;
  readonly namespace: string | null;
  readonly created: string | null;
  readonly modifiable: boolean | null;
}

function patientOf({ ehr, subject, namespace, created, modifiable }: PatientRow): Patient {
  const flags = { isModifiable: modifiable !== false, isQueryable: true, isNamed: false };
  return { ehrId: ehr, subject, namespace, created: created ?? '', ...flags };
}

/** LIKE without wildcards. */
function likeText(text: string): string {
  return text.replaceAll(/[\\*?]/g, String.raw`\$&`);
}

/** `CONTAINS … WHERE …` in its two parts; both may be missing. */
function containment(text: string): { readonly from: string; readonly condition: string } {
  const [, from = '', condition = ''] = /^([\s\S]*?)(?:\bWHERE\b([\s\S]*))?$/i.exec(text.trim()) ?? [];
  return { from: from.trim(), condition: condition.trim() };
}
