import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { objectAt, textAt } from '../../openehr/rm/access.js';
import type { Subject } from '../../models/ehr.js';
import { identityKey, MAX_IDENTITY_BYTES, type Identity } from '../../models/identity.js';
import type { EhrFlags } from './draft.js';

/** Identifiers of one EHR_STATUS that are looked for in others; more are left out. */
export const MAX_IDENTITIES = 50;

/** What an EHR_STATUS makes of its EHR: the two flags and the identity of the subject. */
export function flagsOf(versionedObjectUid: string, status: JsonObject): EhrFlags {
  return {
    versionedObjectUid,
    isQueryable: status.is_queryable !== false,
    isModifiable: status.is_modifiable !== false,
    subject: subjectOf(status),
    identities: identitiesOf(status),
  };
}

/** What of an EHR_STATUS may name the same person in another EHR (docs/spec/merge.md#candidates), each once. */
function identitiesOf(status: JsonObject): Identity[] {
  const subject = subjectOf(status);
  const found = new Map<string, Identity>();
  if (subject !== null) addIdentity(found, 'subject', { id: subject.id });
  for (const identifier of identifiersIn(status.other_details)) addIdentity(found, 'identifier', identifier);
  return [...found.values()];
}

/** Every DV_IDENTIFIER at or below a value. */
function* identifiersIn(value: JsonValue | undefined): Generator<JsonObject> {
  if (Array.isArray(value)) for (const member of value) yield* identifiersIn(member);
  if (!isJsonObject(value)) return;
  if (value._type === 'DV_IDENTIFIER') yield value;
  else for (const member of Object.values(value)) yield* identifiersIn(member);
}

function addIdentity(found: Map<string, Identity>, kind: 'subject' | 'identifier', source: JsonObject): void {
  const id = given(source.id);
  if (id === undefined || found.size === MAX_IDENTITIES) return;
  const [issuer, assigner, type] = [given(source.issuer), given(source.assigner), given(source.type)];
  const identity: Identity = {
    key: identityKey(kind, id),
    ...(issuer !== undefined && { issuer }),
    ...(assigner !== undefined && { assigner }),
    ...(type !== undefined && { type }),
  };
  found.set(JSON.stringify(identity), identity);
}

/** A text without the blanks around it; undefined when nothing is left, or too much to be a name. */
function given(value: JsonValue | undefined): string | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' || Buffer.byteLength(text) > MAX_IDENTITY_BYTES ? undefined : text;
}

/** The external identity of an EHR_STATUS's subject, null when it has none. */
export function subjectOf(status: JsonObject): Subject | null {
  const reference = objectAt(status, 'subject', 'external_ref');
  const id = textAt(reference, 'id', 'value');
  const namespace = textAt(reference, 'namespace');
  return id === undefined || namespace === undefined ? null : { namespace, id };
}
