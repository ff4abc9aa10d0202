import { DIALECTS } from '../../openehr/base/dialect.js';
import { CdrError } from '../../openehr/base/errors.js';
import { violationAt } from '../../openehr/base/violation.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { isUuid } from '../../openehr/base/object-version-id.js';
import { textAt, withoutAttributes } from '../../openehr/rm/access.js';
import { noFindings, type AcceptedFinding } from '../../openehr/rm/lenient.js';
import type { PartialRm, RmClassName } from '../../openehr/rm/model/rm.js';
import { readRm } from '../../openehr/rm/read.js';
import type { AuditRequest } from '../commit/audit.js';
import {
  CHANGE_TYPE,
  changeTypeOf,
  LIFECYCLE,
  lifecycleStateOf,
  type ChangeType,
  type GivenTerm,
  type LifecycleState,
} from '../commit/codes.js';
import { validatedCommitter, requireOwnCommitter } from '../commit/committer.js';
import { validationError } from '../content/content.js';
import type { ChangeSettings } from '../commit/context.js';
import { attestedIn } from '../attestation.js';
import { atEntry } from '../commit/refusal.js';
import type { ImportedItem } from '../commit/request.js';
import { readItem } from './imported-version.js';
import { ownVersionUidAt, versionUidAt } from './version-uid.js';
import { auditInRmWords, typeMeant, versionInRmWords } from './client-words.js';

/** What the headers of the request say where the body says nothing. */
export interface ContributionDefaults {
  readonly committer: JsonObject;
  /** Name of the only committer that the body may name; null: any. */
  readonly onlyCommitter: string | null;
  readonly description: JsonObject | undefined;
  /** Where the client's is kept. */
  readonly systemId?: string | undefined;
  readonly changeType: ChangeType | undefined;
  readonly lifecycleState: LifecycleState | undefined;
  /** Validation of the contents is lenient. */
  readonly isLenient: boolean;
  /** Versions that are not here may be named as inputs. */
  readonly mayNameAnyInput: boolean;
  /** VERSIONs may be brought as another system made them. */
  readonly mayImport: boolean;
}

/** An AUDIT_DETAILS of the body; what is absent is undefined. */
interface GivenAudit {
  readonly changeType: ChangeType | undefined;
  readonly committer: JsonObject | undefined;
  readonly description: JsonObject | undefined;
  readonly systemId: string | undefined;
  readonly attested: JsonObject | undefined;
}

const NO_AUDIT: GivenAudit = {
  changeType: undefined,
  committer: undefined,
  description: undefined,
  systemId: undefined,
  attested: undefined,
};

/** One entry of `versions`, its content not validated yet. */
export interface VersionEnvelope {
  readonly audit: AuditRequest;
  readonly lifecycleState: LifecycleState;
  /** The state that was given for a deletion and is none of a deleted version. */
  readonly ignoredState: string | undefined;
  readonly signature: string | undefined;
  readonly expectedUid: string | undefined;
  /** Normalised OBJECT_VERSION_ID. */
  readonly precedingVersionUid: string | undefined;
  readonly otherInputVersionUids: readonly string[];
  /** With committer and change type filled in. */
  readonly attestations: readonly JsonObject[];
  readonly data: JsonValue | undefined;
  /** As in `VersionMetadata`. */
  readonly findings: AcceptedFinding[] | undefined;
  /** Of an IMPORTED_VERSION. */
  readonly imported?: ImportedItem;
}

/** A CONTRIBUTION of a request, its contents not validated yet. */
export interface ContributionEnvelope {
  readonly uid: string | null;
  readonly audit: AuditRequest;
  readonly versions: readonly VersionEnvelope[];
}

const MEMBERS = ['_type', 'uid', 'versions', 'audit'];

/** Reads all of a CONTRIBUTION but the data of its versions. @throws invalid */
export function readEnvelope(
  body: JsonValue,
  settings: ChangeSettings,
  defaults: ContributionDefaults,
): ContributionEnvelope {
  if (!isJsonObject(body)) throw new CdrError('invalid', 'the body must be a CONTRIBUTION object');
  if (body._type !== undefined && typeMeant(body._type) !== 'CONTRIBUTION')
    throw validationError('invalid', [violationAt('/', 'Object should be type CONTRIBUTION')]);
  refuseUnknownMembers(body);
  const given = readAudit(body.audit ?? null, '/audit', settings, defaults.onlyCommitter);
  const { versions } = body;
  if (!Array.isArray(versions) || versions.length === 0)
    throw new CdrError('invalid', 'Versions must not be empty');
  const committer = given.committer ?? defaults.committer;
  const read = versions.map((version, index) =>
    readVersionAt(index, version, settings, { ...defaults, committer }),
  );
  return {
    uid: contributionUid(body.uid),
    audit: {
      changeType: given.changeType ?? defaults.changeType ?? commonChangeType(read),
      committer,
      description: given.description ?? defaults.description,
      systemId: given.systemId ?? defaults.systemId,
      attested: given.attested,
    },
    versions: read,
  };
}

/** @throws invalid naming all */
function refuseUnknownMembers(body: JsonObject): void {
  const unknown = Object.keys(body).filter((name) => !MEMBERS.includes(name));
  if (unknown.length === 0) return;
  throw validationError(
    'invalid',
    unknown.map((name) =>
      violationAt('/', `Unknown attribute ${name} of class CONTRIBUTION`, 'unknown-attribute'),
    ),
  );
}

function contributionUid(uid: JsonValue | undefined): string | null {
  if (uid === undefined || uid === null) return null;
  const text = textAt(uid, 'value') ?? '';
  if (!isUuid(text))
    throw validationError('invalid', [violationAt('/uid/value', 'The value must be a UUID')]);
  return text.toLowerCase();
}

function commonChangeType(versions: readonly VersionEnvelope[]): ChangeType {
  const [first, ...others] = versions.map((version) => version.audit.changeType);
  return first !== undefined && others.every((code) => code === first) ? first : CHANGE_TYPE.modification;
}

/**
 * The time is always the server's, the system id unless the client's is kept; `ACCEPT_FOREIGN_SYSTEM_ID=false` refuses
 * another one.
 */
function readAudit(
  value: JsonValue,
  path: string,
  settings: ChangeSettings,
  onlyCommitter: string | null,
): GivenAudit {
  if (value === null) return NO_AUDIT;
  if (!isJsonObject(value))
    throw validationError('invalid', [violationAt(path, 'Object should be type AUDIT_DETAILS')]);
  const { system_id: systemId } = value;
  const rest = withoutAttributes(value, ['time_committed', 'system_id']);
  if (systemId !== undefined && (typeof systemId !== 'string' || systemId === ''))
    throw validationError('invalid', [
      violationAt(`${path}/system_id`, 'The value must be a text that is not empty'),
    ]);
  const isForeign = systemId !== undefined && systemId !== settings.systemId;
  if (isForeign && !settings.acceptForeignSystemId)
    throw validationError('invalid', [
      violationAt(`${path}/system_id`, `The value must be ${settings.systemId}`),
    ]);
  const audit = readPart(auditInRmWords(rest, 'AUDIT_DETAILS'), 'AUDIT_DETAILS', path);
  return {
    changeType: audit.change_type === undefined ? undefined : changeTypeOf(term(audit.change_type)),
    committer: committerIn(audit, onlyCommitter),
    description: audit.description,
    systemId: DIALECTS[settings.itsRest].isSystemOfClientKept ? systemId : undefined,
    attested: attestedIn(audit, path),
  };
}

function committerIn(
  { committer }: PartialRm<'AUDIT_DETAILS'>,
  onlyCommitter: string | null,
): JsonObject | undefined {
  if (committer === undefined) return undefined;
  const validated = validatedCommitter(committer);
  requireOwnCommitter(validated, onlyCommitter);
  return validated;
}

function readPart<N extends RmClassName>(value: JsonValue, type: N, path: string): PartialRm<N> {
  const { object, violations } = readRm(value, type, path);
  if (violations.length > 0 || object === null) throw validationError('invalid', violations);
  return object;
}

function term(coded: PartialRm<'DV_CODED_TEXT'>): GivenTerm {
  const { value: rubric, defining_code: code } = coded;
  const terminology = code?.terminology_id?.value;
  if (terminology !== undefined && terminology.toLowerCase() !== 'openehr')
    throw new CdrError('invalid', 'codes of audits and lifecycle states are of the terminology openehr');
  return { code: code?.code_string, rubric };
}

function readVersionAt(
  index: number,
  value: JsonValue,
  settings: ChangeSettings,
  defaults: ContributionDefaults,
): VersionEnvelope {
  try {
    return readVersion(value, `/versions[${index}]`, settings, defaults);
  } catch (error) {
    throw atEntry(index, error);
  }
}

function readVersion(
  value: JsonValue,
  path: string,
  settings: ChangeSettings,
  defaults: ContributionDefaults,
): VersionEnvelope {
  if (!isJsonObject(value))
    throw validationError('invalid', [violationAt(path, 'Object should be type ORIGINAL_VERSION')]);
  if (value._type === 'IMPORTED_VERSION') return readImported(value, path, settings, defaults);
  if (value._type !== undefined && typeMeant(value._type) !== 'ORIGINAL_VERSION')
    throw validationError('invalid', [violationAt(path, 'Object should be type ORIGINAL_VERSION')]);
  const { data, commit_audit: commitAudit } = value;
  const rest = withoutAttributes(value, ['data', 'commit_audit', 'contribution']);
  const version = readPart(versionInRmWords(rest), 'ORIGINAL_VERSION', path);
  const given = readAudit(commitAudit ?? null, `${path}/commit_audit`, settings, defaults.onlyCommitter);
  if (given.changeType === undefined)
    throw validationError('invalid', [
      violationAt(`${path}/commit_audit/change_type`, 'Attribute is required'),
    ]);
  const audit = {
    changeType: given.changeType,
    committer: given.committer ?? defaults.committer,
    description: given.description,
    systemId: given.systemId ?? defaults.systemId,
    attested: given.attested,
  };
  return {
    audit,
    ...stateOf(version.lifecycle_state, given.changeType, defaults),
    signature: version.signature,
    expectedUid: ownVersionUidAt(version.uid, `${path}/uid`, settings.systemId),
    precedingVersionUid: versionUidAt(
      version.preceding_version_uid,
      `${path}/preceding_version_uid`,
      settings.systemId,
    ),
    otherInputVersionUids: (version.other_input_version_uids ?? []).flatMap(
      (uid, index) =>
        versionUidAt(uid, `${path}/other_input_version_uids[${index}]`, settings.systemId) ?? [],
    ),
    attestations: attestationsIn(version, defaults.onlyCommitter),
    data: data ?? undefined,
    findings: noFindings(defaults.isLenient),
  };
}

/** What was made elsewhere, with the audit of the import. @throws forbidden; invalid */
function readImported(
  value: JsonObject,
  path: string,
  settings: ChangeSettings,
  defaults: ContributionDefaults,
): VersionEnvelope {
  if (!defaults.mayImport)
    throw new CdrError(
      'forbidden',
      'an IMPORTED_VERSION says who wrote what when: it takes the permission restore',
    );
  const { item, commit_audit: commitAudit } = value;
  const rest = withoutAttributes(value, ['item', 'commit_audit', 'contribution']);
  const { signature } = readPart(rest, 'IMPORTED_VERSION', path);
  const { imported, lifecycleState, precedingVersionUid, data, changeType } = readItem(
    item ?? null,
    `${path}/item`,
  );
  const given = readAudit(commitAudit ?? null, `${path}/commit_audit`, settings, defaults.onlyCommitter);
  return {
    audit: {
      changeType: given.changeType ?? changeTypeOf(term(changeType)),
      committer: given.committer ?? defaults.committer,
      description: given.description,
      systemId: given.systemId ?? defaults.systemId,
      attested: given.attested,
    },
    ...{ lifecycleState, ignoredState: undefined, signature, expectedUid: undefined, precedingVersionUid },
    ...{ otherInputVersionUids: [], attestations: [], data, imported },
    findings: noFindings(defaults.isLenient),
  };
}

/** What deletions are called: 523 in the terminology, 533 by some clients. */
const DELETED_STATES: readonly (string | undefined)[] = [LIFECYCLE.deleted, '533'];

/** What is deleted is deleted, whatever state a client names. */
function stateOf(
  given: PartialRm<'DV_CODED_TEXT'> | undefined,
  changeType: ChangeType,
  defaults: ContributionDefaults,
): Pick<VersionEnvelope, 'lifecycleState' | 'ignoredState'> {
  const named = given === undefined ? undefined : term(given);
  if (changeType === CHANGE_TYPE.deleted) {
    const isDeleted =
      named === undefined || DELETED_STATES.includes(named.code) || named.rubric === 'deleted';
    const ignoredState = isDeleted ? undefined : (named.code ?? named.rubric);
    return { lifecycleState: LIFECYCLE.deleted, ignoredState };
  }
  const state = named === undefined ? defaults.lifecycleState : lifecycleStateOf(named);
  return { lifecycleState: state ?? LIFECYCLE.complete, ignoredState: undefined };
}

/** Attesting in the name of another is committing in it. */
function attestationsIn(
  { attestations = [] }: PartialRm<'ORIGINAL_VERSION'>,
  onlyCommitter: string | null,
): readonly PartialRm<'ATTESTATION'>[] {
  for (const { committer } of attestations) {
    if (committer !== undefined) requireOwnCommitter(committer, onlyCommitter);
  }
  return attestations;
}
