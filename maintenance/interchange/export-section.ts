import type { RootType } from '../../openehr/rm/root-type.js';
import {
  contributionsNamed,
  endedObjects,
  exportedContributions,
  exportedMarks,
  exportedTags,
  exportedTemplate,
  historyOf,
  mergesOf,
  objectIds,
  tombstonesOf,
} from '../../models/cross-collection/interchange.js';
import { exportedVersions } from '../../models/cross-collection/interchange-versions.js';
import type { EhrDoc } from '../../models/ehr.js';
import type { VersionDoc } from '../../models/version.js';
import type { Session } from '../../models/access/write.js';
import { revisionKey, templateKey, templateLines } from './export-template.js';
import {
  contributionLine,
  documentLine,
  ehrLine,
  itemTagLine,
  tombstoneLine,
  versionLine,
} from './line-text.js';

/** The EHR gets its flags and its subject, then what refers to its COMPOSITIONs, then those. */
const ORDER: readonly RootType[] = ['EHR_STATUS', 'FOLDER', 'COMPOSITION'];

/** What the lines of one EHR share with those of others. */
export interface Section {
  /** Templates and documents of EHRs before it, by collection and id. */
  readonly known: ReadonlySet<string>;
  /** Gets those of this one. */
  readonly written: Set<string>;
  /** Gets the CONTRIBUTIONs of its versions that it does not have itself. */
  readonly strangers: Set<string>;
}

/** Whether something is to be written now: the first time that it is met. */
function isFirst({ known, written }: Section, key: string): boolean {
  if (known.has(key) || written.has(key)) return false;
  written.add(key);
  return true;
}

/** All lines of an active EHR, without line ends. docs/spec/interchange.md#order */
export async function* sectionLines(session: Session, ehr: EhrDoc, section: Section): AsyncGenerator<string> {
  const tombstones = await tombstonesOf(session, ehr._id);
  const merged = tombstones.map(({ _id }) => _id);
  // Before the EHR: it is never there without them.
  for await (const document of exportedMarks(session, [ehr._id, ...merged]))
    yield documentLine({ collection: 'ehr_marks', document }, null);
  yield ehrLine(ehr);
  for (const tombstone of tombstones)
    yield tombstoneLine(ehr._id, tombstone, await endedObjects(session, tombstone._id));
  if (merged.length > 0) for await (const own of mergesOf(session, merged)) yield documentLine(own, ehr._id);
  for await (const own of historyOf(session, [ehr._id, ...merged]))
    if (isFirst(section, `${own.collection} ${own.document._id}`)) yield documentLine(own, ehr._id);
  yield* contentLines(session, ehr._id, section);
  for await (const tag of exportedTags(session, ehr._id)) yield itemTagLine(tag);
}

async function* contentLines(session: Session, ehrId: string, section: Section): AsyncGenerator<string> {
  const written = new Set<string>();
  for (const type of ORDER)
    for await (const ids of objectIds(session, ehrId, type))
      for await (const versions of exportedVersions(session, ehrId, ids))
        yield* versionLines(session, versions, { ehrId, section, written });
  // Of what was erased, and of attestations.
  for await (const contribution of exportedContributions(session, ehrId))
    if (!written.has(contribution._id)) yield contributionLine(contribution);
}

/** What the versions of one EHR share. */
interface Written {
  readonly ehrId: string;
  readonly section: Section;
  /** CONTRIBUTIONs that were written. */
  readonly written: Set<string>;
}

/** Versions, each behind its CONTRIBUTION and its template where these were not written before. */
async function* versionLines(
  session: Session,
  versions: readonly VersionDoc[],
  { ehrId, section, written }: Written,
): AsyncGenerator<string> {
  const named = new Set(versions.map((version) => version.contribution_uid));
  const missing = [...named].filter((uid) => !written.has(uid));
  const found = await contributionsNamed(session, ehrId, missing);
  const contributions = new Map(found.map((contribution) => [contribution._id, contribution]));
  for (const uid of missing) if (!contributions.has(uid)) section.strangers.add(uid);
  for (const version of versions) {
    const contribution = contributions.get(version.contribution_uid);
    if (contribution !== undefined && !written.has(contribution._id)) {
      written.add(contribution._id);
      yield contributionLine(contribution);
    }
    yield* templateOf(session, version, section);
    yield versionLine(version);
  }
}

async function* templateOf(
  session: Session,
  { template_id: id, template_digest: digest }: VersionDoc,
  section: Section,
): AsyncGenerator<string> {
  if (id === undefined) return;
  const key = digest === undefined ? templateKey(id) : revisionKey(id, digest);
  if (section.known.has(key) || section.written.has(key)) return;
  const template = await exportedTemplate(session, id);
  if (template === null) return;
  yield* templateLines(session, template, (each) => isFirst(section, each));
}
