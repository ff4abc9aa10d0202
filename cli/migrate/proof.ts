import { writeFileSync } from 'node:fs';
import { isJsonObject, jsonOf, type JsonValue } from '../../openehr/base/json.js';
import { openPrivate } from '../output.js';
import type { Target } from '../transfer/target.js';
import type { AnswerDigest } from './old-server.js';

/** What a migration or a comparison came to, for whoever asks later. */
export interface Proof {
  readonly kind: 'migration' | 'comparison';
  /** When it began and ended. */
  readonly from: string;
  readonly to: string;
  /** Heads of the seals of this server before and after; null: whoever asked may not see them. */
  readonly seal_before: string | null;
  readonly seal_after: string | null;
  /** The other server, and the digest of everything that it answered. */
  readonly other: string;
  readonly answers: AnswerDigest;
  /** Counts, causes and differences, by kind. */
  readonly result: Readonly<Record<string, unknown>>;
}

/** The head of the seals of this server; null without the permission `audit`, or where there is no administration. */
export async function sealHeadOf({
  client,
  settings,
}: Pick<Target, 'client' | 'settings'>): Promise<string | null> {
  // In this process, whether or not it offers administration.
  if (settings !== null) {
    const { sealHead } = await import('../../maintenance/seal.js');
    const { formatSealHead } = await import('../../maintenance/seal-head.js');
    return formatSealHead(await sealHead());
  }
  const { status, text } = await client.send('GET', '/rest/admin/seal', { isWhole: true });
  const value: JsonValue = status === 200 ? jsonOf(text) : null;
  return isJsonObject(value) && typeof value.head === 'string' ? value.head : null;
}

/** Writes a proof to a file of this user alone. */
export function writeProof(file: string, proof: Proof): void {
  writeFileSync(openPrivate(file, 'w'), `${JSON.stringify(proof, null, 2)}\n`);
}
