import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { exactVersion, parseVersionPrefix } from '../../openehr/base/semver.js';
import { parseJson } from '../../openehr/format/canonical-json.js';
import { objectsAt, textAt } from '../../openehr/rm/access.js';
import type { AcceptedFinding } from '../../openehr/rm/lenient.js';
import { isStoredAlias, type StoredAlias } from '../../openehr/template/upgrade/alias.js';
import { isRequestIdentity } from '../../change/commit/request-identity.js';
import type { AuditDoc } from '../../models/audit.js';
import type { ContributionDoc, RequestIdentity } from '../../models/contribution.js';
import {
  OWN_COLLECTIONS,
  type OwnCollection,
  type OwnDocument,
} from '../../models/cross-collection/interchange.js';
import { storedQueryDoc, type StoredQueryDoc } from '../../models/definition/stored-query.js';
import type { TemplateDoc } from '../../models/definition/template.js';
import type { EhrDoc } from '../../models/ehr.js';
import type { ItemTagDoc } from '../../models/item-tag.js';
import type { VersionDoc } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import {
  committedAt,
  documentOf,
  ehrIdOf,
  instantOf,
  malformed,
  numberOf,
  objectOf,
  required,
  rootTypeOf,
  textOf,
  timeOf,
  uuidOf,
} from './line-parts.js';
import { tagIn, tagSetIn, type TagSet } from './line-tags.js';
import { FORMAT, FORMAT_VERSION } from './line-text.js';
import { versionIn, type RestoredVersion } from './version-in.js';

/** What is said of an EHR beside its content. */
export type RestoredEhr = Pick<
  EhrDoc,
  '_id' | 'system_id' | 'time_created' | 'shares_contributions' | 'subject_dropped'
>;

/** A revision of a template. */
export interface RestoredTemplate extends Pick<
  TemplateDoc,
  '_id' | 'opt' | 'created_timestamp' | 'revision_name' | 'uploaded_by'
> {
  /** Absent: of one that is not the newest. */
  readonly revision?: number;
  /** Digest of the revision before it; null: it is the first. */
  readonly after: string | null;
  /** What upgrades have moved in the template; of the newest. */
  readonly aliases: readonly StoredAlias[];
}

/** An EHR that was merged away, with the containers whose ids stay taken. */
interface MergedEhr {
  readonly ehr: EhrDoc;
  readonly containers: readonly VersionedObjectDoc[];
}

/** One line that was read, by its kind. docs/spec/interchange.md#lines */
export type InterchangeLine =
  | { readonly kind: 'header' }
  | {
      readonly kind: 'template';
      readonly template: RestoredTemplate;
    }
  | { readonly kind: 'stored_query'; readonly query: StoredQueryDoc }
  | ({ readonly kind: 'document'; readonly ehrId: string | null } & OwnDocument)
  | { readonly kind: 'ehr'; readonly ehr: RestoredEhr }
  | ({ readonly kind: 'tombstone'; readonly ehrId: string } & MergedEhr)
  | { readonly kind: 'contribution'; readonly contribution: ContributionDoc }
  | { readonly kind: 'version'; readonly version: RestoredVersion }
  | { readonly kind: 'item_tag'; readonly tag: ItemTagDoc }
  | { readonly kind: 'item_tags'; readonly set: TagSet }
  | { readonly kind: 'audit'; readonly record: AuditDoc }
  | { readonly kind: 'end'; readonly lines: number; readonly sha256: string };

type Kind = InterchangeLine['kind'];

/** The envelope of a version adds three levels to its content. */
const MAX_DEPTH = 160;

const READERS: { readonly [K in Kind]: (line: JsonObject) => Extract<InterchangeLine, { kind: K }> } = {
  header: readHeader,
  template: readTemplate,
  stored_query: readStoredQuery,
  document: readDocument,
  ehr: readEhr,
  tombstone: readTombstone,
  contribution: readContribution,
  version: readVersion,
  item_tag: (line) => ({ kind: 'item_tag', tag: tagIn(line, objectOf(line, 'item_tag')) }),
  item_tags: (line) => ({ kind: 'item_tags', set: tagSetIn(line) }),
  audit: readAudit,
  end: (line) => ({ kind: 'end', lines: numberOf(line, 'lines'), sha256: textOf(line, 'sha256') }),
};

/** Reads a line. @throws invalid, naming what is missing or malformed */
export function readLine(text: string): InterchangeLine {
  const value = parseJson(text, { maxDepth: MAX_DEPTH, maxNodes: Infinity });
  if (!isJsonObject(value)) throw malformed('a line must be a JSON object');
  const { kind } = value;
  if (typeof kind !== 'string' || !Object.hasOwn(READERS, kind))
    throw malformed(`a line has no kind ${JSON.stringify(kind ?? null).slice(0, 60)}`);
  return READERS[kind as Kind](value);
}

function readHeader({ format, version }: JsonObject): { readonly kind: 'header' } {
  if (format !== FORMAT) throw malformed('the file is no interchange of everchart');
  if (typeof version !== 'number' || version > FORMAT_VERSION)
    throw malformed(
      `the file has version ${JSON.stringify(version)} of the form, this release knows ${FORMAT_VERSION}`,
    );
  return { kind: 'header' };
}

function readTemplate(line: JsonObject): Extract<InterchangeLine, { kind: 'template' }> {
  const [name, uploadedBy, after = null] = [
    textAt(line, 'revision_name'),
    textAt(line, 'uploaded_by'),
    textAt(line, 'after'),
  ];
  const template = {
    _id: textOf(line, 'template_id'),
    opt: textOf(line, 'opt'),
    created_timestamp: timeOf(line, 'created_timestamp'),
    ...(line.revision !== undefined && { revision: numberOf(line, 'revision') }),
    ...(name !== undefined && { revision_name: name }),
    ...(uploadedBy !== undefined && { uploaded_by: uploadedBy }),
    after,
    aliases: line.aliases === undefined ? [] : aliasesIn(line.aliases),
  };
  return { kind: 'template', template };
}

function aliasesIn(given: JsonValue): readonly StoredAlias[] {
  const aliases = Array.isArray(given) ? (given as readonly unknown[]).filter(isStoredAlias) : [];
  if (!Array.isArray(given) || aliases.length < given.length)
    throw malformed('aliases must be a list of what upgrades have moved');
  return aliases;
}

function readStoredQuery(line: JsonObject): Extract<InterchangeLine, { kind: 'stored_query' }> {
  const name = textOf(line, 'name');
  const [queryName = name, namespace = null] = name.split('::').reverse();
  const prefix = parseVersionPrefix(textOf(line, 'version'));
  const version = prefix === null ? null : exactVersion(prefix);
  if (version === null) throw malformed('version must be a whole SEMVER');
  const saved = timeOf(line, 'saved');
  return {
    kind: 'stored_query',
    query: storedQueryDoc({ name, namespace, queryName }, version, textOf(line, 'q'), saved),
  };
}

function readDocument(line: JsonObject): Extract<InterchangeLine, { kind: 'document' }> {
  const { collection } = line;
  const known = OWN_COLLECTIONS.find((name): name is OwnCollection => name === collection);
  if (known === undefined)
    throw malformed(`documents of ${JSON.stringify(collection ?? null)} are not restored`);
  const ehrId = line.ehr_id === undefined ? null : ehrIdOf(line.ehr_id);
  return { kind: 'document', ehrId, collection: known, document: documentOf(objectOf(line, 'document')) };
}

function readEhr(line: JsonObject): Extract<InterchangeLine, { kind: 'ehr' }> {
  const ehr = objectOf(line, 'ehr');
  const restored = {
    _id: ehrIdOf(textAt(ehr, 'ehr_id', 'value')),
    system_id: required(textAt(ehr, 'system_id', 'value'), 'ehr/system_id/value'),
    time_created: instantOf(textAt(ehr, 'time_created', 'value'), 'ehr/time_created/value'),
    ...(line.shares_contributions === true && { shares_contributions: true as const }),
    ...(line.subject_dropped === true && { subject_dropped: true as const }),
  };
  return { kind: 'ehr', ehr: restored };
}

function readTombstone(line: JsonObject): Extract<InterchangeLine, { kind: 'tombstone' }> {
  const ehr = documentOf(objectOf(line, 'document')) as unknown as EhrDoc;
  if (ehr.state !== 'merged' || ehr.merged_into === undefined)
    throw malformed('a tombstone must say where its EHR was merged');
  const containers = objectsAt(line, 'containers').map(
    (one) => documentOf(one) as unknown as VersionedObjectDoc,
  );
  if (containers.some(({ ehr_id: owner }) => owner !== ehr._id))
    throw malformed('a container of a tombstone must belong to it');
  return { kind: 'tombstone', ehrId: ehrIdOf(line.ehr_id), ehr, containers };
}

function readContribution(line: JsonObject): Extract<InterchangeLine, { kind: 'contribution' }> {
  const { authenticated } = line;
  if (authenticated !== undefined && !isRequestIdentity(authenticated))
    throw malformed('authenticated must tell who sent a request');
  const given = objectOf(line, 'contribution');
  const audit = objectOf(given, 'audit');
  const contribution: ContributionDoc = {
    _id: uuidOf(textAt(given, 'uid', 'value'), 'contribution/uid/value'),
    ehr_id: ehrIdOf(line.ehr_id),
    time_committed: committedAt(audit),
    audit,
    ...(authenticated !== undefined && { authenticated: authenticated as unknown as RequestIdentity }),
    versions: objectsAt(given, 'versions').map((reference) => ({
      uid: required(textAt(reference, 'id', 'value'), 'contribution/versions/id/value'),
      type: rootTypeOf(reference.type),
    })),
  };
  return { kind: 'contribution', contribution };
}

function readVersion(line: JsonObject): Extract<InterchangeLine, { kind: 'version' }> {
  const version = versionIn(objectOf(line, 'version'), {
    ehr_id: ehrIdOf(line.ehr_id),
    type: rootTypeOf(line.type),
    ...findingsOf(line),
    ...templateOf(line),
  });
  return { kind: 'version', version };
}

function templateOf(line: JsonObject): Pick<VersionDoc, 'template_id' | 'template_digest'> {
  const [id, digest] = [textAt(line, 'template_id'), textAt(line, 'template_digest')];
  return {
    ...(id !== undefined && { template_id: id }),
    ...(digest !== undefined && { template_digest: digest }),
  };
}

function findingsOf(line: JsonObject): Pick<VersionDoc, 'validation_findings'> {
  const findings = objectsAt(line, 'validation_findings') as unknown as AcceptedFinding[];
  return findings.length > 0 ? { validation_findings: findings } : {};
}

function readAudit(line: JsonObject): Extract<InterchangeLine, { kind: 'audit' }> {
  const record = documentOf(objectOf(line, 'record'));
  const { time, user, operation, request_id: requestId, status } = record;
  const isRecord = time instanceof Date && typeof status === 'number';
  if (!isRecord || [user, operation, requestId].some((text) => typeof text !== 'string'))
    throw malformed('record must have time, user, operation, request_id and status');
  return { kind: 'audit', record: record as unknown as AuditDoc };
}
