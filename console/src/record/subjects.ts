import type { Api } from '../api/api.js';

/** Where an EHR says whose it is, from `EHR e`. */
export const SUBJECT = 'e/ehr_status/subject/external_ref';

/** `P-0001 · hospital`. */
export function subjectText(id: string, namespace: string | null): string {
  return `${id} · ${namespace ?? ''}`;
}

/** The subjects of those of these EHRs that queries see. */
export async function subjectsOf(
  api: Pick<Api, 'rows'>,
  ehrIds: readonly string[],
): Promise<Map<string, string | null>> {
  if (ehrIds.length === 0) return new Map();
  const q = `SELECT e/ehr_id/value AS ehr, ${SUBJECT}/id/value AS subject, ${SUBJECT}/namespace AS namespace
FROM EHR e WHERE e/ehr_id/value MATCHES {${quoted(ehrIds)}}`;
  const rows = await api.rows<{
    readonly ehr: string;
    readonly subject: string | null;
    readonly namespace: string | null;
  }>(q);
  return new Map(
    rows.map(({ ehr, subject, namespace }) => [
      ehr,
      subject === null ? null : subjectText(subject, namespace),
    ]),
  );
}

/** Ids as AQL lists them. */
export function quoted(ids: readonly string[]): string {
  return ids.map((id) => `'${id.replaceAll("'", '')}'`).join(', ');
}
