import type { RequestListener } from 'node:http';
import request from 'supertest';
import type { Operation } from '../../../routes/http/operation/operation.js';
import { Random } from '../random.js';
import { givenTemplate, V1 } from '../resources.js';
import { spoiled, unseenRequests, type UnseenRequest } from './unseen-requests.js';
import type { Names, SeenEhr } from './unseen-world.js';

/** What was answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** By operation and request. */
export type Answers = Readonly<Record<string, Answer>>;

/** Who is asked, and who asks. */
export interface Asking {
  /** Of the server. */
  readonly url: string;
  /** An `Authorization` header. */
  readonly token: string;
  readonly operations: readonly Operation[];
  /** Members of answers, and elements, that are not compared: what counts everything by design, and what the server itself has done. */
  readonly cut?: readonly string[];
}

const METHODS = { GET: 'get', PUT: 'put', POST: 'post', DELETE: 'delete', OPTIONS: 'options' } as const;
/** Of each answer anew. */
const OWN_HEADERS = ['date', 'x-request-id', 'keep-alive', 'connection'];

/** In `npm test` so many requests are also sent with something wrong in them: one of each. */
const SPOILED = process.env['TEST_LAWS'] || process.env['TEST_LONG'] ? 1 : 4;

/** Sends one request. */
export async function answerOf(
  { url, token }: Pick<Asking, 'url' | 'token'>,
  operation: Operation,
  asked: UnseenRequest,
): Promise<Answer> {
  const path = asked.path.startsWith('/') ? asked.path : `${storedPath(operation)}${asked.path}`;
  const [to, method] = [request(url), METHODS[operation.method]];
  const sending = to[method](path).set({ Authorization: token, ...asked.headers });
  const { status, headers, text } = await (asked.body === undefined ? sending : sending.send(asked.body));
  const kept = Object.entries(headers as Record<string, string>).filter(
    ([name]) => !OWN_HEADERS.includes(name),
  );
  return { status, headers: Object.fromEntries(kept), text };
}

function storedPath({ path }: Operation): string {
  return path.replace('{qualified_query_name}', 'org.example::q').replace('{version}', '1.0.0');
}

/** An answer without what differs from one moment to the next or is of one server, and with names for what is asked for. */
export function masked({ status, headers, text }: Answer, names: Names, cut: readonly string[] = []): Answer {
  const body: unknown = text.startsWith('{') ? JSON.parse(text) : null;
  const kept = body === null ? null : without(body as Record<string, unknown>, cut);
  const inXml = cut.reduce(
    (left, name) => left.replaceAll(new RegExp(String.raw`<${name}>\d+`, 'g'), `<${name}>`),
    text,
  );
  const isWhole =
    kept === null ? inXml === text : Object.keys(kept).length === Object.keys(body as object).length;
  const { 'content-length': length = '', ...others } = headers;
  const byLength = Object.entries(names).sort(([, one], [, other]) => other.length - one.length);
  const maskedText = (said: string): string =>
    byLength
      .reduce((masking, [name, value]) => masking.replaceAll(value, `<${name}>`), said)
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g, '<time>')
      .replaceAll(/127\.0\.0\.1:\d{5}\b/g, '<server>')
      .replaceAll(/(request_id"?[:>]"?)[0-9a-f-]{36}/g, '$1');
  return {
    status,
    headers: {
      ...(JSON.parse(maskedText(JSON.stringify(others))) as Record<string, string>),
      ...(isWhole && { 'content-length': length }),
    },
    text: maskedText(kept === null ? inXml : JSON.stringify(kept)),
  };
}

function without(body: Record<string, unknown>, cut: readonly string[]): Record<string, unknown> {
  const kept = Object.entries(body).filter(([name]) => !cut.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, name === 'rows' ? inAnyOrder(body) : value]));
}

/** Rows that nobody has asked to be sorted come as the database finds them, which plans by what it has. */
function inAnyOrder({ rows, q }: Record<string, unknown>): unknown {
  if (!Array.isArray(rows) || (typeof q === 'string' && q.includes('ORDER BY'))) return rows;
  return rows.map((row) => JSON.stringify(row)).sort();
}

/** All answers, masked. `seed`: of what is wrong with the requests, the same in both worlds. */
export async function answersOf(
  asking: Asking,
  { names, seen, seed }: { readonly names: Names; readonly seen: SeenEhr; readonly seed: number },
): Promise<Answers> {
  const random = new Random(seed);
  const all: Record<string, Answer> = {};
  for (const [number, operation] of asking.operations.entries())
    for (const [index, asked] of unseenRequests(operation, names, seen).entries()) {
      const told = async (each: UnseenRequest): Promise<Answer> =>
        masked(await answerOf(asking, operation, each), names, asking.cut);
      all[`${operation.id} ${index}`] = await told(asked);
      const other = spoiled(asked, random);
      if ((number + index) % SPOILED !== 0) continue;
      all[`${operation.id} ${index} spoiled`] = await told(other);
    }
  return all;
}

/** A template and a stored query, of which the operations ask. */
export async function givenDefinitions(app: RequestListener): Promise<void> {
  await givenTemplate(app);
  await request(app)
    .put(`${V1}/definition/query/org.example::q/1.0.0`)
    .set('Content-Type', 'text/plain')
    .send('SELECT c/uid/value FROM EHR e CONTAINS COMPOSITION c')
    .expect(200);
}
