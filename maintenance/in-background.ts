import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { CdrError } from '../openehr/base/errors.js';

/** Where no request is: what goes on behind one must not be recorded as a part of it. */
const outside = AsyncLocalStorage.snapshot();

/** How long after the death of who was at a job another process may go on with it, ms. */
export const JOB_LEASE_MS = 10_000;
/** As often, and as long, who shall go on tries to. */
const TRIES = 15;
const BETWEEN_TRIES_MS = 1_000;

/** Carries a job on behind the request, as soon as nobody else is at it, which it says by a conflict; it notes itself what stops it. */
export function inBackground(job: () => Promise<void>): void {
  outside(() => {
    carryOn(job).catch(() => undefined);
  });
}

async function carryOn(job: () => Promise<void>): Promise<void> {
  for (let tries = 1; tries < TRIES; tries += 1)
    try {
      await job();
      return;
    } catch (error) {
      if (!(error instanceof CdrError) || error.code !== 'conflict') throw error;
      await setTimeout(BETWEEN_TRIES_MS);
    }
}
