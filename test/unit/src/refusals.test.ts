import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { AuditDoc } from '../../../models/audit.js';
import { createLogger } from '../../../src/logger.js';
import { MAX_REFUSED_ADDRESSES, Refusals, REFUSALS_PER_MINUTE } from '../../../src/middleware/audit.js';

const MINUTE_MS = 60_000;

let written: AuditDoc[] = [];
let refusals: Refusals;

beforeEach(() => {
  jest.useFakeTimers();
  written = [];
  refusals = new Refusals(createLogger('silent'), (record) => {
    written.push(record);
    return Promise.resolve();
  });
});
afterEach(() => {
  jest.useRealTimers();
});

async function refuse(address: string, times = 1, requester = address): Promise<void> {
  const about = { user: 'anonymous', address, operation: 'ehr_get_by_id', status: 401, request_id: 'r' };
  for (let i = 0; i < times; i++)
    await refusals.note(requester, () => ({ _id: `${address} ${i}`, time: new Date(), ...about }));
}

it('records some refusals of an address in a minute, at its end the number of the others', async () => {
  await refuse('10.0.0.1', REFUSALS_PER_MINUTE + 5);
  await refuse('10.0.0.2');
  expect(written).toHaveLength(REFUSALS_PER_MINUTE + 1);
  jest.advanceTimersByTime(MINUTE_MS);
  expect(written.slice(REFUSALS_PER_MINUTE + 1)).toMatchObject([
    { address: '10.0.0.1', status: 401, options: { suppressed: 5 } },
  ]);
  expect(new Set(written.map(({ _id }) => _id)).size).toBe(written.length);
});

it('begins anew after the minute, and counts nothing where nothing was left out', async () => {
  await refuse('10.0.0.1', REFUSALS_PER_MINUTE);
  jest.advanceTimersByTime(MINUTE_MS);
  await refuse('10.0.0.1', REFUSALS_PER_MINUTE);
  expect(written).toHaveLength(2 * REFUSALS_PER_MINUTE);
});

it('counts the refusals of somebody who is known together, wherever he sends them from', async () => {
  for (let i = 0; i < 3 * REFUSALS_PER_MINUTE; i++) await refuse(`10.0.0.${i}`, 1, 'ada');
  await refuse('10.0.0.1', 1, 'bob');
  expect(written).toHaveLength(REFUSALS_PER_MINUTE + 1);
  jest.advanceTimersByTime(MINUTE_MS);
  expect(written.at(-1)).toMatchObject({ options: { suppressed: 2 * REFUSALS_PER_MINUTE } });
});

it('counts many addresses together, so that its memory stays bounded', async () => {
  for (let i = 0; i < 2 * MAX_REFUSED_ADDRESSES; i++) await refuse(`10.0.${i >> 8}.${i & 255}`);
  expect(written).toHaveLength(MAX_REFUSED_ADDRESSES + REFUSALS_PER_MINUTE);
});

it('lets a refusal pass that cannot be recorded', async () => {
  refusals = new Refusals(createLogger('silent'), () => Promise.reject(new Error('the database is away')));
  await expect(refuse('10.0.0.1')).resolves.toBeUndefined();
});
