import { createHash } from 'node:crypto';
import { CdrError } from '../../openehr/base/errors.js';
import { canonicalText } from '../../openehr/base/jcs.js';
import { jsonObjectOf } from '../../openehr/base/json.js';
import { withoutAttributes } from '../../openehr/rm/access.js';
import type { VersionDoc } from '../../models/version.js';
import { originalVersionResource, resourceText } from './resource.js';

/** How a digest begins, which nobody writes by accident. */
const PREFIX = 'SHA-256/RFC8785:';
const DIGEST = /^SHA-256\/RFC8785:[0-9a-f]{64}$/;

/** What is known of the signature of a VERSION. */
type SignatureState = 'absent' | 'verified' | 'mismatched' | 'unverifiable';

/**
 * The digest of a VERSION (`SIGNING=digest`): of its ORIGINAL_VERSION as RFC 8785 writes it, without `signature`, and without
 * `attestations`, which may be added later. docs/spec/storage.md#signatures
 */
function digestOf(version: VersionDoc): string {
  const resource = jsonObjectOf(resourceText(originalVersionResource(version)));
  const signed = canonicalText(withoutAttributes(resource, ['signature', 'attestations']));
  return PREFIX + createHash('sha256').update(signed).digest('hex');
}

/**
 * Whether the signature of a VERSION is that of what it is now, which may be no JSON any more; nobody here can tell of one of another
 * form. @throws as `step`
 */
export function signatureState(version: VersionDoc): SignatureState {
  if (version.signature === undefined) return 'absent';
  if (!DIGEST.test(version.signature)) return 'unverifiable';
  try {
    return version.signature === digestOf(version) ? 'verified' : 'mismatched';
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return 'mismatched';
    throw error;
  }
}

/** The VERSION signed by the server, or as the client signed it. @throws unprocessable for a digest that is not its own */
export function signedVersion(version: VersionDoc): VersionDoc {
  if (version.signature === undefined) return { ...version, signature: digestOf(version) };
  if (signatureState(version) === 'mismatched')
    throw new CdrError('unprocessable', 'the signature is not the digest of the version that would be made');
  return version;
}
