import { requireSameObject } from './composition/composition.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../openehr/base/json.js';
import { CdrError } from '../openehr/base/errors.js';
import type { VersionDoc } from '../models/version.js';
import { versionById } from '../models/version.js';
import { ehrStatusContainer } from '../models/versioned-object.js';
import { findings, validateByRm, readObject, textAt } from './composition/content.js';
import type { ChangeContext } from './commit/context.js';
import { commitEntry, type DirectChange } from './commit/direct.js';
import { withEhrErrorFirst } from './commit/ehr-access.js';
import { ehrNotFound, staleVersion } from './commit/refusal.js';

/**
 * Attributes that an update without them keeps, so that no patient is lost by omission
 * (docs/spec/rest.md#ehr_status).
 */
const KEPT = ['name', 'subject', 'is_queryable', 'is_modifiable'] as const;

const DEFAULTS: JsonObject = {
  archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
  name: { _type: 'DV_TEXT', value: 'EHR Status' },
  subject: { _type: 'PARTY_SELF' },
  is_queryable: true,
  is_modifiable: true,
};

/**
 * An EHR_STATUS for a new EHR: what is absent gets its default (docs/spec/rest.md#ehr); null = all defaults.
 * @throws invalid
 */
export function newEhrStatus(body: JsonValue): JsonObject {
  const given = body === null ? {} : requireStatus(body);
  return validatedStatus({ _type: 'EHR_STATUS', ...DEFAULTS, ...withoutAbsent(given) });
}

/**
 * An EHR_STATUS for an update over the previous one. `_type` and `archetype_node_id` are required.
 * @throws invalid with all findings
 */
export function nextEhrStatus(body: JsonValue, previous: JsonObject): JsonObject {
  const given = withoutAbsent(requireStatus(body));
  if (given._type === undefined) throw findings('invalid', ['/: Attribute _type is required']);
  const kept = Object.fromEntries(KEPT.flatMap((name) => keptAttribute(previous, name)));
  return validatedStatus({ _type: 'EHR_STATUS', ...kept, ...given });
}

function keptAttribute(previous: JsonObject, name: string): [string, JsonValue][] {
  const value = previous[name];
  return value === undefined ? [] : [[name, value]];
}

function requireStatus(body: JsonValue): JsonObject {
  if (!isJsonObject(body)) throw new CdrError('invalid', 'the body must be an EHR_STATUS object');
  if (body._type !== undefined && body._type !== 'EHR_STATUS')
    throw findings('invalid', ['/: Object should be type EHR_STATUS']);
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

function validatedStatus(status: JsonObject): JsonObject {
  const object = readObject(status, 'EHR_STATUS');
  const reference = isJsonObject(object.subject) ? object.subject.external_ref : undefined;
  const further: string[] = [];
  if (reference !== undefined && !textAt(reference, ['id', 'value']))
    further.push('/subject/external_ref/id/value: Attribute must not be empty');
  validateByRm(object, further);
  return object;
}

/**
 * The next version of the EHR_STATUS. ITS-REST: ehr_status_update. `ifMatch` null: over whatever is the latest.
 * @throws CdrError: docs/spec/rest.md#ehr_status
 */
export async function updateEhrStatus(
  context: ChangeContext,
  change: DirectChange & { readonly ifMatch: string | null },
  body: JsonValue,
): Promise<VersionDoc> {
  const { ehrId, metadata, beside } = change;
  return withEhrErrorFirst(ehrId, 'ehr-status', async () => {
    const container = await ehrStatusContainer(ehrId);
    if (container === null) throw ehrNotFound(ehrId);
    const ifMatch = change.ifMatch ?? container.latest_version_uid;
    const isLatest = container.latest_version_uid === ifMatch;
    const previous = isLatest ? await versionById(ehrId, 'EHR_STATUS', ifMatch) : null;
    if (isJsonObject(body)) requireSameObject(body, container._id, container);
    const object = nextEhrStatus(body, previous === null ? DEFAULTS : storedObject(previous));
    if (!isLatest) throw staleVersion('precondition-failed', container);
    const place = { versionedObjectUid: container._id, precedingVersionUid: ifMatch };
    const entry = { kind: 'update', type: 'EHR_STATUS', object, ...place, ...metadata } as const;
    return commitEntry(context, entry, { ehrId, beside }, [container]);
  });
}

/** The RM object of a stored version. */
export function storedObject(version: VersionDoc): JsonObject {
  if (version.data === null) throw new TypeError('a deletion has no data');
  return JSON.parse(version.data) as JsonObject;
}
