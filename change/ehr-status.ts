import { DIALECTS } from '../openehr/base/dialect.js';
import { violationAt, type Violation } from '../openehr/base/violation.js';
import { warnOfForeignUid } from './composition/composition.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../openehr/base/json.js';
import { CdrError } from '../openehr/base/errors.js';
import type { VersionDoc } from '../models/version.js';
import { versionById } from '../models/version.js';
import { ehrStatusContainer } from '../models/versioned-object.js';
import { textAt } from '../openehr/rm/access.js';
import { accept, type AcceptedFinding } from '../openehr/rm/lenient.js';
import type { Rm } from '../openehr/rm/model/rm.js';
import { validationError, requireValid, readObject } from './content/content.js';
import type { ChangeContext } from './commit/context.js';
import { commitEntry, type DirectChange } from './commit/direct.js';
import { viewing } from './access/viewer.js';
import { withEhrErrorFirst } from './commit/ehr-access.js';
import { ehrNotFound, objectNotFound, staleVersion } from './commit/refusal.js';

/** What an update has to say, so that no patient is lost by omission (docs/spec/rest.md#ehr_status). */
const SAID = ['subject', 'is_queryable', 'is_modifiable'] as const;

const DEFAULTS: Rm<'EHR_STATUS'> = {
  _type: 'EHR_STATUS',
  archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
  name: { _type: 'DV_TEXT', value: 'EHR Status' },
  subject: { _type: 'PARTY_SELF' },
  is_queryable: true,
  is_modifiable: true,
};

/** What is sent back and forth where an EHR_STATUS is taken as sent. */
const WHOLE_DEFAULTS: JsonObject = {
  ...DEFAULTS,
  archetype_details: {
    _type: 'ARCHETYPED',
    archetype_id: { _type: 'ARCHETYPE_ID', value: DEFAULTS.archetype_node_id },
    rm_version: '1.0.4',
  },
};

/** How an EHR_STATUS of a request is read. */
interface StatusReading {
  /** Nothing is filled in: `Dialect.isStatusTakenAsSent`. */
  readonly asSent: boolean;
  /** As in `readObject`. */
  readonly findings?: AcceptedFinding[] | undefined;
}

/**
 * An EHR_STATUS for a new EHR: what is absent gets its default unless it is taken as sent (docs/spec/rest.md#ehr); null = all
 * defaults. @throws invalid
 */
export function newEhrStatus(body: JsonValue, { asSent, findings }: StatusReading): Rm<'EHR_STATUS'> {
  const given = withoutAbsent(body === null ? {} : requireStatus(body));
  if (asSent)
    return statusAsSent(body === null ? WHOLE_DEFAULTS : { _type: 'EHR_STATUS', ...given }, findings);
  const archetypeId = textAt(given, 'archetype_details', 'archetype_id', 'value');
  const named = archetypeId === undefined ? {} : { archetype_node_id: archetypeId };
  return validatedStatus(withNamedDetails({ ...DEFAULTS, ...named, ...given }), findings);
}

/** An EHR_STATUS of which nothing is filled in, the root of an archetype unless validation is lenient. @throws invalid */
function statusAsSent(status: JsonObject, findings?: AcceptedFinding[]): Rm<'EHR_STATUS'> {
  if (isArchetypeRoot(status)) return validatedStatus(status, findings);
  if (findings === undefined) return validatedStatus(status, findings, [NO_ROOT]);
  const { path, code, message } = NO_ROOT;
  accept(findings, { path, code, message });
  return validatedStatus(status, findings);
}

function isArchetypeRoot(status: JsonObject): boolean {
  return isJsonObject(status.archetype_details);
}

/** RM: EHR_STATUS.Is_archetype_root, LOCATABLE.Archetyped_valid. */
const NO_ROOT: Violation = {
  ...violationAt('/archetype_details', 'Invariant Is_archetype_root failed on type EHR_STATUS', 'invariant'),
  rule: 'Is_archetype_root',
};

/** `other_details` without name or node id get them; the node id is that of the archetype they name, else at0001. */
function withNamedDetails(status: JsonObject): JsonObject {
  const details = status.other_details;
  if (!isJsonObject(details)) return status;
  const archetypeId = textAt(details, 'archetype_details', 'archetype_id', 'value');
  const other_details = {
    ...details,
    name: details.name ?? { _type: 'DV_TEXT', value: 'other details' },
    archetype_node_id: details.archetype_node_id ?? archetypeId ?? 'at0001',
  };
  return { ...status, other_details };
}

/**
 * An EHR_STATUS for an update over the previous one, whose name is kept where none is given. `_type`,
 * `archetype_node_id` and what stands in `SAID` are required; where it is taken as sent, `archetype_details` too if the previous one
 * has them: what another dialect stored can be sent back as it is read. @throws invalid with all violations
 */
export function nextEhrStatus(
  body: JsonValue,
  previous: JsonObject,
  { asSent, findings }: StatusReading,
): Rm<'EHR_STATUS'> {
  const given = withoutAbsent(requireStatus(body));
  const lacking = ['_type', ...SAID].filter((name) => given[name] === undefined);
  if (lacking.length > 0)
    throw validationError(
      'invalid',
      lacking.map((name) => violationAt('/', `Attribute ${name} is required`, 'missing')),
    );
  if (asSent)
    return isArchetypeRoot(previous) ? statusAsSent(given, findings) : validatedStatus(given, findings);
  const { name } = previous;
  return validatedStatus({ ...(name !== undefined && { name }), ...given }, findings);
}

function requireStatus(body: JsonValue): JsonObject {
  if (!isJsonObject(body)) throw new CdrError('invalid', 'the body must be an EHR_STATUS object');
  if (body._type !== undefined && body._type !== 'EHR_STATUS')
    throw validationError('invalid', [violationAt('/', 'Object should be type EHR_STATUS', 'wrong-type')]);
  return body;
}

/** Null counts as absent, an empty subject as PARTY_SELF; the uid is the server's. */
function withoutAbsent(body: JsonObject): JsonObject {
  const given = Object.entries(body).filter(([name, value]) => value !== null && name !== 'uid');
  const status: JsonObject = Object.fromEntries(given);
  const { subject } = status;
  if (isJsonObject(subject) && subject._type === undefined)
    status.subject = { _type: 'PARTY_SELF', ...subject };
  return status;
}

function validatedStatus(
  status: JsonObject,
  findings?: AcceptedFinding[],
  further: readonly Violation[] = [],
): Rm<'EHR_STATUS'> {
  const object = readObject(status, 'EHR_STATUS', findings);
  const reference = object.subject?.external_ref;
  const lacksId = reference !== undefined && !reference.id?.value;
  const lacking = violationAt('/subject/external_ref/id/value', 'Attribute must not be empty', 'missing');
  return requireValid(object, lacksId ? [lacking, ...further] : further, findings);
}

/** An update of the EHR_STATUS: over which version, and how it is read. */
interface StatusChange extends DirectChange {
  /** Null: over whatever is the latest. */
  readonly ifMatch: string | null;
  /** Absent: as the dialect says. */
  readonly asSent?: boolean;
}

/**
 * The next version of the EHR_STATUS. ITS-REST: ehr_status_update.
 * @throws CdrError: docs/spec/rest.md#ehr_status
 */
export async function updateEhrStatus(
  context: ChangeContext,
  change: StatusChange,
  body: JsonValue,
): Promise<VersionDoc> {
  const { ehrId, metadata, inSameTransaction } = change;
  return withEhrErrorFirst(ehrId, 'ehr-status', async () => {
    const container = await ehrStatusContainer(ehrId);
    const viewer = viewing.getStore()?.viewer;
    if (container === null) throw ehrNotFound(ehrId);
    if ((await viewer?.seesLatest(container)) === false)
      throw objectNotFound(ehrId, 'EHR_STATUS', container._id);
    const ifMatch = change.ifMatch ?? container.latest_version_uid;
    const isLatest = container.latest_version_uid === ifMatch;
    const previous = isLatest ? await versionById(ehrId, 'EHR_STATUS', ifMatch) : null;
    if (isJsonObject(body)) warnOfStatus(context, body, container._id);
    const object = nextEhrStatus(body, previous === null ? DEFAULTS : storedStatus(previous), {
      asSent: change.asSent ?? DIALECTS[context.settings.itsRest].isStatusTakenAsSent,
      findings: metadata.findings,
    });
    if (!isLatest) throw staleVersion('precondition-failed', container);
    const target = { versionedObjectUid: container._id, precedingVersionUid: ifMatch };
    const entry = { kind: 'update', type: 'EHR_STATUS', object, ...target, ...metadata } as const;
    return commitEntry(context, entry, { ehrId, inSameTransaction }, [container]);
  });
}

/** Names what an update of an EHR_STATUS says of another object, and what the RM wants and it lacks. */
export function warnOfStatus(context: ChangeContext, status: JsonObject, versionedObjectUid: string): void {
  warnOfForeignUid(context, status, versionedObjectUid);
  if (isArchetypeRoot(status)) return;
  const text = 'the EHR_STATUS has no archetype_details, which an archetype root has (Is_archetype_root)';
  context.warn?.({ kind: 'absent', name: 'archetype_details', text });
}

/** The EHR_STATUS of a stored version. */
export function storedStatus(version: VersionDoc): Rm<'EHR_STATUS'> {
  if (version.data === null) throw new TypeError('an EHR_STATUS cannot be deleted');
  return JSON.parse(version.data) as Rm<'EHR_STATUS'>;
}
