import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { valueSetViolations } from '../../../change/terminology/value-sets.js';

const AT_ONCE = 10;
let server: Server;
let serverUrl = '';
let asked: string[] = [];
let open: { readonly code: string; readonly answer: ServerResponse }[] = [];
let abandoned = 0;
beforeEach(async () => {
  asked = [];
  open = [];
  abandoned = 0;
  server = createServer((incoming, answer) => {
    const code = new URL(incoming.url ?? '', 'http://x').searchParams.get('code') ?? '';
    asked.push(code);
    open.push({ code, answer });
    answer.on('close', () => {
      if (!answer.writableEnded) abandoned += 1;
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  serverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Codes of one value set, each of them twice. */
const codes = Array.from({ length: 60 }, (_, index) => ({
  path: `/content[${index}]`,
  aqlPath: '/content',
  valueSetUrl: 'http://x/colours',
  terminologyId: 'SNOMED-CT',
  code: `c${index % 30}`,
}));

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn();
}

/** Answers what is open: yes, but for the codes named. */
function answerAll(no: readonly string[] = []): void {
  for (const { code, answer } of open.splice(0)) {
    const parameter = [{ name: 'result', valueBoolean: !no.includes(code) }];
    answer.end(JSON.stringify({ parameter }));
  }
}

const settings = () => ({ serverUrl, timeoutMs: 60_000, failOnError: true });

describe('the codes of a COMPOSITION that are bound to value sets', () => {
  it('are asked once each, ten at a time, and found wanting in their order', async () => {
    const violations = valueSetViolations(settings(), codes);
    for (let round = 1; round <= 30 / AT_ONCE; round += 1) {
      await until(() => open.length === AT_ONCE);
      expect(asked).toHaveLength(round * AT_ONCE);
      answerAll(['c7', 'c21']);
    }
    const paths = (await violations).map(({ path }) => path);
    expect(paths).toEqual(['/content[7]', '/content[21]', '/content[37]', '/content[51]']);
    expect(new Set(asked).size).toBe(30);
  });

  it('are given up when nobody waits any more', async () => {
    const client = new AbortController();
    const time = new AbortController().signal;
    const violations = valueSetViolations(settings(), codes, { end: client.signal, time });
    await until(() => open.length === AT_ONCE);
    client.abort(new Error('left'));
    await expect(violations).rejects.toThrow('left');
    await until(() => abandoned === AT_ONCE);
    expect(asked).toHaveLength(AT_ONCE);
  });

  it('are given up when one of them cannot be asked', async () => {
    const violations = valueSetViolations(settings(), codes);
    await until(() => open.length === AT_ONCE);
    open[0]?.answer.writeHead(500).end('{}');
    await expect(violations).rejects.toMatchObject({ code: 'bad-gateway' });
    await until(() => abandoned === AT_ONCE - 1);
  });

  it('have one time in all, after which the server counts as failed', async () => {
    const time = new AbortController();
    const patience = { end: new AbortController().signal, time: time.signal };
    const strict = valueSetViolations(settings(), codes, patience);
    const lenient = valueSetViolations({ ...settings(), failOnError: false }, codes, patience);
    await until(() => open.length === 2 * AT_ONCE);
    time.abort(new Error('late'));
    await expect(strict).rejects.toMatchObject({ code: 'bad-gateway' });
    await expect(lenient).resolves.toEqual([]);
    expect(asked).toHaveLength(2 * AT_ONCE);
  });
});
