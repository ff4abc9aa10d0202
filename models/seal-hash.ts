import { createHash } from 'node:crypto';
import mongoose from 'mongoose';
import type { AuditDoc } from './audit.js';
import type { ContributionDoc } from './contribution.js';
import type { RemovalDoc } from './removal.js';
import type { VersionDoc } from './version.js';

/** SHA-256 of nothing, in hexadecimal zeros: what the first block names as the one before it. */
export const NO_BLOCK = '0'.repeat(64);

const { EJSON } = mongoose.mongo.BSON;

/**
 * Text that two values share only when they mean the same: members by name, dates in milliseconds, no spaces. How
 * a document is laid out in the database, and the order of its fields, do not count.
 */
export function canonicalText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(stored(value));
  if (value === null || typeof value !== 'object') return JSON.stringify(value ?? null);
  if (value instanceof Date) return `{"$date":${value.getTime()}}`;
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if ('_bsontype' in value || value instanceof Uint8Array) return EJSON.stringify(value, { relaxed: false });
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${canonicalText(name)}:${canonicalText(member)}`);
  return `{${members.join(',')}}`;
}

/** A text as the database gives it back: half a surrogate pair has no UTF-8 form. */
function stored(text: string): string {
  return /\p{Surrogate}/u.test(text) ? Buffer.from(text).toString() : text;
}

/** SHA-256 of a CONTRIBUTION but for its owner, which a merge changes. */
export function contributionLeaf(contribution: ContributionDoc): Buffer {
  return sha256(canonicalText(without(contribution, ['ehr_id', 'unsealed', 'leaves'])));
}

/**
 * SHA-256 of a VERSION with its first ATTESTATIONs, but for its owner and the mark of item tags. The content counts
 * by the bytes of its canonical text.
 */
export function versionLeaf(version: VersionDoc, attestations: number): Buffer {
  const data: unknown = version.data;
  return sha256(
    canonicalText({
      ...without(version, ['ehr_id', 'has_item_tags', 'attestations']),
      // Of another type only when somebody changed it by hand.
      data: typeof data === 'string' ? sha256(data).toString('hex') : data,
      attestations: listOf(version.attestations).slice(0, attestations),
    }),
  );
}

/** SHA-256 of an audit record: of every field it has, so that new ones are sealed too. */
export function auditLeaf(record: AuditDoc): Buffer {
  return sha256(canonicalText(without(record, ['unsealed'])));
}

/** SHA-256 of a record of removal. */
export function removalLeaf(removal: RemovalDoc): Buffer {
  return sha256(canonicalText(without(removal, ['unsealed'])));
}

/** A list as stored; empty when somebody put something else there. */
export function listOf<Item>(stored: readonly Item[] | undefined): readonly Item[] {
  const list: unknown = stored;
  return Array.isArray(list) ? (list as Item[]) : [];
}

function without(doc: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(doc).filter(([name]) => !names.includes(name)));
}

/**
 * Root of the Merkle tree over these texts, in their order, in hexadecimal; leaves and nodes are hashed with
 * different first bytes, so that neither passes for the other. RFC 9162, section 2.1.
 */
export function merkleRoot(texts: readonly string[]): string {
  let level = texts.map((text) => sha256('\u0000', text));
  while (level.length > 1) {
    const above: Buffer[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const [left, right] = [level[index], level[index + 1]];
      if (left !== undefined) above.push(right === undefined ? left : sha256('\u0001', left, right));
    }
    level = above;
  }
  return (level[0] ?? sha256()).toString('hex');
}

/** SHA-256 of parts one after another; text counts by its UTF-8 bytes. */
export function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
