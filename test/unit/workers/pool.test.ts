import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from '@jest/globals';
import { CdrError } from '../../../openehr/base/errors.js';
import {
  parseLarge,
  readLargeComposition,
  closePool,
  MAX_WAITING_BODIES,
  MAX_WORKER_THREADS,
} from '../../../workers/large-body.js';
import { Work } from '../../../openehr/base/work.js';
import { testSettings } from '../../support/settings.js';
import { arraysOf } from '../../support/large-bodies.js';

const { work: budget } = testSettings();
const work = (): Work => new Work({ ...budget, timeMs: 60_000 }, () => performance.now());
const owner = (user: string) => ({ user, end: new AbortController().signal, work: work() });
const json = (text: string, maxNodes = 1000, user = 'a user') =>
  parseLarge({ text, isXml: false, declaredType: '', maxNodes }, owner(user));

/** A thread without work ends after 30 s. */
const LESS_THAN_IDLE_MS = 20_000;

afterAll(closePool);

describe('a body read in another thread', () => {
  it('is the one that was given', async () => {
    const text = '\ufeff{"a":[1,-0.5,1e2,true,null,"\\u005f é 😀"],"b":{"__proto":{}}}';
    expect(await json(text)).toEqual(JSON.parse(text.slice(1)));
  });

  it('is refused as it would be here', async () => {
    await expect(json(arraysOf(1001))).rejects.toMatchObject({
      code: 'too-large',
      message:
        'the JSON has more than 1000 nodes (objects, arrays and values; MAX_BODY_NODES): send less at a time',
    });
    await expect(
      readLargeComposition({ json: '{"_type":"COMPOSITION","colour":1}' }, owner('a user')),
    ).rejects.toMatchObject({
      code: 'invalid',
      message: '/colour: Attribute colour of class COMPOSITION is not known',
      details: { violations: [{ path: '/colour', code: 'unknown-attribute', found: 'colour' }] },
    });
  });

  it('counts on the budget of its request, whatever is made of it', async () => {
    const who = owner('a user');
    const body = { text: arraysOf(500), isXml: false, declaredType: '', maxNodes: 1000 };
    await parseLarge(body, who);
    expect(who.work.used.steps).toBeGreaterThan(500);
    const few = new Work({ ...budget, steps: 100, timeMs: 60_000 }, () => performance.now());
    await expect(parseLarge(body, { ...who, work: few })).rejects.toMatchObject({
      details: { budget: { name: 'steps', limit: 100 } },
    });
    const xml = { ...body, text: `<composition>${'<links/>'.repeat(200)}</composition>`, isXml: true };
    await expect(
      parseLarge({ ...xml, declaredType: 'COMPOSITION' }, { ...who, work: few }),
    ).rejects.toMatchObject({
      details: { budget: { name: 'steps' } },
    });
  });

  it('waits for a thread, but not with too many others', async () => {
    const most = MAX_WORKER_THREADS - 1 + MAX_WAITING_BODIES;
    const all = await Promise.allSettled(Array.from({ length: most + 3 }, () => json('[1]')));
    const refused = all.filter((one) => one.status === 'rejected');
    expect(refused.map(({ reason }) => (reason as CdrError).code)).toEqual(Array(3).fill('unavailable'));
    expect(await json('[2]')).toEqual([2]);
  });

  it('does not wait for all the bodies of one user', async () => {
    // Both threads have started.
    await Promise.all(['one', 'another'].map((user) => json('[1]', 1000, user)));
    const order: string[] = [];
    const said = async (user: string, text: string): Promise<void> => {
      await json(text, 200_000, user);
      order.push(user);
    };
    const long = arraysOf(100_000);
    const many = Array.from({ length: 20 }, () => said('who sends many', long));
    await Promise.all([...many, said('another', '[1]')]);
    expect(order.indexOf('another')).toBeLessThan(10);
  });

  it('is given up with its request', async () => {
    const leaving = new AbortController();
    const reason = new CdrError('timeout', 'the client left');
    const read = parseLarge(
      { text: arraysOf(1000), isXml: false, declaredType: '', maxNodes: 1000 },
      { ...owner('a user'), end: leaving.signal },
    );
    leaving.abort(reason);
    await expect(read).rejects.toBe(reason);
  });

  it('ends its thread with its request, long before an idle one ends', async () => {
    await closePool();
    const ended: Promise<unknown>[] = [];
    const onThread = (message: unknown): void => {
      ended.push(once((message as { worker: Worker }).worker, 'exit'));
    };
    subscribe('worker_threads', onThread);
    try {
      await json('[1]');
      const leaving = new AbortController();
      const body = { text: arraysOf(2_000_000), isXml: false, declaredType: '', maxNodes: 3_000_000 };
      const read = parseLarge(body, { ...owner('a user'), end: leaving.signal });
      // It has begun, and is far from its end.
      await pause(20);
      leaving.abort(new CdrError('timeout', 'the client left'));
      await expect(read).rejects.toMatchObject({ message: 'the client left' });
      const isEnded = Promise.all(ended).then(() => 'ended');
      expect(await Promise.race([isEnded, pause(LESS_THAN_IDLE_MS, 'still there', { ref: false })])).toBe(
        'ended',
      );
    } finally {
      unsubscribe('worker_threads', onThread);
    }
  });

  it('is read after the pool was closed, too', async () => {
    await closePool();
    expect(await json('[3]')).toEqual([3]);
  });
});
