const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const OID = /^\d{1,40}(?:\.\d{1,40})*$/;
const INTERNET_ID = /^[a-z](?:[\w-]{0,62}\.){0,30}[\w-]{0,62}$/i;

/** Whether the text is a UUID. BASE: UUID. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Whether the text is an ISO object identifier. BASE: ISO_OID. */
export function isOid(text: string): boolean {
  return OID.test(text);
}

/** Whether the text is a reverse domain name. BASE: INTERNET_ID. */
export function isInternetId(text: string): boolean {
  return text.length <= 256 && INTERNET_ID.test(text);
}
