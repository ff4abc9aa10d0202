import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CdrError } from '../../../packages/client/src/main.js';
import { DraftKeeper } from '../../../console/src/form/draft-keeper.js';
import type { FlatValues } from '../../../console/src/form/values.js';

/** A form whose only field is typed into. */
class Form {
  values: FlatValues = {};
  isChanged = false;
  readonly #listeners = new Set<() => void>();
  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  type(value: string): void {
    this.values = { value };
    this.isChanged = true;
    for (const listener of this.#listeners) listener();
  }
}

describe('a draft of a form', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const kept = (put?: (values: FlatValues) => Promise<unknown>) => {
    const form = new Form();
    const sent: unknown[] = [];
    const keeper = new DraftKeeper(
      form,
      async (values) => {
        await put?.(values);
        sent.push(values['value']);
      },
      null,
    );
    const stop = keeper.start();
    return { form, sent, keeper, stop };
  };

  it('is kept within half a minute of a key, however fast the next ones come, and not again without one', async () => {
    const { form, sent, keeper } = kept();
    for (let second = 0; second < 30; second += 1) {
      form.type(String(second));
      await jest.advanceTimersByTimeAsync(1_000);
    }
    expect(sent.length).toBeGreaterThanOrEqual(2);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(sent.at(-1)).toBe('29');
    const count = sent.length;
    await jest.advanceTimersByTimeAsync(600_000);
    expect(sent).toHaveLength(count);
    expect([keeper.isThere, keeper.isCurrent]).toEqual([true, true]);
  });

  it('is one request at a time, the last of which has what was typed last', async () => {
    let underWay = 0;
    let most = 0;
    const { form, sent, keeper } = kept(async () => {
      most = Math.max(most, (underWay += 1));
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      underWay -= 1;
    });
    form.type('a');
    const first = keeper.keep();
    form.type('b');
    const second = keeper.keep();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await Promise.all([first, second])).toEqual([true, true]);
    expect([most, sent.at(-1)]).toEqual([1, 'b']);
  });

  it('that the user may not keep is not tried again; one that failed is', async () => {
    for (const [status, tries] of [
      [403, 1],
      [0, 3],
    ] as const) {
      let asked = 0;
      const { form, keeper } = kept(() => {
        asked += 1;
        return Promise.reject(new CdrError('no', { status, code: 'x' }));
      });
      form.type('a');
      expect(await keeper.keep()).toBe(false);
      await jest.advanceTimersByTimeAsync(25_000);
      expect(asked).toBe(tries);
      expect(keeper.kept).toMatchObject({ is: 'refused', isForGood: status === 403 });
      await keeper.end();
    }
  });

  it('ends with what is under way', async () => {
    const { form, sent, keeper } = kept(() => new Promise((resolve) => setTimeout(resolve, 1_000)));
    form.type('a');
    void keeper.keep();
    await jest.advanceTimersByTimeAsync(1);
    const ended = keeper.end();
    form.type('b');
    await jest.advanceTimersByTimeAsync(60_000);
    await ended;
    expect(sent).toEqual(['a']);
  });
});
