import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import type { Administrator } from '../../models/waiting-request.js';

/** Who asks for, or confirms, what takes two persons. @throws unauthenticated without an identity */
export function administratorOf(ctx: Context): Administrator {
  const { user } = ctx.state;
  if (user === null) throw new CdrError('unauthenticated', 'what takes two persons is done by somebody');
  const { name, subject: sub, issuer, person } = user;
  return { name, sub, ...(issuer !== null && { iss: issuer }), ...(person !== null && { person }) };
}
