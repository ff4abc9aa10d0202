import { randomUUID } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import type { AuditSubject } from '../../models/audit.js';
import { ehrById } from '../../models/ehr.js';
import type { LeafIndex } from '../../aql/index/document.js';
import type { EhrPart } from '../interchange/part.js';
import { EhrRestore } from '../interchange/restore.js';
import { contributionsOf, createdAt, restoredObjects, type ExtractJudging } from './part.js';
import type { ReadExtract } from './read.js';

/** How an EXTRACT is written. */
export interface ExtractHow extends ExtractJudging {
  /** System of an EHR whose EXTRACT names none. */
  readonly systemId: string;
  readonly leafIndex: LeafIndex;
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

/** Writes a part with the audit record of the request, in one transaction. Gives the import that it is. @throws what it is refused for */
export async function restorePart(part: EhrPart, { leafIndex, work, compile }: ExtractHow): Promise<string> {
  const batch = randomUUID();
  const audited: AuditSubject = { ehr_id: part.ehrId, target: batch };
  const [outcome] = await new EhrRestore({ batch, leafIndex, work, compile, audited }).restore([part]);
  if (outcome instanceof CdrError) throw outcome;
  return batch;
}
