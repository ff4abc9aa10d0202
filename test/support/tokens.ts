import jwt from 'jsonwebtoken';
import type { Settings } from '../../config/settings.js';
import { loadConfig } from '../../src/settings/config.js';

const SECRET = 'a-secret-of-at-least-thirty-two-bytes!';

/** Settings of a server with a key and the administration API. */
export const WITH_ADMIN: Pick<Settings, 'jwt' | 'adminApiActive'> = {
  jwt: loadConfig({ JWT_SECRET: SECRET }).jwt,
  adminApiActive: true,
};

/** Seconds: longer than a law runs in full. */
const LASTING = 36_000;

/** An `Authorization` header of a user with these roles. `issuer`: who says so; absent: nobody is named. */
export function bearer(roles: readonly string[], name = 'ada', expiresIn = LASTING, issuer?: string): string {
  const said = { subject: name, expiresIn, ...(issuer !== undefined && { issuer }) };
  return `Bearer ${jwt.sign({ preferred_username: name, roles }, SECRET, said)}`;
}

/** Header of an administrator. */
export const ADMIN = bearer(['ADMIN'], 'root-admin');

/** Header of a user without the admin role. */
export const USER = bearer(['USER'], 'ada');
