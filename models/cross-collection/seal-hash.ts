import { hash } from 'node:crypto';
import mongoose from 'mongoose';
import type { AuditDoc } from '../audit.js';
import type { ContributionDoc } from '../contribution.js';
import type { EhrDoc } from '../ehr.js';
import type { RemovalDoc } from '../removal.js';
import type { VersionDoc } from '../version.js';

/** SHA-256 of nothing, in hexadecimal zeros: what the first block names as the one before it. */
export const NO_BLOCK = '0'.repeat(64);

const { EJSON } = mongoose.mongo.BSON;

/**
 * Text that two values share only when they mean the same: members by name, dates in milliseconds, no spaces. How
 * a document is laid out in the database, and the order of its fields, do not count.
 */
export function canonicalText(value: unknown): string {
  if (typeof value === 'string') return jsonText(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value ?? null);
  if (value instanceof Date) return `{"$date":${value.getTime()}}`;
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if ('_bsontype' in value || value instanceof Uint8Array) return EJSON.stringify(value, { relaxed: false });
  return membersText(value);
}

function membersText(value: object): string {
  let text = '';
  for (const name of Object.keys(value).sort()) {
    const member: unknown = value[name as keyof typeof value];
    if (member !== undefined) text += `${text === '' ? '' : ','}${jsonText(name)}:${canonicalText(member)}`;
  }
  return `{${text}}`;
}

/** A text as the database gives it back: half a surrogate pair, which JSON escapes, has no UTF-8 form. */
function jsonText(text: string): string {
  const json = JSON.stringify(text);
  return json.includes('\\ud') ? JSON.stringify(Buffer.from(text).toString()) : json;
}

/** SHA-256 of a CONTRIBUTION but for its owner, which a merge changes: the leaf names it. */
export function contributionLeaf(contribution: ContributionDoc): Buffer {
  return sha256(canonicalText(withoutFields(contribution, ['ehr_id', 'unsealed', 'leaves'])));
}

/**
 * SHA-256 of a VERSION with its first ATTESTATIONs, but for its owner and the mark of item tags. The content counts
 * by the bytes of its canonical text.
 */
export function versionLeaf(version: VersionDoc, attestations: number): Buffer {
  const data: unknown = version.data;
  return sha256(
    canonicalText({
      ...withoutFields(version, ['ehr_id', 'has_item_tags', 'attestations']),
      // Of another type only when somebody changed it by hand.
      data: typeof data === 'string' ? hash('sha256', data) : data,
      attestations: listOf(version.attestations).slice(0, attestations),
    }),
  );
}

/** SHA-256 of an audit record: of every field it has, so that new ones are sealed too. */
export function auditLeaf(record: AuditDoc): Buffer {
  return sha256(canonicalText(withoutFields(record, ['unsealed'])));
}

/** SHA-256 of what never changes of an EHR. */
export function ehrLeaf({ _id, system_id, time_created }: EhrDoc): Buffer {
  return sha256(canonicalText({ _id, system_id, time_created }));
}

/** SHA-256 of a record of removal. */
export function removalLeaf(removal: RemovalDoc): Buffer {
  return sha256(canonicalText(withoutFields(removal, ['unsealed'])));
}

/** A list as stored; empty when somebody put something else there. */
export function listOf<Item>(stored: readonly Item[] | undefined): readonly Item[] {
  const list: unknown = stored;
  return Array.isArray(list) ? (list as Item[]) : [];
}

function withoutFields(doc: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(doc).filter(([name]) => !names.includes(name)));
}

/**
 * Root of the Merkle tree over these texts, in their order, in hexadecimal; leaves and nodes are hashed with
 * different first characters, so that neither passes for the other, and a node is over the hexadecimal text of two.
 */
export function merkleRoot(texts: readonly string[]): string {
  let level = texts.map((text) => hash('sha256', `\u0000${text}`));
  while (level.length > 1) {
    const above: string[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const [left, right] = [level[index], level[index + 1]];
      if (left !== undefined)
        above.push(right === undefined ? left : hash('sha256', `\u0001${left}${right}`));
    }
    level = above;
  }
  return level[0] ?? hash('sha256', '');
}

/** SHA-256 of the UTF-8 bytes of a text. */
export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
