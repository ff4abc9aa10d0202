import { ambient } from '../../database/transaction.js';
import { isJsonObject } from '../../openehr/base/json.js';
import type { RequestIdentity } from '../../models/contribution.js';

declare module '../../database/transaction.js' {
  interface Ambient {
    /** Out of reach of what a request says of its committer. */
    readonly identity?: RequestIdentity;
  }
}

/** Runs the work of one request; each CONTRIBUTION that it makes is stored with this identity. */
export function withRequestIdentity<T>(identity: RequestIdentity, work: () => Promise<T>): Promise<T> {
  return ambient.run({ ...ambient.getStore(), identity }, work);
}

/** Who sent the running request; null outside of one, as in an import without a server. */
export function requestIdentity(): RequestIdentity | null {
  return ambient.getStore()?.identity ?? null;
}

const FIELDS = ['sub', 'iss', 'client_id', 'request_id'];

/** Whether a stored value is an identity: its request, and who sent it where that is known. */
export function isRequestIdentity(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const areTexts = Object.entries(value).every(
    ([name, text]) => FIELDS.includes(name) && typeof text === 'string' && text !== '',
  );
  // An issuer or an application without a user is nobody.
  const isSomebody = 'sub' in value || !('iss' in value || 'client_id' in value);
  return areTexts && 'request_id' in value && isSomebody;
}
