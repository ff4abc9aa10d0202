import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { Correspondence } from './correspondence.js';
import type { Exchange, Recording } from './exchange.js';

/** Headers of a connection or of one request, which say nothing about the contract. */
const OF_ONE_ANSWER = new Set([
  'x-request-id',
  'content-length',
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
]);

/** What a client sees of an answer. */
export type Answer = Pick<Exchange, 'status' | 'headers' | 'body'>;

/** What a request of a recording is answered today, both sides in the same words. */
export interface Replayed {
  readonly exchange: Exchange;
  readonly then: Answer;
  readonly now: Answer;
  /** `status`, `body` and names of headers that differ; empty when the answers are equal. */
  readonly differences: readonly string[];
}

/**
 * Sends the requests of a recording to a server, one after the other, with the uuids, times and ETags that this server
 * gave where the recording has those of its own.
 */
export async function* replay({ exchanges, recordedAt }: Recording, url: string): AsyncGenerator<Replayed> {
  const words = new Correspondence(recordedAt);
  for (const exchange of exchanges) {
    const answer = await ask(exchange, words, url);
    words.learn(exchange.body, answer.body);
    for (const name of ['location', 'etag', 'openehr-uri', 'content-location', 'link'])
      words.learn(exchange.headers[name] ?? '', answer.headers[name] ?? '');
    learnDigest(words, exchange.headers['etag'], answer.headers['etag']);
    const then = { status: exchange.status, ...masked(exchange, words, false) };
    const now = { status: answer.status, ...masked(answer, words, true) };
    yield { exchange, then, now, differences: differencesOf(then, now) };
  }
}

function learnDigest(words: Correspondence, theirs: string | undefined, own: string | undefined): void {
  if (theirs !== undefined && own !== undefined && !theirs.includes('-')) words.learnWord(theirs, own);
}

function ask(exchange: Exchange, words: Correspondence, url: string): Promise<Answer> {
  const { method, requestHeaders } = exchange;
  const sent = Object.entries(requestHeaders)
    .filter(([name]) => !OF_ONE_ANSWER.has(name))
    .map(([name, value]) => [
      name,
      name === 'host' && value.startsWith('127.0.0.1:') ? new URL(url).host : words.translated(value),
    ]);
  const body = words.translated(exchange.requestBody);
  return new Promise((resolve, reject) => {
    const asked = request(
      new URL(url),
      {
        method,
        path: words.translated(exchange.url),
        headers: Object.fromEntries(sent) as Record<string, string>,
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const headers = Object.fromEntries(
            Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
          );
          const text = decoded(Buffer.concat(chunks), headers['content-encoding']).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers, body: text });
        });
      },
    );
    asked.on('error', reject);
    asked.end(Buffer.from(body, 'latin1'));
  });
}

/** The bytes of a body, decompressed. */
export function decoded(body: Buffer, coding: string | undefined): Buffer {
  if (body.length === 0) return body;
  if (coding === 'gzip') return gunzipSync(body);
  if (coding === 'br') return brotliDecompressSync(body);
  return coding === 'deflate' ? inflateSync(body) : body;
}

function masked(
  { headers, body }: Answer,
  words: Correspondence,
  isOfThisRun: boolean,
): Omit<Answer, 'status'> {
  const kept = Object.entries(headers).filter(([name]) => !OF_ONE_ANSWER.has(name));
  return {
    headers: Object.fromEntries(kept.map(([name, value]) => [name, words.masked(value, isOfThisRun)])),
    body: words.masked(body, isOfThisRun),
  };
}

/** `status`, names of headers, and `body`, of those in which two answers differ. */
export function differencesOf(then: Answer, now: Answer): string[] {
  const names = new Set([...Object.keys(then.headers), ...Object.keys(now.headers)]);
  return [
    ...(then.status === now.status ? [] : ['status']),
    ...[...names].filter((name) => then.headers[name] !== now.headers[name]).sort(),
    ...(then.body === now.body ? [] : ['body']),
  ];
}
