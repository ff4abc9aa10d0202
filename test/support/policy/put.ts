import type { RequestListener } from 'node:http';
import request, { type Test } from 'supertest';
import { ADMIN } from '../tokens.js';

/** Stores a text as the newest version of a policy, as an administrator does. */
export function putPolicy(app: RequestListener, id: string, text: string, token = ADMIN): Test {
  return request(app)
    .put(`/rest/admin/policies/${id}`)
    .set({ Authorization: token, 'Content-Type': 'text/plain' })
    .send(text);
}

/** Stores several, each under its id. */
export async function putPolicies(
  app: RequestListener,
  policies: Readonly<Record<string, string>>,
  token = ADMIN,
): Promise<void> {
  for (const [id, text] of Object.entries(policies)) await putPolicy(app, id, text, token).expect(200);
}
