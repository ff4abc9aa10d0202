import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aql, Cdr } from '../../src/main.js';

const sent = (text: { q: string; parameters: unknown }) => ({ q: text.q, parameters: text.parameters });

describe('the tag aql', () => {
  it('puts values beside the text and pieces into it', () => {
    const from = aql`FROM EHR e[ehr_id/value=${'e1'}]`;
    const when = new Date('2026-01-02T03:04:05.006Z');
    expect(
      sent(aql`SELECT e ${from} WHERE e/time_created > ${when} AND x MATCHES {${[1, 'b']}} LIMIT ${5}`),
    ).toEqual({
      q: 'SELECT e FROM EHR e[ehr_id/value=$p1] WHERE e/time_created > $p2 AND x MATCHES {$p3} LIMIT $p4',
      parameters: { p1: 'e1', p2: '2026-01-02T03:04:05.006Z', p3: [1, 'b'], p4: 5 },
    });
    expect(sent(aql`${from} ${from}`).parameters).toEqual({ p1: 'e1', p2: 'e1' });
  });

  it('never has a value in its text, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (value) => {
        expect(sent(aql`a = ${value} b`)).toEqual({ q: 'a = $p1 b', parameters: { p1: value } });
      }),
    );
  });

  it.each([
    [null, /NOT EXISTS/],
    [undefined, /undefined/],
    [NaN, /number/],
    [Infinity, /number/],
    [{ q: 'x', parameters: {} }, /object/],
    [new Date('no'), /object/],
    [[null], /null/],
  ])('refuses %p as a value', (value, message) => {
    expect(() => aql`a = ${value as never}`).toThrow(message);
  });

  it('refuses a value between quotes, where it would be text, and names of its own', () => {
    expect(() => aql`name = '${'x'}'`).toThrow(/between quotes/);
    expect(() => aql`name = "it's ${'x'}"`).toThrow(/between quotes/);
    expect(aql`name = 'it\\'s' AND b = ${1}`.q).toBe(String.raw`name = 'it\'s' AND b = $p1`);
    expect(() => aql`a = $p1 AND b = ${1}`).toThrow(/\$p1/);
  });

  it('runs once it is awaited, not before', async () => {
    const bodies: unknown[] = [];
    const cdr = new Cdr({
      url: 'http://cdr.example',
      fetch: async (input, init) => {
        bodies.push(await new Request(input, init).json());
        const columns = [{ name: 'a' }, { name: '__proto__' }];
        return Response.json({ columns, rows: [[1, 2], [3]] });
      },
    });
    const query = cdr.aql`SELECT a WHERE b = ${'c'}`;
    expect(bodies).toEqual([]);
    const { rows } = await query;
    expect(bodies).toEqual([{ q: 'SELECT a WHERE b = $p1', query_parameters: { p1: 'c' } }]);
    expect(Object.entries(rows[0]!)).toEqual([
      ['a', 1],
      ['__proto__', 2],
    ]);
    expect(Object.values(rows[1]!)).toEqual([3, null]);
  });
});

describe('a stream', () => {
  const ndjson = (...chunks: Uint8Array[]) =>
    new Cdr({
      url: 'http://cdr.example',
      fetch: () =>
        Promise.resolve(
          new Response(ReadableStream.from(chunks), { headers: { 'content-type': 'application/x-ndjson' } }),
        ),
    });
  const cut = (text: string, size: number): Uint8Array[] => {
    const bytes = new TextEncoder().encode(text);
    return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size),
    );
  };

  it.each([1, 2, 7, 1000])('is read whole however it is cut: by %i bytes', async (size) => {
    const text = '{"columns":[{"name":"å"}]}\n["ö€😀"]\n\n["b"]';
    const rows: unknown[] = [];
    for await (const row of ndjson(...cut(text, size)).stream('SELECT x')) rows.push(row);
    expect(rows).toEqual([{ å: 'ö€😀' }, { å: 'b' }]);
  });

  it('has flat memory: rows are asked for as they are read, and leaving the loop ends the answer', async () => {
    let [made, ended] = [0, false];
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          made += 1;
          const text = made === 1 ? '{"columns":[{"name":"n"}]}\n' : `[${made}]\n`.repeat(100);
          controller.enqueue(new TextEncoder().encode(text));
        },
        cancel() {
          ended = true;
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { 'content-type': 'application/x-ndjson' };
    const cdr = new Cdr({
      url: 'http://cdr.example',
      fetch: () => Promise.resolve(new Response(body, { headers })),
    });
    let read = 0;
    for await (const row of cdr.stream('SELECT x')) {
      expect(Object.keys(row)).toEqual(['n']);
      read += 1;
      // What was made is never further ahead than the piece that is being read.
      expect(made).toBeLessThanOrEqual(Math.ceil(read / 100) + 2);
      if (read === 50_000) break;
    }
    expect(ended).toBe(true);
  });

  it('says what to do where a server has none', async () => {
    const cdr = new Cdr({
      url: 'http://cdr.example',
      fetch: () => Promise.resolve(Response.json({ rows: [] })),
    });
    await expect(cdr.stream('SELECT x').next()).rejects.toThrow(/pages/);
  });
});
