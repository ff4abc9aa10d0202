import type { RequestListener } from 'node:http';
import request, { type Test } from 'supertest';
import { ROOT } from './marks.js';

/** A category as it is sent. */
export interface SentCategory {
  readonly name: string;
  readonly templates?: readonly string[];
  readonly archetypes?: readonly string[];
}

/** Replaces the map of categories, as an administrator does. */
export function putCategories(app: RequestListener, categories: readonly SentCategory[], token = ROOT): Test {
  return request(app).put('/rest/admin/categories').set('Authorization', token).send({ categories });
}
