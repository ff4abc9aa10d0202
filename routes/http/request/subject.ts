import { CdrError } from '../../../openehr/base/errors.js';
import { mergesTookTo } from '../../../change/commit/ehr-access.js';
import type { Subject } from '../../../policy/subject.js';
import type { AuthenticatedUser, SubjectClaims } from './request-state.js';

/**
 * Who asks, as policies see him. The EHR of a patient is the one that merges took his to.
 * @throws unauthenticated where his token names an EHR that is not there
 */
export async function subjectOf(user: AuthenticatedUser | null): Promise<Subject> {
  if (user === null) return { sub: '', roles: [], scopes: [] };
  const { subject: sub, issuer, clientId, roles, claims } = user;
  const { organisation, purpose, scopes = [] } = claims ?? {};
  const ehr = await ownEhrOf(claims?.ehr);
  return {
    sub,
    ...(issuer !== null && { iss: issuer }),
    ...(clientId !== null && { client: clientId }),
    roles,
    ...(organisation !== undefined && { organisation }),
    ...(purpose !== undefined && { purpose }),
    ...(ehr !== null && { ehr }),
    scopes,
  };
}

async function ownEhrOf(named: SubjectClaims['ehr']): Promise<string | null> {
  if (named === undefined) return null;
  const ehr = await mergesTookTo(named.id);
  if (ehr === null) throw new CdrError('unauthenticated', `the claim ${named.claim} names no EHR`);
  return ehr;
}
