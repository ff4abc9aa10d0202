import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import jwt from 'jsonwebtoken';

const KEY_ID = 'first';
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** An identity provider that signs tokens for many applications with one key. */
export interface IdentityProvider {
  /** Address of its key set. */
  readonly keys: string;
  readonly issuer: string;
  /** An `Authorization` header with a token that has these claims; undefined takes a usual one away. */
  bearer(claims?: Readonly<Record<string, unknown>>, header?: Readonly<Record<string, unknown>>): string;
  close(): Promise<void>;
}

/** Starts a provider on a free port of this machine. */
export async function startIdentityProvider(audience: string): Promise<IdentityProvider> {
  const set = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig' }] };
  const server = createServer((_, response) => response.end(JSON.stringify(set)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const usual = { iss: issuer, aud: audience, sub: 'user-1', azp: 'app-1', preferred_username: 'bob' };
  return {
    keys: `${issuer}/keys`,
    issuer,
    bearer: (claims = {}, header = {}) => {
      const times = { iat: Math.floor(Date.now() / 1000), exp: Math.floor(Date.now() / 1000) + 60 };
      const payload: Record<string, unknown> = { ...usual, ...times, roles: ['USER'], ...claims };
      const kept = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
      return `Bearer ${signed(kept, { alg: 'RS256', typ: 'JWT', kid: KEY_ID, ...header })}`;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** By hand below the checks of the library, which does not sign what a broken or hostile provider would. */
function signed(payload: object, header: object): string {
  const text = JSON.stringify(payload);
  return jwt.sign(text, privateKey, { algorithm: 'RS256', header: header as jwt.JwtHeader });
}
