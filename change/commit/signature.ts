import { createHash } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { canonicalText } from '../../openehr/base/jcs.js';
import { jsonObjectOf } from '../../openehr/base/json.js';
import { withoutAttributes } from '../../openehr/rm/access.js';
import type { VersionDoc } from '../../models/version.js';
import { isOpenPgp, keys } from './key-ring.js';
import { originalVersionResource, resourceText } from './resource.js';

/** How a digest begins, which nobody writes by accident. */
const PREFIX = 'SHA-256/RFC8785:';
const DIGEST = /^SHA-256\/RFC8785:[0-9a-f]{64}$/;

/** What is known of the signature of a VERSION. */
type SignatureState = 'absent' | 'verified' | 'mismatched' | 'unverifiable';

/**
 * What is signed of a VERSION: its ORIGINAL_VERSION as RFC 8785 writes it, without `signature`, and without `attestations`, which
 * may be added later. docs/spec/storage.md#signatures
 */
export function signedText(version: VersionDoc): string {
  const resource = jsonObjectOf(resourceText(originalVersionResource(version)));
  return canonicalText(withoutAttributes(resource, ['signature', 'attestations']));
}

/** `SIGNING=digest` */
function digestOf(text: string): string {
  return PREFIX + createHash('sha256').update(text).digest('hex');
}

/**
 * Whether the signature of a VERSION is that of what it is now, which may be no JSON any more; nobody here can tell of one of another
 * form, or of a key that is not in the ring. `counting`: makes the text that is signed. @throws what `counting` does
 */
export async function signatureState(
  version: VersionDoc,
  counting: (text: () => string) => string = (text) => text(),
): Promise<SignatureState> {
  const { signature } = version;
  if (signature === undefined) return 'absent';
  const judge = judgeOf(signature);
  if (judge === null) return 'unverifiable';
  let text: string;
  try {
    text = counting(() => signedText(version));
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

/** The VERSION with its digest, or as it was signed. @throws unprocessable for a digest that is not its own */
export function signedVersion(version: VersionDoc): VersionDoc {
  const { signature } = version;
  if (signature === undefined) return { ...version, signature: digestOf(signedText(version)) };
  if (DIGEST.test(signature) && signature !== digestOf(signedText(version)))
    throw new CdrError('unprocessable', 'the signature is not the digest of the version that would be made');
  return version;
}
