import { afterEach, expect, it, jest } from '@jest/globals';
import { Cdr, CdrError, clientCredentials, type ClientCredentials } from '../../src/main.js';

const TOKEN_URL = 'http://id.example/token';
const CREDENTIALS = { tokenUrl: TOKEN_URL, clientId: 'lab:1', clientSecret: 'pass word+' };

afterEach(() => {
  jest.useRealTimers();
});

const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

/** A provider that gives `t1`, `t2`, …, or answers as told, and what it was asked. */
function provider(
  answer = (count: number): Response => json({ access_token: `t${count}`, expires_in: 300 }),
) {
  const asked: Request[] = [];
  const options: ClientCredentials = {
    ...CREDENTIALS,
    fetch: (input, init) => {
      asked.push(new Request(input, init));
      return Promise.resolve(answer(asked.length));
    },
  };
  return { asked, options };
}

/** A server that knows these tokens, and who asked it. */
function serverOf(known: readonly string[], token: ReturnType<typeof clientCredentials>) {
  const bearers: (string | null)[] = [];
  const cdr = new Cdr({
    url: 'http://cdr.example',
    token,
    fetch: (input, init) => {
      const bearer = new Request(input, init).headers.get('authorization');
      bearers.push(bearer);
      return Promise.resolve(json({}, known.includes(bearer?.slice(7) ?? '') ? 200 : 401));
    },
  });
  return { cdr, bearers };
}

it('asks as RFC 6749 says, once for all requests while the token is valid', async () => {
  const { asked, options } = provider();
  const { cdr } = serverOf(['t1'], clientCredentials({ ...options, scope: 'a b', audience: 'cdr' }));
  await Promise.all([cdr.status(), cdr.status(), cdr.status()]);
  await cdr.status();
  expect(asked).toHaveLength(1);
  const [request] = asked;
  expect(request!.headers.get('authorization')).toBe(`Basic ${btoa('lab%3A1:pass+word%2B')}`);
  expect(Object.fromEntries(new URLSearchParams(await request!.text()))).toEqual({
    grant_type: 'client_credentials',
    scope: 'a b',
    audience: 'cdr',
  });
});

it('asks anew before a token ends, and after a 401', async () => {
  jest.useFakeTimers({ now: 0, doNotFake: ['setTimeout', 'performance', 'queueMicrotask', 'nextTick'] });
  const { asked, options } = provider();
  const token = clientCredentials(options);
  const { cdr, bearers } = serverOf(['t1', 't2', 't4'], token);
  await cdr.status();
  jest.setSystemTime(269_000);
  await cdr.status();
  expect(asked).toHaveLength(1);
  jest.setSystemTime(271_000);
  await cdr.status();
  expect(asked).toHaveLength(2);
  // t3 is refused by the server.
  jest.setSystemTime(600_000);
  await cdr.status();
  expect(bearers).toEqual(['t1', 't1', 't2', 't3', 't4'].map((each) => `Bearer ${each}`));
});

it.each([
  [
    'a wrong secret',
    () => json({ error: 'invalid_client', error_description: 'no such client' }, 401),
    401,
    'invalid_client: no such client',
  ],
  ['a page of HTML', () => new Response('<html>', { status: 404 }), 401, 'HTTP 404'],
  ['an answer without token', () => json({ token: 'x' }), 401, 'HTTP 200'],
] as const)('a refusal is a CdrError at once, without the secret: %s', async (_, answer, status, message) => {
  const { asked, options } = provider(answer);
  const { cdr, bearers } = serverOf([], clientCredentials(options));
  const failure: unknown = await cdr.status().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(CdrError);
  expect(failure).toMatchObject({
    status,
    code: 'unauthenticated',
    message: `${TOKEN_URL} gave no token: ${message}`,
  });
  expect(JSON.stringify(failure) + String(failure)).not.toContain('pass');
  expect([asked.length, bearers.length]).toEqual([1, 0]);
});

it('a provider that is away or busy is asked again, as a server would be', async () => {
  const answers = [
    (): Response => json({}, 503),
    (): never => {
      throw new TypeError('away');
    },
    (): Response => json({ access_token: 't1' }),
  ];
  const { asked, options } = provider((count) => answers[count - 1]!());
  const { cdr } = serverOf(['t1'], clientCredentials(options));
  expect(await cdr.status()).toEqual({});
  expect(asked).toHaveLength(3);
});
