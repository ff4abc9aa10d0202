import type { JwtPayload } from 'jsonwebtoken';
import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonValue } from '../../openehr/base/json.js';
import type { TokenActor } from '../../routes/http/request/request-state.js';

/**
 * Who acts for the user of a token, by its claim `act` (RFC 8693, 4.1); the one who acts now, not those before him. Undefined
 * where it says nothing. docs/access-log.md#the-record
 * @throws unauthenticated where it names nobody: who acts must be known
 */
export function actorOf({ act }: JwtPayload): TokenActor | undefined {
  const claim = act as JsonValue | undefined;
  if (claim === undefined || claim === null) return undefined;
  const subject = isJsonObject(claim) ? (textOf(claim['sub']) ?? textOf(claim['client_id'])) : undefined;
  if (!isJsonObject(claim) || subject === undefined)
    throw new CdrError('unauthenticated', 'the claim act names nobody: sub is required');
  const issuer = textOf(claim['iss']);
  return { subject, ...(issuer !== undefined && { issuer }) };
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
