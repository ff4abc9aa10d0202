import type { RequestListener } from 'node:http';
import request from 'supertest';
import { ADMIN } from '../tokens.js';

/** Stores policies, each under its id, as an administrator does. */
export async function putPolicies(
  app: RequestListener,
  policies: Readonly<Record<string, string>>,
  token = ADMIN,
): Promise<void> {
  for (const [id, text] of Object.entries(policies))
    await request(app)
      .put(`/rest/admin/policies/${id}`)
      .set({ Authorization: token, 'Content-Type': 'text/plain' })
      .send(text)
      .expect(200);
}
