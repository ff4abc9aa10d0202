import { createHash } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { canonicalText } from '../../openehr/base/jcs.js';
import { jsonObjectOf } from '../../openehr/base/json.js';
import { objectAt, withoutAttributes } from '../../openehr/rm/access.js';
import type { OriginalItem, VersionDoc } from '../../models/version.js';
import { isOpenPgp, keys } from './key-ring.js';
import { itemResource, resourceText, versionResource, type Resource } from './resource.js';

/** How a digest begins, which nobody writes by accident. */
const PREFIX = 'SHA-256/RFC8785:';
const DIGEST = /^SHA-256\/RFC8785:[0-9a-f]{64}$/;

/** What is known of the signature of a VERSION. */
type SignatureState = 'absent' | 'verified' | 'mismatched' | 'unverifiable';

/**
 * What is signed of a VERSION: itself as RFC 8785 writes it, without `signature`, and without `attestations`, which may be added
 * later. docs/spec/storage.md#signatures
 */
export function signedText(version: VersionDoc): string {
  return signedTextOf(versionResource(version));
}

/** The same of the ORIGINAL_VERSION that an IMPORTED_VERSION holds. */
function signedItemText(version: VersionDoc, item: OriginalItem): string {
  return signedTextOf(itemResource(version, item));
}

function signedTextOf(resource: Resource): string {
  const signed = withoutAttributes(jsonObjectOf(resourceText(resource)), ['signature', 'attestations']);
  const item = objectAt(signed, 'item');
  return canonicalText(
    item === undefined ? signed : { ...signed, item: withoutAttributes(item, ['attestations']) },
  );
}

/** `SIGNING=digest` */
function digestOf(text: string): string {
  return PREFIX + createHash('sha256').update(text).digest('hex');
}

/** What makes the text that is signed, counting what it takes. */
type Counting = (text: () => string) => string;

/**
 * Whether the signature of a VERSION is that of what it is now, which may be no JSON any more; nobody here can tell of one of another
 * form, or of a key that is not in the ring. Of an IMPORTED_VERSION with that of its `item`: the worse of both.
 * @throws what `counting` does
 */
export async function signatureState(
  version: VersionDoc,
  counting: Counting = (text) => text(),
): Promise<SignatureState> {
  const own = await stateOf(version.signature, () => counting(() => signedText(version)));
  return version.item === undefined
    ? own
    : worseOf(own, await itemSignatureState(version, version.item, counting));
}

/** The same of the `item` of an IMPORTED_VERSION alone. */
export function itemSignatureState(
  version: VersionDoc,
  item: OriginalItem,
  counting: Counting = (text) => text(),
): Promise<SignatureState> {
  return stateOf(item.signature, () => counting(() => signedItemText(version, item)));
}

const FROM_WORST: readonly SignatureState[] = ['mismatched', 'unverifiable', 'verified', 'absent'];

function worseOf(...states: readonly SignatureState[]): SignatureState {
  return FROM_WORST.find((state) => states.includes(state)) ?? 'absent';
}

async function stateOf(signature: string | undefined, signed: () => string): Promise<SignatureState> {
  if (signature === undefined) return 'absent';
  const judge = judgeOf(signature);
  if (judge === null) return 'unverifiable';
  let text: string;
  try {
    text = signed();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return 'mismatched';
    throw error;
  }
  return judge(text);
}

/** Who can tell whether a signature is that of a text; null: nobody here. */
function judgeOf(signature: string): ((text: string) => SignatureState | Promise<SignatureState>) | null {
  if (DIGEST.test(signature)) return (text) => (signature === digestOf(text) ? 'verified' : 'mismatched');
  const { ring } = keys;
  return ring === null || !isOpenPgp(signature) ? null : (text) => ring.judge(text, signature);
}

/** @throws unprocessable for a digest that is not that of the `item` */
export function requireItemDigest(version: VersionDoc, item: OriginalItem): void {
  const { signature } = item;
  if (signature === undefined || !DIGEST.test(signature)) return;
  if (signature !== digestOf(signedItemText(version, item)))
    throw new CdrError('unprocessable', 'the signature of the item is not the digest of what it is');
}

/** The VERSION with its digest, or as it was signed. @throws unprocessable for a digest that is not its own */
export function signedVersion(version: VersionDoc): VersionDoc {
  const { signature } = version;
  if (signature === undefined) return { ...version, signature: digestOf(signedText(version)) };
  if (DIGEST.test(signature) && signature !== digestOf(signedText(version)))
    throw new CdrError('unprocessable', 'the signature is not the digest of the version that would be made');
  return version;
}
