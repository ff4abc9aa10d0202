import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { CdrError } from '../../../openehr/base/errors.js';
import { QueryGate, type QueryPlaces } from '../../../workers/gate.js';

const WAIT_MS = 1000;

/** One query at the gate. */
interface Entry {
  readonly user: string;
  readonly end: AbortController;
  readonly since: number;
  state: 'waiting' | 'running' | 'left' | 'late' | 'full' | 'gone';
  leave: () => void;
}

/** A gate whose queries are watched. */
class Watched {
  readonly entries: Entry[] = [];
  readonly admitted: string[] = [];
  readonly #gate: QueryGate;

  constructor(readonly places: QueryPlaces) {
    this.#gate = new QueryGate(places, WAIT_MS);
  }

  async enter(user: string): Promise<Entry> {
    const end = new AbortController();
    const entry: Entry = { user, end, since: Date.now(), state: 'waiting', leave: () => undefined };
    this.entries.push(entry);
    void this.#gate.enter(user, end.signal).then(
      (leave) => {
        this.admitted.push(user);
        entry.state = 'running';
        entry.leave = () => {
          entry.state = 'left';
          leave();
          leave(); // once is enough
        };
      },
      (error: unknown) => {
        if (error instanceof CdrError) entry.state = error.message.startsWith('too many') ? 'full' : 'late';
        else entry.state = 'gone';
      },
    );
    await settled();
    return entry;
  }

  of(state: Entry['state'], user?: string): Entry[] {
    return this.entries.filter((entry) => entry.state === state && (user ?? entry.user) === entry.user);
  }
}

const settled = () => jest.advanceTimersByTimeAsync(0);

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('the places for queries', () => {
  it('leave one that a single user cannot have', async () => {
    const gate = new Watched({ all: 4, perUser: 3 });
    for (let i = 0; i < 10; i++) await gate.enter('greedy');
    expect(gate.of('running')).toHaveLength(3);
    expect((await gate.enter('other')).state).toBe('running');
  });

  it('are all given to several users', async () => {
    const gate = new Watched({ all: 4, perUser: 3 });
    for (const user of ['a', 'a', 'a', 'b', 'a', 'b']) await gate.enter(user);
    expect(gate.of('running').map(({ user }) => user)).toEqual(['a', 'a', 'a', 'b']);
  });

  it('go to those who wait in turn, however many queries one of them has sent', async () => {
    const gate = new Watched({ all: 1, perUser: 1 });
    for (let i = 0; i < 5; i++) await gate.enter('greedy');
    for (const user of ['b', 'c', 'b']) await gate.enter(user);
    while (gate.of('running').length > 0) {
      gate.of('running')[0]!.leave();
      await settled();
    }
    const turns = ['greedy', 'greedy', 'b', 'c', 'greedy', 'b', 'greedy', 'greedy'];
    expect(gate.admitted).toEqual(turns);
  });

  it('are not waited for longer than the limit', async () => {
    const gate = new Watched({ all: 1, perUser: 1 });
    const first = await gate.enter('a');
    const second = await gate.enter('b');
    await jest.advanceTimersByTimeAsync(WAIT_MS - 1);
    expect(second.state).toBe('waiting');
    await jest.advanceTimersByTimeAsync(1);
    expect(second.state).toBe('late');
    first.leave();
    expect((await gate.enter('c')).state).toBe('running');
  });

  it('are not kept for a client that left in the moment it was its turn', async () => {
    const gate = new Watched({ all: 1, perUser: 1 });
    const first = await gate.enter('a');
    const second = await gate.enter('b');
    first.leave();
    second.end.abort(new Error('left'));
    await settled();
    expect(second.state).toBe('gone');
    expect((await gate.enter('c')).state).toBe('running');
  });

  it('have queues of a limited length, one for each user', async () => {
    const gate = new Watched({ all: 2, perUser: 1 });
    for (let i = 0; i < 40; i++) await gate.enter('greedy');
    expect(gate.of('full')).toHaveLength(40 - 1 - 32);
    await gate.enter('b');
    expect((await gate.enter('b')).state).toBe('waiting');
  });
});

type Step =
  | { readonly kind: 'enter'; readonly user: string }
  | { readonly kind: 'leave' | 'abort'; readonly which: number }
  | { readonly kind: 'wait'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('enter'), user: fc.constantFrom('a', 'b', 'c', 'd') }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('leave'), which: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort'), which: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.nat(WAIT_MS) }) },
);

const sizes = fc.record({ all: fc.integer({ min: 1, max: 5 }), perUser: fc.integer({ min: 1, max: 5 }) });

/** Takes a step; `atOnce`: without letting those go on whom it concerns. */
function take(gate: Watched, taken: Step): unknown {
  switch (taken.kind) {
    case 'enter':
      return gate.enter(taken.user);
    case 'leave':
      return nth(gate.of('running'), taken.which)?.leave();
    case 'abort':
      return nth([...gate.of('waiting'), ...gate.of('running')], taken.which)?.end.abort(new Error('left'));
    case 'wait':
      return jest.advanceTimersByTimeAsync(taken.ms);
  }
}

function nth<T>(items: readonly T[], which: number): T | undefined {
  return items.length === 0 ? undefined : items[which % items.length];
}

/** What must be true whenever nothing is about to happen. */
function check(gate: Watched): void {
  const { all, perUser } = gate.places;
  const running = gate.of('running').length;
  expect(running).toBeLessThanOrEqual(all);
  for (const user of ['a', 'b', 'c', 'd']) {
    const own = gate.of('running', user).length;
    expect(own).toBeLessThanOrEqual(perUser);
    // No place stays empty that one who waits could have.
    if (running < all && own < perUser) expect(gate.of('waiting', user)).toHaveLength(0);
  }
  for (const { since } of gate.of('waiting')) expect(Date.now() - since).toBeLessThan(WAIT_MS);
}

describe('whatever comes, leaves, gives up or waits too long,', () => {
  it('no more run than may, no place is lost, none waits too long', async () => {
    await fc.assert(
      fc.asyncProperty(
        sizes,
        fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 60 }),
        async (places, steps) => {
          const gate = new Watched(places);
          for (const atOnce of steps) {
            await Promise.all(atOnce.map((each) => take(gate, each)));
            await settled();
            check(gate);
          }
          while (gate.of('running').length > 0) {
            for (const entry of gate.of('running')) entry.leave();
            await settled();
          }
          expect(gate.of('waiting')).toHaveLength(0);
          // Every place is free again.
          for (let i = 0; i < places.all; i++) expect((await gate.enter(`new ${i}`)).state).toBe('running');
        },
      ),
      { numRuns: 200 },
    );
  });

  it('a user who waits is passed over by no other user twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 }), async (users) => {
        const gate = new Watched({ all: 1, perUser: 1 });
        for (const user of ['a', ...users]) await gate.enter(user);
        for (let ends = 0; ends < users.length; ends++) {
          const waiting = new Set(gate.of('waiting').map(({ user }) => user));
          const before = gate.admitted.length;
          for (let i = 0; i < waiting.size; i++) {
            gate.of('running')[0]?.leave();
            await settled();
          }
          // As many turns as users wait: each has had one.
          expect(new Set(gate.admitted.slice(before))).toEqual(waiting);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('more queries than are patient', () => {
  const SOON_MS = 100;

  /** How many of so many queries of one user may wait after queries that took so long. */
  async function waitingAfter(ms: number, count: number): Promise<number> {
    const gate = new QueryGate({ all: 1, perUser: 1 }, 60_000, SOON_MS);
    const { signal } = new AbortController();
    for (let i = 0; i < 50; i++) {
      const leave = await gate.enter('user', signal);
      await jest.advanceTimersByTimeAsync(ms);
      leave();
    }
    await gate.enter('user', signal);
    let refused = 0;
    for (let i = 0; i < count; i++) gate.enter('user', signal).catch(() => (refused += 1));
    await settled();
    return count - refused;
  }

  it('wait where queries are short, and are refused where they are long', async () => {
    expect(await waitingAfter(5, 16)).toBe(16);
    expect(await waitingAfter(50, 16)).toBe(4);
  });
});
