/** Lines of an interchange file as they are written. docs/spec/interchange.md#lines */
import { formatUtc } from '../../openehr/base/iso8601.js';
import {
  contributionResource,
  hierObjectId,
  versionResource,
  resourceText,
} from '../../change/commit/resource.js';
import { serverTime } from '../../change/commit/audit.js';
import { formatVersion } from '../../openehr/base/semver.js';
import { storedText, type StoredDocument } from '../../models/access/documents.js';
import type { AuditDoc } from '../../models/audit.js';
import type { ContributionDoc } from '../../models/contribution.js';
import type { OwnDocument } from '../../models/cross-collection/interchange.js';
import type { StoredQueryDoc } from '../../models/definition/stored-query.js';
import type { TemplateDoc } from '../../models/definition/template.js';
import type { EhrDoc } from '../../models/ehr.js';
import type { ItemTagDoc } from '../../models/item-tag.js';
import type { VersionDoc } from '../../models/version.js';

/** How a file says what it is. */
export const FORMAT = 'everchart-interchange';
/** Of the form; a release reads its own and lower ones. */
export const FORMAT_VERSION = 1;

/** The first line. */
export const HEADER_LINE = JSON.stringify({ kind: 'header', format: FORMAT, version: FORMAT_VERSION });

/** A revision of an operational template, as it was uploaded; `after`: digest of the one before it, null when it is the first. */
export function templateLine(
  template: Pick<TemplateDoc, '_id' | 'created_timestamp' | 'opt' | 'revision_name' | 'uploaded_by'> &
    Partial<Pick<TemplateDoc, 'revision' | 'aliases'>>,
  after: string | null,
): string {
  const { _id, created_timestamp: created, revision, revision_name, uploaded_by, aliases, opt } = template;
  const created_timestamp = formatUtc(created);
  const further = { revision, revision_name, uploaded_by, ...(after !== null && { after }), aliases };
  return JSON.stringify({ kind: 'template', template_id: _id, created_timestamp, ...further, opt });
}

/** One version of a stored query. */
export function storedQueryLine(query: StoredQueryDoc): string {
  const { name, q, saved } = query;
  const version = formatVersion(query);
  return JSON.stringify({ kind: 'stored_query', name, version, saved: formatUtc(saved), q });
}

/** A document that travels as it is stored; `ehrId`: of the EHR that it goes with, null when with none. */
export function documentLine({ collection, document }: OwnDocument, ehrId: string | null): string {
  const head = ehrId === null ? '{"kind":"document"' : beginning('document', ehrId);
  return `${head},"collection":"${collection}","document":${storedText(document)}}`;
}

/** An active EHR; what follows up to the next one belongs to it. */
export function ehrLine(doc: EhrDoc): string {
  const ehr = {
    _type: 'EHR',
    system_id: hierObjectId(doc.system_id),
    ehr_id: hierObjectId(doc._id),
    time_created: serverTime(doc.time_created),
  };
  const marks = {
    ...(doc.shares_contributions === true && { shares_contributions: true }),
    ...(doc.subject_dropped === true && doc.subject === undefined && { subject_dropped: true }),
  };
  return JSON.stringify({ kind: 'ehr', ehr, ...marks });
}

/** An EHR that was merged, and in the end is part of `ehrId`, with the containers whose ids stay taken. */
export function tombstoneLine(ehrId: string, ehr: EhrDoc, containers: readonly StoredDocument[]): string {
  const kept = containers.map(storedText).join(',');
  return `${beginning('tombstone', ehrId)},"document":${storedText(ehr)},"containers":[${kept}]}`;
}

/** A CONTRIBUTION with references to its VERSIONs. */
export function contributionLine(contribution: ContributionDoc): string {
  const { ehr_id: ehrId, authenticated } = contribution;
  const identity = authenticated === undefined ? '' : `,"authenticated":${JSON.stringify(authenticated)}`;
  const text = resourceText(contributionResource(contribution, null));
  return `${beginning('contribution', ehrId)},"contribution":${text}${identity}}`;
}

/** A VERSION with its content. */
export function versionLine(version: VersionDoc): string {
  const { ehr_id: ehrId, type, template_id, template_digest, validation_findings: findings } = version;
  const further = {
    ...(template_id !== undefined && { template_id }),
    ...(template_digest !== undefined && { template_digest }),
    ...(findings !== undefined && { validation_findings: findings }),
  };
  const more = JSON.stringify({ type, ...further }).slice(1, -1);
  const text = resourceText(versionResource(version));
  return `${beginning('version', ehrId)},${more},"version":${text}}`;
}

/** An item tag. */
export function itemTagLine({ _id, owner_id: ehrId, ...tag }: ItemTagDoc): string {
  const { target, target_type, target_version, key, value, target_path } = tag;
  const item_tag = { id: _id, target, target_type, target_version, key, value, target_path };
  return `${beginning('item_tag', ehrId)},"item_tag":${JSON.stringify(item_tag)}}`;
}

/** A record of the audit. */
export function auditLine(record: AuditDoc): string {
  return `{"kind":"audit","record":${storedText(record)}}`;
}

/** The last line. `lines`: those before it; `sha256`: of their bytes with their ends, in hexadecimal. */
export function endLine(lines: number, sha256: string): string {
  return JSON.stringify({ kind: 'end', lines, sha256 });
}

function beginning(
  kind: 'document' | 'tombstone' | 'contribution' | 'version' | 'item_tag',
  ehrId: string,
): string {
  return JSON.stringify({ kind, ehr_id: ehrId }).slice(0, -1);
}
