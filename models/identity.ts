import { optional, text, type DocumentOf } from './access/collection.js';

/**
 * Something that names the patient and may stand in another EHR too: the id of the subject in whatever namespace, or a
 * DV_IDENTIFIER of `EHR_STATUS.other_details`. docs/spec/merge.md#candidates
 */
export const IDENTITY = {
  /** `subject:` or `identifier:`, and the id: what the index finds. */
  key: text,
  issuer: optional(text),
  assigner: optional(text),
  type: optional(text),
};

/**
 * Something that names the patient and may stand in another EHR too: the id of the subject in whatever namespace, or a
 * DV_IDENTIFIER of `EHR_STATUS.other_details`. docs/spec/merge.md#candidates
 */
export type Identity = DocumentOf<typeof IDENTITY>;

/** UTF-8 bytes of an id that is kept as an identity: a longer one is none. */
export const MAX_IDENTITY_BYTES = 200;

/** `key` of an identity. */
export function identityKey(kind: 'subject' | 'identifier', id: string): string {
  return `${kind}:${id}`;
}
