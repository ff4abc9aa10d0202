import { afterAll, describe, expect, it } from '@jest/globals';
import type { CdrError } from '../../../openehr/base/errors.js';
import {
  parseLarge,
  readLargeComposition,
  closePool,
  MAX_WAITING_BODIES,
  MAX_WORKER_THREADS,
} from '../../../workers/large-body.js';
import { arraysOf } from '../../support/large-bodies.js';

const json = (text: string, maxNodes = 1000) =>
  parseLarge({ text, isXml: false, declaredType: '', maxNodes });

afterAll(closePool);

describe('a body read in another thread', () => {
  it('is the one that was given', async () => {
    const text = '\ufeff{"a":[1,-0.5,1e2,true,null,"\\u005f é 😀"],"b":{"__proto":{}}}';
    expect(await json(text)).toEqual(JSON.parse(text.slice(1)));
  });

  it('is refused as it would be here', async () => {
    await expect(json(arraysOf(1001))).rejects.toMatchObject({
      code: 'too-large',
      message: 'the JSON has more than 1000 nodes (objects, arrays and values)',
    });
    await expect(readLargeComposition({ json: '{"_type":"COMPOSITION","colour":1}' })).rejects.toMatchObject({
      code: 'invalid',
      message: '/colour: Attribute colour of class COMPOSITION is not known',
      details: { violations: [{ path: '/colour', code: 'unknown-attribute', found: 'colour' }] },
    });
  });

  it('waits for a thread, but not with too many others', async () => {
    const most = MAX_WORKER_THREADS + MAX_WAITING_BODIES;
    const all = await Promise.allSettled(Array.from({ length: most + 3 }, () => json('[1]')));
    const refused = all.filter((one) => one.status === 'rejected');
    expect(refused.map(({ reason }) => (reason as CdrError).code)).toEqual(Array(3).fill('unavailable'));
    expect(await json('[2]')).toEqual([2]);
  });

  it('is read after the pool was closed, too', async () => {
    await closePool();
    expect(await json('[3]')).toEqual([3]);
  });
});
