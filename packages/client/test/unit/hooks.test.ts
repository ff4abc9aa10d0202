import { expect, it } from '@jest/globals';
import { Cdr, CdrError, type Attempt, type CdrOptions, type Outcome } from '../../src/main.js';

/** A client whose server answers with these, one after the other, and what was sent. */
function clientOf(answers: readonly (() => Response)[], options: Partial<CdrOptions>) {
  const requests: Request[] = [];
  const cdr = new Cdr({
    url: 'http://cdr.example',
    fetch: (input, init) => {
      requests.push(new Request(input, init));
      return Promise.resolve(answers[requests.length - 1]!());
    },
    ...options,
  });
  return { cdr, requests };
}

const json = (status: number, headers: Record<string, string> = {}): Response =>
  new Response('{}', { status, headers: { 'content-type': 'application/json', ...headers } });
const lost = (): never => {
  throw new TypeError('socket closed');
};

it('hooks are told of each try, with the same object before and after it', async () => {
  const told: [Attempt, Outcome][] = [];
  const begun: Attempt[] = [];
  const hooks = {
    before: (attempt: Attempt) => void begun.push(attempt),
    after: (...both: [Attempt, Outcome]) => void told.push(both),
  };
  const answers = [lost, () => json(503, { 'retry-after': '0' }), () => json(200, { 'x-request-id': 'r3' })];
  await clientOf(answers, { hooks }).cdr.status();
  expect(told.map(([attempt]) => attempt)).toEqual(begun);
  expect(told[0]![0]).toBe(begun[0]);
  expect(
    told.map(([{ method, url, number }, { status, requestId }]) => [method, url, number, status, requestId]),
  ).toEqual([
    ['GET', 'http://cdr.example/rest/status', 1, 0, undefined],
    ['GET', 'http://cdr.example/rest/status', 2, 503, undefined],
    ['GET', 'http://cdr.example/rest/status', 3, 200, 'r3'],
  ]);
  expect(told[0]![1].error).toBeInstanceOf(CdrError);
  expect(told.every(([, { durationMs }]) => durationMs >= 0)).toBe(true);
});

it('what a hook sets is sent, and it sees not who asks', async () => {
  const seen: (string | null)[] = [];
  const before = async ({ headers, number }: Attempt): Promise<void> => {
    await Promise.resolve();
    seen.push(headers.get('authorization'), headers.get('x-own'));
    headers.set('traceparent', `00-trace-${number}-01`);
  };
  const { cdr, requests } = clientOf([() => json(429, { 'retry-after': '0' }), () => json(200)], {
    hooks: { before },
    headers: { 'x-own': 'yes' },
    token: 'secret',
  });
  await cdr.status();
  expect(seen).toEqual([null, 'yes', null, 'yes']);
  expect(requests.map(({ headers }) => [headers.get('traceparent'), headers.get('authorization')])).toEqual([
    ['00-trace-1-01', 'Bearer secret'],
    ['00-trace-2-01', 'Bearer secret'],
  ]);
});

it('a hook that fails takes no answer away', async () => {
  const fail = (): never => {
    throw new Error('no log');
  };
  const { cdr } = clientOf([() => json(200)], {
    hooks: { before: () => Promise.reject(new Error('no trace')), after: fail },
  });
  expect(await cdr.status()).toEqual({});
});
