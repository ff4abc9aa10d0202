import { mkdirSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect } from '@jest/globals';
import type { Exchange, Recording } from './exchange.js';
import { decoded } from './replay.js';

/** Where `RECORD_CONTRACT` says that exchanges with the product are to be written, one file for each test file. */
const { RECORD_CONTRACT } = process.env;

/** One without a status was not answered. */
const exchanges: Partial<Exchange>[] = [];
if (RECORD_CONTRACT !== undefined) {
  const file = relative(join(process.cwd(), 'test', 'http'), expect.getState().testPath ?? '');
  const path = join(RECORD_CONTRACT, file.replace(/\.ts$/, '.json.gz'));
  afterAll(() => {
    if (exchanges.length > 0) write(path);
  });
}

/**
 * What a test asks of an application and what it answers, in the order of the requests; written when the file's tests
 * have ended. Only applications in their default settings, since a recording is played to one of those.
 */
export function recorded(handle: RequestListener, overrides: object): RequestListener {
  if (RECORD_CONTRACT === undefined || Object.keys(overrides).length > 0) return handle;
  return (request, response) => {
    listen(request, response);
    handle(request, response);
  };
}

function listen(request: IncomingMessage, response: ServerResponse): void {
  const exchange: Partial<Exchange> = { method: request.method ?? '', url: request.url ?? '' };
  const headers = request.rawHeaders;
  const sent = taken(request, ['push']);
  const answered = taken(response, ['write', 'end']);
  exchanges.push(exchange);
  response.on('finish', () => {
    exchange.requestHeaders = Object.fromEntries(
      headers.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), headers[i + 1] ?? '']] : [])),
    );
    exchange.requestBody = Buffer.concat(sent).toString('latin1');
    exchange.status = response.statusCode;
    exchange.headers = Object.fromEntries(
      Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]),
    );
    exchange.body = decoded(Buffer.concat(answered), exchange.headers['content-encoding']).toString('utf8');
  });
}

/** The chunks that go through methods of a stream from now on. */
function taken<T extends object>(stream: T, methods: readonly (keyof T)[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (const name of methods) {
    const method = stream[name] as (...args: unknown[]) => unknown;
    stream[name] = ((...args: unknown[]) => {
      const [chunk] = args;
      if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
      else if (chunk instanceof Uint8Array || Buffer.isBuffer(chunk))
        chunks.push(Buffer.from(chunk as Uint8Array));
      return method.apply(stream, args);
    }) as T[keyof T];
  }
  return chunks;
}

function write(path: string): void {
  const answered = exchanges.filter((exchange): exchange is Exchange => exchange.status !== undefined);
  const recording: Recording = { recordedAt: Date.now(), exchanges: answered };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, gzipSync(JSON.stringify(recording)));
}
