import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { canonicalText } from '../../openehr/base/jcs.js';
import { isJsonObject, jsonOf, type JsonObject } from '../../openehr/base/json.js';
import { withoutAttributes } from '../../openehr/rm/access.js';
import { keys } from '../../change/commit/key-ring.js';
import { openPrivate } from '../output.js';
import type { Target } from '../transfer/target.js';
import type { AnswerDigest } from './answer-digest.js';

/** What a migration or a comparison came to, for whoever asks later. docs/migration.md#the-proof */
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

/** How often it is looked whether everything is sealed, and how long apart, ms. */
const LOOKS = 60;
const APART_MS = 500;
/** What a report says of itself. */
const OWN = ['sha256', 'signature'];

/** The head of the seals of this server, once it holds everything; null without the permission `audit`, or where there is no administration. */
export async function sealHeadOf(target: Pick<Target, 'client' | 'settings'>): Promise<string | null> {
  for (let look = 1; ; look += 1) {
    const found = await headNow(target);
    if (found === null || found.unsealed === 0 || look === LOOKS) return found?.head ?? null;
    await pause(APART_MS);
  }
}

interface HeadNow {
  readonly head: string;
  /** Records that no block holds yet. */
  readonly unsealed: number;
}

async function headNow({ client, settings }: Pick<Target, 'client' | 'settings'>): Promise<HeadNow | null> {
  // In this process, whether or not it offers administration.
  if (settings !== null) {
    const { sealHead, sealNewRecords } = await import('../../maintenance/seal.js');
    const { formatSealHead } = await import('../../maintenance/seal-head.js');
    await sealNewRecords();
    const head = await sealHead();
    return { head: formatSealHead(head), unsealed: head.unsealed };
  }
  const { status, text } = await client.send('GET', '/rest/admin/seal', { isWhole: true });
  const value = status === 200 ? jsonOf(text) : null;
  if (!isJsonObject(value) || typeof value.head !== 'string') return null;
  return { head: value.head, unsealed: typeof value.unsealed === 'number' ? value.unsealed : 0 };
}

/** Writes a proof with its digest to a file of this user alone, signed where this process has a key that signs (`SIGNING=pgp`). */
export async function writeProof(file: string, proof: Proof): Promise<void> {
  // As it will be read.
  const text = canonicalText(jsonOf(JSON.stringify(proof)));
  const { ring } = keys;
  const signed = {
    ...proof,
    sha256: digestOf(text),
    ...(ring?.signs === true && { signature: await ring.sign(text) }),
  };
  writeFileSync(openPrivate(file, 'w'), `${JSON.stringify(signed, null, 2)}\n`);
}

/** What a report says that is what was written. */
interface CheckedProof {
  /** Heads of the seals that must be in the chain. */
  readonly heads: readonly string[];
  /** What the keys of this process tell of its signature. */
  readonly signature: 'absent' | 'verified' | 'unverifiable';
}

/** Reads a report and compares it with its digest and its signature. @throws Error when it is none, or not what was written */
export async function checkedProof(file: string): Promise<CheckedProof> {
  const proof = proofIn(file);
  const text = canonicalText(withoutAttributes(proof, OWN));
  if (proof.sha256 !== digestOf(text))
    throw new Error(`${file} is not what was written: it has another digest`);
  const { signature } = proof;
  const judged =
    typeof signature === 'string' ? ((await keys.ring?.judge(text, signature)) ?? 'unverifiable') : 'absent';
  if (judged === 'mismatched') throw new Error(`${file} is not what was signed`);
  const heads = [proof.seal_before, proof.seal_after].filter((head) => typeof head === 'string');
  return { heads, signature: judged };
}

function proofIn(file: string): JsonObject {
  const text = readFileSync(file, 'utf8');
  try {
    const value = jsonOf(text);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Error(`${file} is no report of a migration or a comparison`);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
