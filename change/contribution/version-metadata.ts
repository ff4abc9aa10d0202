import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { validatedAttestations } from '../attestation.js';
import type { VersionMetadata } from '../commit/request.js';
import type { VersionEnvelope } from './contribution-envelope.js';

/** A creation may name its uid outside the data. */
export function withExpectedUid({ data, expectedUid }: VersionEnvelope): JsonValue {
  if (!isJsonObject(data) || expectedUid === undefined || data.uid !== undefined) return data ?? null;
  return { ...data, uid: { _type: 'OBJECT_VERSION_ID', value: expectedUid } };
}

/** What a version of a request says beside its data. @throws invalid for an ATTESTATION that breaks a rule */
export function metadataOf(
  version: VersionEnvelope,
  index: number,
): VersionMetadata & { readonly attestations: readonly JsonObject[] } {
  const { audit, lifecycleState, signature, expectedUid, otherInputVersionUids, findings } = version;
  const attestations = validatedAttestations(version.attestations, audit, `/versions[${index}]`);
  return { audit, lifecycleState, signature, attestations, otherInputVersionUids, expectedUid, findings };
}
