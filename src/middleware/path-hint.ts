/** The administration API as the development version of ITS-REST has it, with or without `BASE_PATH`. */
const STANDARD_ADMIN = /(?:^|\/)v1\/admin(?:\/|$)/;
const ALL_EHRS = /\/admin\/ehr\/(?:all|list|search)\/?$/i;

/**
 * What probably was meant by an address that nothing answers, as it follows the message; '' for nothing. It depends on
 * the address alone, so that nobody learns by it what a server has switched on or holds.
 */
export function pathHint(path: string): string {
  if (STANDARD_ADMIN.test(path)) return '; the administration API of this server is below /rest/admin';
  if (ALL_EHRS.test(path)) return '; no operation is about all EHRs: each is named by its ehr_id';
  return '';
}
