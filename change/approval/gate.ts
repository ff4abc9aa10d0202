import { createHash } from 'node:crypto';
import type { JsonValue } from '../../openehr/base/json.js';
import type { ActPlan } from '../../models/waiting-request.js';
import type { Session } from '../../models/access/write.js';
import { attestationCount } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';

/**
 * What stands between an act being worked out and being carried out where that takes two persons. An act that has one
 * calls it in its transaction, after its own checks.
 */
export interface Gate {
  /** false: the act is only worked out, and writes nothing itself. */
  readonly opens: boolean;
  /** @throws conflict when it is not this plan that was agreed on */
  readonly pass: (session: Session, plan: ActPlan) => Promise<void>;
}

/** false: an act is only worked out. */
export function writes(gate: Gate | undefined): boolean {
  return gate?.opens !== false;
}

/** Hexadecimal SHA-256: `ActPlan.digest` of what an act does, and of what it does it to. */
export function digestOf(everything: readonly JsonValue[]): string {
  return createHash('sha256').update(JSON.stringify(everything)).digest('hex');
}

/** What of an object is part of a digest: its versions and what was attested. Joins the caller's transaction. */
export async function stateOf({ _id, ehr_id, latest_version_uid }: VersionedObjectDoc): Promise<JsonValue[]> {
  return [ehr_id, _id, latest_version_uid, await attestationCount(ehr_id, _id)];
}
