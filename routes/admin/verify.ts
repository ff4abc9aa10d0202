import { verifyStorage } from '../../change/verify.js';
import { responseBody } from '../../format/media-type.js';
import { writeText } from '../http/exchange.js';
import type { Operation } from '../http/operation.js';
import { adminOperation } from './record.js';

/** Checking the stored data against its own rules. */
export function verifyOperation(): Operation {
  return adminOperation({
    id: 'verify',
    method: 'POST',
    path: '/verify',
    summary: 'Check the stored data against its own rules',
    responses: { 200: { description: 'What was found', body: { schema: 'VerifyReport', types: 'json' } } },
    errors: [409],
    failure: { root: 'VerifyReport', fields: { checked: {}, violations: [] } },
    handle: async (ctx) => {
      const form = responseBody('json', ctx.get('Accept'));
      const { checked, violations } = await verifyStorage();
      ctx.status = 200;
      writeText(ctx, form, JSON.stringify({ checked, violations }));
    },
  });
}
