import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../openehr/base/json.js';
import { formatObjectVersionId, parseObjectVersionId } from '../openehr/base/object-version-id.js';
import type { AqlDocument, LeafIndex } from '../aql/index/document.js';
import { AQL_SCHEMA_VERSION, FIELD } from '../aql/index/document.js';
import { recomputedDocuments } from '../models/aql-document.js';
import type { VersionDoc } from '../models/version.js';
import type { VersionedObjectDoc } from '../models/versioned-object.js';
import { LIFECYCLE } from '../change/commit/codes.js';
import { textAt } from '../openehr/rm/access.js';
import type { Findings } from './verify-report.js';

/** One container with everything that belongs to it. */
export interface ContainerCheck {
  readonly container: VersionedObjectDoc;
  /** By number. */
  readonly versions: readonly VersionDoc[];
  readonly aqlDocuments: readonly AqlDocument[];
  readonly isQueryable: boolean;
  /** Uids that CONTRIBUTIONs list, by CONTRIBUTION: of the EHR, and of those that it shared a merge with. */
  readonly contributions: Pick<ReadonlyMap<string, ReadonlySet<string>>, 'get'>;
  readonly storage: StorageFacts;
}

/** How the database says it was written. */
export interface StorageFacts {
  /** This one, and those of which VERSIONs were restored; null: not known. */
  readonly systems: ReadonlySet<string> | null;
  readonly leafIndex: LeafIndex;
  /** true: derived documents may be of an older derivation. */
  readonly isReindexPending: boolean;
  /** Whether documents of older releases may lack who committed the VERSION. */
  readonly lacksCommitters: boolean;
}

const LEAF_INDEXES: readonly LeafIndex[] = ['all', 'numeric', 'none'];

/**
 * Validates one container: a chain of versions without gaps and one head, references to CONTRIBUTIONs, derived
 * documents equal to recomputation. Pure; gives the shapes that must be known.
 */
export function checkContainer(found: Findings, check: ContainerCheck): readonly string[] {
  checkHead(found, check);
  check.versions.forEach((version, index) => {
    checkPosition(found, check, index);
    checkContent(found, version);
    if (version.has_item_tags !== check.container.has_item_tags)
      found.add('versions', version._id, 'has_item_tags is not that of its container');
    const listed = check.contributions.get(version.contribution_uid);
    if (listed === undefined)
      found.add('versions', version._id, 'its CONTRIBUTION does not exist in the EHR');
    else if (!listed.has(version._id))
      found.add('versions', version._id, 'its CONTRIBUTION does not list it');
  });
  return checkDerived(found, check);
}

/** The container names its first and last version. */
function checkHead(found: Findings, { container, versions }: ContainerCheck): void {
  const first = versions[0];
  const last = versions.at(-1);
  if (first === undefined || last === undefined) {
    found.add('versioned_objects', container._id, 'it has no version');
    return;
  }
  const expected = {
    time_created: first.time_committed,
    latest_version: last.version,
    latest_version_uid: last._id,
    latest_time_committed: last.time_committed,
    deleted: last.data === null,
  };
  for (const [field, value] of Object.entries(expected)) {
    const actual = container[field as keyof typeof expected];
    if (!isDeepStrictEqual(actual, value))
      found.add(
        'versioned_objects',
        container._id,
        `${field} is not that of its versions: ${factOf(actual)} instead of ${factOf(value)}`,
      );
  }
}

/** A number, a uid, a time or a truth value, in JSON; what somebody else put there by its kind. */
function factOf(value: unknown): string {
  const isFact = value instanceof Date || ['number', 'boolean', 'string'].includes(typeof value);
  return isFact ? JSON.stringify(value) : typeof value;
}

/** Where a version stands in its chain. */
function checkPosition(
  found: Findings,
  { container, versions, storage }: ContainerCheck,
  index: number,
): void {
  const version = versions[index];
  if (version === undefined) return;
  const add = (message: string): void => {
    found.add('versions', version._id, message);
  };
  const before = versions[index - 1];
  if (!isOwnUid(version, container, storage)) add('its uid is not made of container, system and number');
  if (version.version !== index + 1)
    add(`it has number ${version.version} at place ${index + 1} of its chain`);
  if (version.type !== container.type) add('its type is not that of its container');
  if (version.preceding_version_uid !== before?._id) add('preceding_version_uid is not the version before');
  if (before !== undefined && before.time_committed >= version.time_committed)
    add('it was not committed after the version before');
}

/** Whether a uid is made of the container, a system whose versions are here, and the number. */
function isOwnUid(
  { _id, version }: VersionDoc,
  { _id: id }: VersionedObjectDoc,
  { systems }: StorageFacts,
): boolean {
  const systemId = parseObjectVersionId(_id)?.systemId ?? '';
  const uid = formatObjectVersionId({ versionedObjectUid: id, systemId, version });
  return _id === uid && systems?.has(systemId) !== false;
}

/** A deletion has no content and says so; content knows its own uid. */
function checkContent(found: Findings, version: VersionDoc): void {
  const state = textAt(version.lifecycle_state, 'defining_code', 'code_string');
  const isDeletion = version.data === null;
  if ((state === LIFECYCLE.deleted) !== isDeletion)
    found.add(
      'versions',
      version._id,
      'content and lifecycle_state do not agree on whether it is a deletion',
    );
  if (version.data === null) return;
  const content = parsedContent(version.data);
  if (content === null) found.add('versions', version._id, 'its content is no JSON');
  else if (textAt(content, 'uid', 'value') !== version._id || content._type !== version.type)
    found.add('versions', version._id, 'its content has another uid or type');
}

/** Content of a VERSION as it was found; null for what is no JSON object. */
export function parsedContent(text: unknown): JsonObject | null {
  if (typeof text !== 'string') return null;
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === 'object' && content !== null && !Array.isArray(content)
      ? (content as JsonObject)
      : null;
  } catch {
    return null;
  }
}

function checkDerived(found: Findings, check: ContainerCheck): readonly string[] {
  const { versions, isQueryable, storage } = check;
  if (versions.some(({ data }) => data !== null && parsedContent(data) === null)) return [];
  const { documents, shapes } = recomputedDocuments(versions, { isQueryable, leafIndex: storage.leafIndex });
  const stored = new Map(check.aqlDocuments.map((document) => [document._id, document]));
  for (const expected of documents) {
    const document = stored.get(expected._id);
    stored.delete(expected._id);
    if (document === undefined) found.add('aql', expected._id, 'the derived document is missing');
    else if (!isAsDerived(document, expected, check))
      found.add('aql', expected._id, 'the derived document is not what its version gives');
  }
  for (const uid of stored.keys()) found.add('aql', uid, 'there is no version with content for it');
  return shapes;
}

/** Leaves may be those of another setting: queries do not use them then. */
function isAsDerived(document: AqlDocument, wanted: AqlDocument, check: ContainerCheck): boolean {
  const expected = check.storage.lacksCommitters ? asOlder(wanted, document) : wanted;
  if (check.storage.isReindexPending && document.sv !== AQL_SCHEMA_VERSION)
    return placeOf(document, expected);
  if (isDeepStrictEqual(document, expected)) return true;
  if (!isDeepStrictEqual({ ...document, lv: [] }, { ...expected, lv: [] })) return false;
  return LEAF_INDEXES.filter((leafIndex) => leafIndex !== check.storage.leafIndex).some((leafIndex) => {
    const { documents } = recomputedDocuments(check.versions, { isQueryable: check.isQueryable, leafIndex });
    const other = documents.find(({ _id }) => _id === document._id);
    return other !== undefined && isDeepStrictEqual({ ...expected, lv: other.lv }, document);
  });
}

/** Without the committer where an older release wrote the document, until `everchart reindex --access` has been there. */
function asOlder(wanted: AqlDocument, document: AqlDocument): AqlDocument {
  if (document[FIELD.committer] !== undefined) return wanted;
  const fields = Object.entries(wanted).filter(([name]) => name !== FIELD.committer);
  return Object.fromEntries(fields) as unknown as AqlDocument;
}

/** An older derivation is validated by what commits and merges maintain only. */
function placeOf(document: AqlDocument, expected: AqlDocument): boolean {
  const maintained = (one: AqlDocument): unknown[] => [one.ehr, one.vo, one.v, one.latest, one.to, one.q];
  return isDeepStrictEqual(maintained(document), maintained(expected));
}
