import { randomUUID } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import type { AuditSubject } from '../../models/audit.js';
import { ehrById } from '../../models/ehr.js';
import type { LeafIndex } from '../../aql/index/document.js';
import type { EhrPart } from '../interchange/part.js';
import { EhrRestore } from '../interchange/restore.js';
import { eraseEhr } from '../erase.js';
import { contributionsOf, createdAt, restoredObjects, type ExtractJudging } from './part.js';
import type { ReadExtract } from './read.js';

/** How an EXTRACT is written. */
export interface ExtractHow extends ExtractJudging {
  /** System of an EHR whose EXTRACT names none. */
  readonly systemId: string;
  readonly leafIndex: LeafIndex;
  /** VERSIONs of one transaction; absent: as many as any request has room for. */
  readonly versionsAtOnce?: number;
}

/** What came of an EXTRACT. */
export interface MadeOfExtract {
  readonly ehrId: string;
  /** Of the import, by which it is taken back. */
  readonly batch: string;
  readonly contributions: number;
  readonly versions: number;
}

/**
 * Makes an EHR of an EXTRACT, its VERSIONs as they were made, all or nothing. docs/spec/interchange.md#extract
 * @throws invalid for what contradicts itself, conflict when something of it is here, unprocessable without a template
 */
export async function makeEhr(extract: ReadExtract, how: ExtractHow): Promise<MadeOfExtract> {
  const { ehrId, systemId } = extract;
  if ((await ehrById(ehrId)) !== null) throw new CdrError('conflict', `EHR with id ${ehrId} already exists`);
  const objects = await restoredObjects(extract, ehrId, how);
  const versions = objects.flatMap((object) => object.versions);
  const contributions = contributionsOf(ehrId, versions);
  const ehr = { _id: ehrId, system_id: systemId ?? how.systemId, time_created: createdAt(objects) };
  const batch = await restorePart({ ehrId, ehr, tombstones: [], contributions, versions, tags: [] }, how);
  return { ehrId, batch, contributions: contributions.length, versions: versions.length };
}

/** VERSIONs of one transaction; of more, which no request has room for, several write an EHR. */
const VERSIONS_AT_ONCE = 5_000;

/**
 * Writes a part with the audit record of the request, all or nothing: of several transactions those before one that fails are taken
 * back. Gives the import that it is. @throws what it is refused for
 */
export async function restorePart(
  part: EhrPart,
  { leafIndex, work, compile, versionsAtOnce = VERSIONS_AT_ONCE }: ExtractHow,
): Promise<string> {
  const batch = randomUUID();
  const audited: AuditSubject = { ehr_id: part.ehrId, target: batch };
  const optional = { ...(work !== null && { work }), ...(compile !== undefined && { compile }) };
  const restore = new EhrRestore({ batch, leafIndex, audited, ...optional });
  for (const [index, step] of stepsOf(part, versionsAtOnce).entries()) {
    const [outcome] = await restore.restore([step]);
    if (!(outcome instanceof CdrError)) continue;
    if (index > 0) await eraseEhr(part.ehrId, { cascade: true });
    throw outcome;
  }
  return batch;
}

/** The EHR with its EHR_STATUS comes first, each CONTRIBUTION with the first of its VERSIONs. */
function stepsOf(part: EhrPart, versionsAtOnce: number): EhrPart[] {
  if (part.ehr === null || part.versions.length <= versionsAtOnce) return [part];
  const statuses = part.versions.filter(({ doc }) => doc.type === 'EHR_STATUS').length;
  const written = new Set<string>();
  const steps: EhrPart[] = [];
  for (let start = 0; start < part.versions.length;) {
    const end = start + Math.max(versionsAtOnce, start === 0 ? statuses : 0);
    const versions = part.versions.slice(start, end);
    const named = new Set(versions.map(({ doc }) => doc.contribution_uid));
    const contributions = part.contributions.filter(({ _id }) => named.has(_id) && !written.has(_id));
    for (const { _id } of contributions) written.add(_id);
    steps.push({ ...part, ehr: start === 0 ? part.ehr : null, versions, contributions });
    start = end;
  }
  return steps;
}
