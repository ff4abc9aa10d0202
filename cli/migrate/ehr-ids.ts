import { formatUtc } from '../../openehr/base/iso8601.js';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import type { OldServer } from './old-server.js';

/**
 * Ids of the EHRs of the old server, sorted. `since`: of those that were made, or got a COMPOSITION or EHR_STATUS, from then on; what
 * was only deleted, and a directory, no query finds. @throws AnswerError
 */
export async function oldEhrIds(server: OldServer, since: Date | null): Promise<string[]> {
  const found = new Set<string>();
  for (const q of since === null ? [EVERY] : changedSince(since))
    for await (const cell of server.firstCells(q)) {
      const ehrId = parseEhrId(cell);
      if (ehrId !== null) found.add(ehrId);
    }
  return [...found].sort();
}

const COLUMN = 'e/ehr_id/value AS ehr_id';
const ORDER = 'ORDER BY e/ehr_id/value';
const EVERY = `SELECT ${COLUMN} FROM EHR e ${ORDER}`;

function changedSince(since: Date): string[] {
  const time = formatUtc(since);
  return [
    `SELECT ${COLUMN} FROM EHR e WHERE e/time_created/value >= '${time}' ${ORDER}`,
    ...['COMPOSITION', 'EHR_STATUS'].map(
      (type) =>
        `SELECT ${COLUMN} FROM EHR e CONTAINS VERSION v[LATEST_VERSION] CONTAINS ${type} o WHERE v/commit_audit/time_committed/value >= '${time}' ${ORDER}`,
    ),
  ];
}
