import { verifyStorage } from '../../change/verify.js';
import { responseBody } from '../../format/media-type.js';
import { writeText } from '../http/exchange.js';
import type { AdminOperation } from './operation.js';

/** Checking the stored data against its own rules. Contract, section 13 (own operation). */
export function adminVerifyOperations(): AdminOperation[] {
  return [
    {
      name: 'verify',
      method: 'post',
      path: '/verify',
      record: 'VerifyReport',
      neutral: { checked: {}, violations: [] },
      handle: async (ctx) => {
        const form = responseBody('json', ctx.get('Accept'));
        const { checked, violations } = await verifyStorage();
        ctx.status = 200;
        writeText(ctx, form, JSON.stringify({ checked, violations }));
      },
    },
  ];
}
