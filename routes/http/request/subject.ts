import { CdrError } from '../../../openehr/base/errors.js';
import { mergesTookTo } from '../../../change/commit/ehr-access.js';
import type { Subject } from '../../../policy/subject.js';
import type { AuthenticatedUser, ClaimedEhr } from './request-state.js';

/**
 * Who asks, as policies see him. EHRs are the ones that merges took them to.
 * @throws unauthenticated where his token names an EHR that is not there
 */
export async function subjectOf(user: AuthenticatedUser | null): Promise<Subject> {
  if (user === null) return { sub: '', roles: [], scopes: [] };
  const { subject: sub, issuer, clientId, roles, claims } = user;
  const { organisation, purpose, scopes = [] } = claims ?? {};
  const ehr = await standingEhr(claims?.ehr);
  const openedFor = await standingEhr(claims?.openedFor);
  return {
    sub,
    ...(issuer !== null && { iss: issuer }),
    ...(clientId !== null && { client: clientId }),
    roles,
    ...(organisation !== undefined && { organisation }),
    ...(purpose !== undefined && { purpose }),
    ...(ehr !== null && { ehr }),
    ...(openedFor !== null && { openedFor }),
    scopes,
  };
}

async function standingEhr(named: ClaimedEhr | undefined): Promise<string | null> {
  if (named === undefined) return null;
  const ehr = await mergesTookTo(named.id);
  if (ehr === null) throw new CdrError('unauthenticated', `the claim ${named.claim} names no EHR`);
  return ehr;
}
