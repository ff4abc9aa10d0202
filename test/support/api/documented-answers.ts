import { afterAll, expect } from '@jest/globals';
import type { Context, Middleware, Next } from 'koa';
import { documentedStatuses } from '../../../routes/http/openapi-document.js';

/** A defect of the server, or of its database: no client can be written for it. */
const DEFECT = 500;

/** What applications of this file answered beyond what their documents say. */
const undocumented = new Set<string>();

/** `TEST_STATUSES=1 npm test`: a law of every test over HTTP, an operation answers what its row documents and nothing else. */
if (process.env['TEST_STATUSES'] !== undefined)
  afterAll(() => {
    expect([...undocumented]).toEqual([]);
  });

/** Notes each status that an operation answers and does not document; around everything that can answer. */
export function documentedAnswers(): Middleware {
  return async (ctx: Context, next: Next) => {
    ctx.res.once('finish', () => {
      const operation = ctx.state.matched?.operation;
      const { statusCode: status } = ctx.res;
      if (operation === undefined || operation.isDocumented === false || status === DEFECT) return;
      if (!documentedStatuses(operation).includes(status)) undocumented.add(`${operation.id} ${status}`);
    });
    await next();
  };
}
