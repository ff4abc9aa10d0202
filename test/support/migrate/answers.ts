import { createHash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import request from 'supertest';
import type { JsonObject } from '../../../openehr/base/json.js';
import { textAt } from '../../../openehr/rm/access.js';
import { V1 } from '../resources.js';

/** What is asked of whole stores, as they are and as they were. */
const QUERIES = [
  'SELECT e/ehr_id/value, e/time_created/value FROM EHR e ORDER BY e/ehr_id/value',
  'SELECT e/ehr_id/value, c/uid/value, c/name/value FROM EHR e CONTAINS COMPOSITION c ORDER BY c/uid/value',
  'SELECT COUNT(c/uid/value), MAX(c/uid/value) FROM EHR e CONTAINS COMPOSITION c CONTAINS EVALUATION v',
  'SELECT v/uid/value, v/commit_audit/time_committed/value, v/commit_audit/committer/name, v/contribution/id/value FROM EHR e CONTAINS VERSION v[ALL_VERSIONS] CONTAINS COMPOSITION c ORDER BY v/uid/value',
  'SELECT s/uid/value, s/subject/external_ref/id/value FROM EHR e CONTAINS EHR_STATUS s ORDER BY s/uid/value',
  'SELECT e/ehr_id/value, f/name/value FROM EHR e CONTAINS FOLDER f ORDER BY f/uid/value',
];
/** Moments of which queries are asked. */
const MOMENTS = 12;

/**
 * Everything that time matters to, of the EHRs in an export: what each object was when each of its versions came and just before, histories, VERSIONs and
 * CONTRIBUTIONs by their uids, and rows of queries as they are and `as_of` some of these moments.
 */
export function questionsOf(lines: readonly string[]): string[] {
  const all = lines.map((line) => JSON.parse(line) as JsonObject);
  const times = all.filter(({ kind }) => kind === 'version').map(timeOf);
  const moments = times.toSorted().filter((_, index) => index % Math.ceil(times.length / MOMENTS) === 0);
  const queries = QUERIES.flatMap((q) =>
    ['', ...moments.map((ms) => `&as_of=${new Date(ms).toISOString()}`)].map(
      (asOf) => `${V1}/query/aql?q=${encodeURIComponent(q)}${asOf}`,
    ),
  );
  return [...new Set([...all.flatMap(questionsOfLine), ...queries])];
}

const timeOf = (line: JsonObject): number =>
  Date.parse(textAt(line, 'version', 'commit_audit', 'time_committed', 'value') ?? '');

function questionsOfLine(line: JsonObject): string[] {
  const ehr = `${V1}/ehr/${textAt(line, 'ehr_id') ?? textAt(line, 'ehr', 'ehr_id', 'value') ?? ''}`;
  if (line.kind === 'ehr') return [ehr];
  if (line.kind === 'contribution')
    return [`${ehr}/contribution/${textAt(line, 'contribution', 'uid', 'value') ?? ''}`];
  if (line.kind !== 'version') return [];
  const { latest, history } = pathsOf(
    textAt(line, 'type') ?? '',
    textAt(line, 'version', 'uid', 'value') ?? '',
  );
  const moments = [timeOf(line), timeOf(line) - 1].map((ms) => new Date(ms).toISOString());
  return [
    ...moments.map((time) => `${ehr}/${latest}?version_at_time=${time}`),
    ...history.map((path) => `${ehr}/${path}`),
  ];
}

function pathsOf(
  type: string,
  uid: string,
): { readonly latest: string; readonly history: readonly string[] } {
  const [id = ''] = uid.split('::');
  if (type === 'FOLDER') return { latest: 'directory', history: [`directory/${uid}`] };
  const [latest, versioned] =
    type === 'EHR_STATUS'
      ? ['ehr_status', 'versioned_ehr_status']
      : [`composition/${id}`, `versioned_composition/${id}`];
  return { latest, history: [`${versioned}/revision_history`, `${versioned}/version/${uid}`] };
}

/** What a server answers to each question: the status, and what is there. */
export async function answersTo(app: RequestListener, questions: readonly string[]): Promise<string[]> {
  const answers: string[] = [];
  for (const question of questions) {
    const { status, body, text } = await request(app).get(question);
    const rows = question.includes('/query/aql') && status === 200 ? (body as JsonObject).rows : undefined;
    const said = rows === undefined ? text : JSON.stringify(rows);
    answers.push(`${question} ${status} ${status === 200 ? said : ''}`);
  }
  return answers;
}

/** One text for all answers. */
export function digestOf(answers: readonly string[]): string {
  return createHash('sha256').update(answers.join('\n')).digest('hex');
}
