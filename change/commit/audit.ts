import { formatUtc } from '../../openehr/base/iso8601.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { changeTypeTerm, type ChangeType } from './codes.js';

/** What a client may say of a commit; the server adds time and, unless the client's is kept, system id. RM: AUDIT_DETAILS. */
export interface AuditRequest {
  readonly changeType: ChangeType;
  /** PARTY_PROXY. */
  readonly committer: JsonObject;
  /** DV_TEXT. */
  readonly description?: JsonObject | undefined;
  /** Of the client, where it is kept: stored instead of this server's. */
  readonly systemId?: string | undefined;
  /** What an ATTESTATION says beyond AUDIT_DETAILS, where the audit is one. RM common, "Attestation". */
  readonly attested?: JsonObject | undefined;
}

/** A time of the server as DV_DATE_TIME: UTC, 6 fraction digits. */
export function serverTime(time: Date): JsonObject {
  return { _type: 'DV_DATE_TIME', value: formatUtc(time) };
}

/** AUDIT_DETAILS as stored, an ATTESTATION where the request has one. */
export function auditDetails(audit: AuditRequest, systemId: string, time: Date): JsonObject {
  return {
    _type: 'AUDIT_DETAILS',
    system_id: audit.systemId ?? systemId,
    time_committed: serverTime(time),
    change_type: changeTypeTerm(audit.changeType),
    ...(audit.description !== undefined && { description: audit.description }),
    committer: audit.committer,
    ...(audit.attested !== undefined && { ...audit.attested, _type: 'ATTESTATION' }),
  };
}

/** PARTY_IDENTIFIED of somebody known by name only. */
export function partyNamed(name: string): JsonObject {
  return { _type: 'PARTY_IDENTIFIED', name };
}
