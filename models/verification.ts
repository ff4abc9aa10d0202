import { COLLECTIONS } from './access/layout.js';
import { documents } from './access/documents.js';

/** A check of all that is stored, which has ended. */
interface Verification {
  readonly at: Date;
  /** How many it found. */
  readonly violations: number;
}

const ID = 'verified';
const verifications = () => documents<Verification & { readonly _id: string }>(COLLECTIONS.settings);

/** Keeps what a check came to, in place of the one before. */
export async function saveVerification({ at, violations }: Verification): Promise<void> {
  await verifications().updateOne({ _id: ID }, { $set: { at, violations } }, { upsert: true });
}

/** The check that ended last, in whichever process; null: none did. */
export function lastVerification(): Promise<Verification | null> {
  return verifications().findOne({ _id: ID });
}
