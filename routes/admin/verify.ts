import type { Context } from 'koa';
import { formatUtc } from '../../openehr/base/iso8601.js';
import { sealHead } from '../../maintenance/seal.js';
import { formatSealHead } from '../../maintenance/seal-head.js';
import { verifyStorage } from '../../maintenance/verify.js';
import { responseBody } from '../http/negotiation/media-type.js';
import { writeText } from '../http/exchange.js';
import type { Operation } from '../http/operation/operation.js';
import { queryParameter } from '../http/parameter-values.js';
import { adminOperation } from './record.js';

/** Checking the stored data against its own rules, and the newest seal, to be kept elsewhere. */
export function verifyOperations(): Operation[] {
  return [
    adminOperation({
      id: 'verify',
      discloses: 'whole',
      method: 'POST',
      path: '/verify',
      summary: 'Check the stored data against its own rules and its seals',
      parameters: ['since'],
      responses: { 200: { description: 'What was found', body: { schema: 'VerifyReport', types: 'json' } } },
      errors: [400, 409],
      failure: { root: 'VerifyReport', fields: { checked: {}, violations: [] } },
      handle: verify,
    }),
    adminOperation({
      id: 'getSeal',
      discloses: 'whole',
      method: 'GET',
      path: '/seal',
      summary: 'Get the head of the seals, to be kept where nobody who can write to the database can',
      access: 'audit',
      responses: { 200: { description: 'The newest block', body: { schema: 'SealHead', types: 'json' } } },
      failure: { root: 'SealHead', fields: {} },
      handle: getSeal,
    }),
  ];
}

async function verify(ctx: Context): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const since = queryParameter(ctx, 'since');
  const report = await verifyStorage(undefined, since === null ? [] : [since]);
  ctx.status = 200;
  writeText(ctx, form, JSON.stringify(report));
}

async function getSeal(ctx: Context): Promise<void> {
  const form = responseBody('json', ctx.get('Accept'));
  const seal = await sealHead();
  const { block, hash, time, records, unsealed, pending } = seal;
  const fields = { head: formatSealHead(seal), block, hash, records, unsealed, pending };
  ctx.status = 200;
  writeText(ctx, form, JSON.stringify({ ...fields, ...(time !== null && { time: formatUtc(time) }) }));
}
