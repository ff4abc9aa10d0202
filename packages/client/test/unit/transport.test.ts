import { describe, expect, it } from '@jest/globals';
import { Cdr, CdrError, type CdrOptions, type Ehr } from '../../src/main.js';

type Answering = (request: Request, attempt: number) => Response | Promise<Response>;

/** A client of a server that answers as told, and the requests that it got. */
function clientOf(answer: Answering, options: Partial<CdrOptions> = {}): { cdr: Cdr; requests: Request[] } {
  const requests: Request[] = [];
  const cdr = new Cdr({
    url: 'http://cdr.example/base/',
    fetch: async (input, init) => {
      const request = new Request(input, init);
      requests.push(request);
      return await answer(request, requests.length);
    },
    ...options,
  });
  return { cdr, requests };
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
const busy = (): Response => json({ message: 'busy' }, 503, { 'retry-after': '0' });
const made = (): Response => new Response(null, { status: 201, headers: { etag: '"u::s::1"' } });
const lost = (): never => {
  throw new TypeError('socket closed');
};

describe('an answer that no openEHR server gives is a CdrError', () => {
  const html = (): Response =>
    new Response('<html>sign in</html>', { headers: { 'content-type': 'text/html' } });
  const head = '{"columns":[{"name":"a"}]}\n[1]\n';
  const lines = (body: string | ReadableStream): Response =>
    new Response(body, { headers: { 'content-type': 'application/x-ndjson' } });
  const cut = (begun: string): ReadableStream =>
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(begun)),
      pull: (controller) => controller.error(new TypeError('terminated')),
    });
  const rowsOf = async (cdr: Cdr): Promise<unknown[]> => {
    const rows: unknown[] = [];
    for await (const row of cdr.stream('SELECT e AS a FROM EHR e')) rows.push(row);
    return rows;
  };

  it.each([
    ['a page of HTML', html, 'bad-answer'],
    [
      'broken JSON',
      () => new Response('{"rows"', { headers: { 'content-type': 'application/json' } }),
      'bad-answer',
    ],
    [
      'one that is cut',
      () => new Response(cut('{"rows"'), { headers: { 'content-type': 'application/json' } }),
      'network',
    ],
  ])('%s', async (_, answer, code) => {
    const failure: unknown = await clientOf(answer)
      .cdr.query('SELECT e FROM EHR e')
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CdrError);
    expect(failure).toMatchObject({ status: 200, code });
  });

  it.each([
    ['cut', () => lines(cut(head)), 'network'],
    ['ended within a line', () => lines(`${head}[1`), 'bad-answer'],
    ['a page of HTML', html, 'not-acceptable'],
  ])('a stream that is %s', async (_, answer, code) => {
    const failure: unknown = await rowsOf(clientOf(answer).cdr).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CdrError);
    expect(failure).toMatchObject({ code });
  });

  it.each(['{}', '[]', 'null', '"rows"', '{"columns":[]}', ''])(
    'what is no result of a query: %s',
    async (body) => {
      const { cdr } = clientOf(() => new Response(body, { headers: { 'content-type': 'application/json' } }));
      const failure: unknown = await cdr.query('SELECT e FROM EHR e').catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(CdrError);
      expect(failure).toMatchObject({ status: 200, code: 'bad-answer' });
    },
  );

  it.each(['{}', '[1]', 'null'])('a stream whose first line names no columns: %s', async (first) => {
    const failure: unknown = await rowsOf(clientOf(() => lines(`${first}\n[1]\n`)).cdr).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(CdrError);
    expect(failure).toMatchObject({ code: 'bad-answer' });
  });

  it('but the reason of the signal where that ended it', async () => {
    const gone = new AbortController();
    const { cdr } = clientOf(() => {
      gone.abort(new Error('enough'));
      return new Response(cut('{'), { headers: { 'content-type': 'application/json' } });
    });
    await expect(cdr.query('SELECT e FROM EHR e', { signal: gone.signal })).rejects.toThrow('enough');
  });
});

describe('a request', () => {
  it('that can be repeated is, after 503 and a lost answer', async () => {
    const answers = [busy, lost, () => json([{ template_id: 't' }])];
    const { cdr, requests } = clientOf((_, attempt) => answers[attempt - 1]!());
    expect(await cdr.templates.list()).toEqual([{ template_id: 't' }]);
    expect(requests.map(({ url }) => url)).toEqual(
      Array(3).fill('http://cdr.example/base/rest/openehr/v1/definition/template/adl1.4?version=*'),
    );
  });

  it('for all templates is made anew without a version, where a server takes that for the end of an id', async () => {
    const { cdr, requests } = clientOf(({ url }) =>
      json(url.includes('version') ? [] : [{ template_id: 't' }]),
    );
    expect(await cdr.templates.list({ template_id: 't*' })).toEqual([{ template_id: 't' }]);
    expect(requests.map(({ url }) => new URL(url).search)).toEqual([
      '?template_id=t*&version=*',
      '?template_id=t*',
    ]);
  });

  it('that commits carries one key through all its tries, and the whole body', async () => {
    const { cdr, requests } = clientOf((_, attempt) => (attempt < 3 ? lost() : made()));
    const { uid } = await cdr.ehr('e').compositions.commit({ 'a/b': 1 }, { template: 't' });
    expect(uid).toBe('u::s::1');
    expect(new Set(requests.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
    expect(requests[0]!.headers.get('idempotency-key')).toMatch(/^[0-9a-f]{32}$/);
    expect(await Promise.all(requests.map((request) => request.text()))).toEqual(Array(3).fill('{"a/b":1}'));
  });

  const folder = {
    _type: 'FOLDER',
    archetype_node_id: 'x',
    name: { _type: 'DV_TEXT', value: 'root' },
  } as const;
  const changes: [string, (ehr: Ehr) => Promise<unknown>][] = [
    ['PUT', (ehr) => ehr.compositions.update('u::s::1', { 'a/b': 1 }, { template: 't' })],
    ['DELETE', (ehr) => ehr.compositions.delete('u::s::1')],
    ['PUT', (ehr) => ehr.directory.update('u::s::1', folder)],
    ['DELETE', (ehr) => ehr.directory.delete('u::s::1')],
  ];
  it.each(changes)(
    'that changes what is there by %s is repeated with one key too',
    async (method, change) => {
      const { cdr, requests } = clientOf((_, attempt) => (attempt < 3 ? lost() : made()));
      await change(cdr.ehr('e'));
      expect(requests.map((request) => request.method)).toEqual(Array(3).fill(method));
      expect(new Set(requests.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
      expect(requests[0]!.headers.get('idempotency-key')).toMatch(/^[0-9a-f]{32}$/);
    },
  );

  it('waits while its own first try is still at work', async () => {
    const running = (): Response =>
      json({ message: 'the first request with this Idempotency-Key is still running' }, 409);
    const answers = [lost, running, made];
    const { cdr } = clientOf((_, attempt) => answers[attempt - 1]!());
    expect((await cdr.ehr('e').compositions.commit({})).id).toBe('u');
    const { cdr: other, requests } = clientOf(running);
    await expect(other.ehr('e').compositions.commit({})).rejects.toMatchObject({ status: 409 });
    expect(requests).toHaveLength(1);
  });

  it.each(['PUT', 'DELETE', 'POST'])('by %s without a key is not repeated, but after 429', async (method) => {
    const { cdr, requests } = clientOf(busy);
    await expect(cdr.request(method, '/x')).rejects.toMatchObject({ code: 'unavailable', status: 503 });
    expect(requests).toHaveLength(1);
    const rated = clientOf((_, attempt) => (attempt === 1 ? json({}, 429, { 'retry-after': '0' }) : made()));
    await rated.cdr.request(method, '/x');
    expect(rated.requests).toHaveLength(2);
  });

  it('ends after its tries with what came last', async () => {
    const { cdr, requests } = clientOf(busy, { retries: 2 });
    await expect(cdr.status()).rejects.toMatchObject({ status: 503, retryAfterSeconds: 0 });
    expect(requests).toHaveLength(3);
    const away = clientOf(lost, { retries: 0 });
    await expect(away.cdr.status()).rejects.toMatchObject({
      status: 0,
      code: 'network',
      cause: { message: 'socket closed' },
    });
  });

  it.each([404, 409])('tells by a %i where a merged EHR went on', async (status) => {
    const link = '<http://cdr/rest/openehr/v1/ehr/7d44b88c%2D1>; rel="successor-version"';
    const { cdr } = clientOf(() => json({ message: 'merged' }, status, { link }));
    await expect(cdr.ehr('e').get()).rejects.toMatchObject({ status, mergedInto: '7d44b88c-1' });
    const unknown = clientOf(() => json({ message: 'unknown' }, status, { link: '</help>; rel="help"' }));
    await expect(unknown.cdr.ehr('e').get()).rejects.toMatchObject({ status, mergedInto: undefined });
  });

  it('does not wait for minutes, nor after it was ended', async () => {
    const { cdr, requests } = clientOf(() => json({}, 503, { 'retry-after': '3600' }));
    await expect(cdr.status()).rejects.toMatchObject({ retryAfterSeconds: 3600 });
    expect(requests).toHaveLength(1);
    const controller = new AbortController();
    const waiting = clientOf(() => {
      setTimeout(() => controller.abort(new Error('left')), 5);
      return json({}, 503, { 'retry-after': '20' });
    });
    await expect(waiting.cdr.status({ signal: controller.signal })).rejects.toThrow('left');
  });

  it('ends when no answer comes in time', async () => {
    const never: Answering = (request) =>
      new Promise((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason as Error));
      });
    const { cdr, requests } = clientOf(never, { timeoutMs: 5, retries: 1 });
    await expect(cdr.status()).rejects.toThrow('within 5 ms');
    expect(requests).toHaveLength(2);
  });

  it('asks for a token each time, and once more after 401', async () => {
    const asked: boolean[] = [];
    const token = ({ refresh }: { refresh: boolean }): Promise<string> => {
      asked.push(refresh);
      return Promise.resolve(refresh ? 'new' : 'old');
    };
    const check: Answering = ({ headers }) =>
      headers.get('authorization') === 'Bearer new' ? json({ up: 1 }) : json({ message: 'who?' }, 401);
    expect(await clientOf(check, { token }).cdr.status()).toEqual({ up: 1 });
    expect(asked).toEqual([false, true]);
    await expect(clientOf(() => json({}, 401), { token }).cdr.status()).rejects.toMatchObject({
      status: 401,
    });
    expect(asked).toHaveLength(4);
    const basic = clientOf(() => json({}), { basic: { user: 'åsa', password: 'p:w' } });
    await basic.cdr.status();
    expect(basic.requests[0]!.headers.get('authorization')).toBe(
      `Basic ${Buffer.from('åsa:p:w').toString('base64')}`,
    );
  });

  it('tells of a server that is down that it is', async () => {
    const { cdr, requests } = clientOf(busy);
    expect(await cdr.health()).toEqual({ status: 'DOWN' });
    expect(requests).toHaveLength(1);
  });

  it.each(['', '.', '..'])('never goes elsewhere for an id "%s"', async (id) => {
    const { cdr, requests } = clientOf(() => json({}));
    await expect((async () => cdr.ehr(id).get())()).rejects.toThrow(TypeError);
    await expect(cdr.admin.deleteComposition('e', id)).rejects.toThrow(TypeError);
    expect(requests).toEqual([]);
    await cdr.ehr('a/../b?c').get();
    expect(requests[0]!.url).toBe('http://cdr.example/base/rest/openehr/v1/ehr/a%2F..%2Fb%3Fc');
  });
});

describe('a header', () => {
  it('carries names of any script as UTF-8, quotes and backslashes too', async () => {
    const { cdr, requests } = clientOf(made);
    const name = 'Zażółć "Żona" \\ 李 😀';
    await cdr
      .ehr('e')
      .compositions.commit(
        {},
        { audit: { 'committer.name': name }, tags: [{ key: 'отделение', value: 'A2' }] },
      );
    const sent = (header: string): string =>
      Buffer.from(requests[0]!.headers.get(header) ?? '', 'latin1').toString('utf8');
    expect(sent('openehr-audit_details')).toBe('committer.name="Zażółć \\"Żona\\" \\\\ 李 😀"');
    expect(sent('openehr-item-tag')).toBe('key="отделение",value="A2"');
  });

  it('refuses a line break, naming the key', async () => {
    const { cdr, requests } = clientOf(made);
    const audit = { 'description.value': 'one\r\nX-Admin: yes' };
    await expect(cdr.ehr('e').compositions.commit({}, { audit })).rejects.toThrow(
      /description\.value.*line break/,
    );
    expect(requests).toEqual([]);
  });
});

describe('an error', () => {
  it('has the code, the findings and the request of the server', async () => {
    const body = {
      error: 'Unprocessable Entity',
      code: 'rm.invariant',
      message: 'no',
      request_id: 'r1',
      violations: [
        { path: '/content[0]', message: 'is missing', code: 'required', flatPath: 'a/b', line: 3, column: 7 },
      ],
    };
    const error = await clientOf(() => json(body, 422))
      .cdr.status()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CdrError);
    expect(error).toMatchObject({
      message: 'no',
      status: 422,
      code: 'rm.invariant',
      requestId: 'r1',
      violations: body.violations,
      body,
    });
  });

  it('is read from servers that have less to say', async () => {
    const old = { message: 'no', validationErrors: ['/content[0]: is missing', 'what: ever'] };
    const { cdr } = clientOf(() => json(old, 422, { 'x-request-id': 'r2' }));
    await expect(cdr.status()).rejects.toMatchObject({
      code: 'unprocessable',
      requestId: 'r2',
      violations: [
        { path: '/content[0]', message: 'is missing' },
        { path: '', message: 'what: ever' },
      ],
    });
    const text = clientOf(() => new Response('gateway', { status: 502 }));
    await expect(text.cdr.request('PUT', '/x')).rejects.toMatchObject({
      message: 'gateway',
      code: 'bad-gateway',
    });
    const nothing = clientOf(() => new Response(null, { status: 418 }));
    await expect(nothing.cdr.status()).rejects.toMatchObject({ message: 'HTTP 418', code: 'http-418' });
  });
});
