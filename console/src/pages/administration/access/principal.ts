import type { Principal } from '../../../api/access.js';

/** What is typed of somebody who asks. */
export interface PrincipalTexts {
  readonly sub: string;
  /** Between commas. */
  readonly roles: string;
  readonly organisation: string;
  readonly purpose: string;
  readonly ehr: string;
  readonly client: string;
}

/** Nobody is typed yet. */
export const NO_PRINCIPAL: PrincipalTexts = {
  sub: '',
  roles: '',
  organisation: '',
  purpose: '',
  ehr: '',
  client: '',
};

/** Whoever is not named is somebody all the same. */
const SOMEBODY = 'somebody';

/** Who asks, of what is typed: roles in upper case, as the server has them; what is empty he does not have. */
export function principalOf({ sub, roles, organisation, purpose, ehr, client }: PrincipalTexts): Principal {
  const claims = Object.entries({ organisation, purpose, ehr, client })
    .map(([name, text]) => [name, text.trim()] as const)
    .filter(([, text]) => text !== '');
  return {
    sub: sub.trim() || SOMEBODY,
    roles: [...new Set(roles.split(/[,\s]+/).map((role) => role.toUpperCase()))].filter(
      (role) => role !== '',
    ),
    ...Object.fromEntries(claims),
  };
}
