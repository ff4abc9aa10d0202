import { Schema } from 'mongoose';

/**
 * Something that names the patient and may stand in another EHR too: the id of the subject in whatever namespace, or a
 * DV_IDENTIFIER of `EHR_STATUS.other_details`. docs/spec/merge.md#candidates
 */
export interface Identity {
  /** `subject:` or `identifier:`, and the id: what the index finds. */
  readonly key: string;
  readonly issuer?: string;
  readonly assigner?: string;
  readonly type?: string;
}

/** UTF-8 bytes of an id that is kept as an identity: a longer one is none. */
export const MAX_IDENTITY_BYTES = 200;

/** `key` of an identity. */
export function identityKey(kind: 'subject' | 'identifier', id: string): string {
  return `${kind}:${id}`;
}

/** An identity inside an EHR document; `type` is a field of it. */
export const identitySchema = new Schema<Identity>(
  { key: String, issuer: String, assigner: String, type: String },
  { _id: false, id: false, typeKey: '$type' },
);
