import type { Context } from 'koa';
import {
  queryParameters as parametersOf,
  type UnusedParameter,
} from '../../aql/semantics/bind/parameters.js';
import type { QueryRequest } from '../../query/compile.js';
import { CdrError } from '../../openehr/base/errors.js';
import { parseVersionAtTime } from '../../openehr/base/iso8601.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { isJsonObject } from '../../openehr/base/json.js';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import { violationAt } from '../../openehr/base/violation.js';
import type { Settings } from '../../config/settings.js';
import { isAudited } from '../http/audit-trail.js';
import { bodyText, requiredBodyText } from '../http/exchange.js';
import {
  queryParameter,
  queryParameters,
  textsOf,
  knownNames,
  refuseOrWarn,
  SENT_EVERYWHERE,
  unknownNames,
} from '../http/parameter-values.js';
import { parseJsonBody } from '../http/request/request-body.js';
import { currentOperation } from '../http/request/request-state.js';
import { vendorHeader } from '../http/request/headers.js';

/** Members of a body beside `q`. */
const MEMBERS = ['ehr_id', 'offset', 'fetch', 'query_parameters', 'as_of'];

/** The request of GET: every other query key is a parameter. ITS-REST: query_execute_adhoc_query. @throws invalid */
export function readGetRequest(ctx: Context, defaultTimezone: string): QueryRequest {
  return {
    parameters: parametersOf('text', getParameters(ctx)),
    ...common(ctx, {}, defaultTimezone),
  };
}

/** The text `q` of GET. @throws invalid when it is missing */
export function readGetQuery(ctx: Context): string {
  refuseOtherNameOfQ(ctx.query);
  return requiredText(queryParameter(ctx, 'q'));
}

/** The request of POST and, of an ad-hoc query, `q`. @throws invalid */
export async function readPostRequest(
  ctx: Context,
  { defaultTimezone, strictParameters }: Pick<Settings, 'defaultTimezone' | 'strictParameters'>,
  isAdHoc: boolean,
): Promise<QueryRequest & { readonly body: JsonObject }> {
  const text = isAdHoc ? requiredBodyText(ctx) : bodyText(ctx);
  const body: JsonValue = text === null ? {} : await parseJsonBody(ctx, text);
  if (!isJsonObject(body)) throw new CdrError('invalid', 'the body must be a JSON object');
  if (isAdHoc) refuseOtherNameOfQ(body);
  const unknown = unknownNames('member', Object.keys(body), isAdHoc ? ['q', ...MEMBERS] : MEMBERS);
  refuseOrWarn(ctx, unknown, strictParameters);
  const given = body.query_parameters ?? {};
  if (!isJsonObject(given)) throw new CdrError('invalid', 'query_parameters must be a JSON object');
  return {
    body,
    parameters: parametersOf('json', Object.entries(given)),
    ...common(ctx, body, defaultTimezone),
  };
}

/**
 * Refuses, or warns of, what a GET has beside the parameters of the query: each was meant for one of them, but for what
 * clients send everywhere. @throws invalid
 */
export function refuseOrWarnOfUnused(
  ctx: Context,
  unused: readonly UnusedParameter[],
  { strictParameters }: Pick<Settings, 'strictParameters'>,
): void {
  const counted = unused.filter(({ name }) => !SENT_EVERYWHERE.includes(name));
  if (counted.length === 0) return;
  const problems = counted.map(({ name, message }) => violationAt(`?${name}`, message, 'unknown-parameter'));
  refuseOrWarn(
    ctx,
    { message: counted.map(({ message }) => message).join('; '), problems },
    strictParameters,
  );
}

/** What other servers call `q`. */
const OTHER_NAMES = ['query', 'aql'];

function refuseOtherNameOfQ(given: Readonly<Record<string, unknown>>): void {
  const other = OTHER_NAMES.find((name) => given[name] !== undefined);
  if (other !== undefined && given['q'] === undefined)
    throw new CdrError('invalid', `the text of the query is named q here, not ${other}: {"q": "SELECT …"}`);
}

/** The text `q` of a POST body. @throws invalid when it is missing */
export function readPostQuery(body: JsonObject): string {
  return requiredText(typeof body.q === 'string' ? body.q : null);
}

function requiredText(q: string | null): string {
  if (q === null || q.trim() === '') throw new CdrError('invalid', 'the query text q is missing');
  return q;
}

function getParameters(ctx: Context): [string, JsonValue][] {
  const found = new Map<string, string[]>();
  const add = (name: string, value: string): void => {
    const key = name.startsWith('$') ? name.slice(1) : name;
    found.set(key, [...(found.get(key) ?? []), value]);
  };
  const known = knownNames(currentOperation(ctx).operation);
  for (const name of Object.keys(ctx.query))
    if (!known.includes(name)) for (const value of textsOf(ctx, name)) add(name, value);
  for (const pairs of queryParameters(ctx, 'query_parameters'))
    for (const [name, value] of new URLSearchParams(pairs)) add(name, value);
  return [...found].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]);
}

function common(ctx: Context, body: JsonObject, defaultTimezone: string): Omit<QueryRequest, 'parameters'> {
  const asOf = oneOf('as_of', [queryParameter(ctx, 'as_of'), optionalText(body, 'as_of')]);
  return {
    ehrId: ehrIdOf(ctx, body),
    fetch: countOf(ctx, body, 'fetch'),
    offset: countOf(ctx, body, 'offset'),
    asOf: asOf === null ? null : instantOf(asOf, defaultTimezone),
    notesEhrs: isAudited(ctx),
  };
}

/** The EHR that a query, or the body of something else, names, known before it is read; null: none, or what it names is wrong, which is said when it is read. */
export async function namedEhr(ctx: Context): Promise<string | null> {
  const text = bodyText(ctx);
  try {
    const body: JsonValue = text === null ? {} : await parseJsonBody(ctx, text);
    const given = isJsonObject(body) ? body : {};
    return currentOperation(ctx).operation.discloses === 'query'
      ? ehrIdOf(ctx, given)
      : ehrIdIn(optionalText(given, 'ehr_id'));
  } catch (error) {
    if (error instanceof CdrError) return null;
    throw error;
  }
}

function ehrIdOf(ctx: Context, body: JsonObject): string | null {
  const inBody = ehrIdIn(optionalText(body, 'ehr_id'));
  return oneOf('ehr_id', [queryParameter(ctx, 'query_ehr_id'), inBody, ehrIdIn(vendorHeader(ctx, 'EHR-id'))]);
}

function ehrIdIn(text: string | null): string | null {
  return text === null ? null : (parseEhrId(text.trim()) ?? refuseEhrId());
}

function refuseEhrId(): never {
  throw new CdrError('invalid', 'ehr_id must be a UUID, an ISO OID or an internet id');
}

function optionalText(body: JsonObject, name: string): string | null {
  const value = body[name] ?? null;
  if (value === null || typeof value === 'string') return value;
  throw new CdrError('invalid', `${name} must be a text`);
}

function countOf(ctx: Context, body: JsonObject, name: 'fetch' | 'offset'): number | null {
  const value = body[name] ?? null;
  const inBody = value === null ? null : countFrom(JSON.stringify(value).replace(/^"(.*)"$/, '$1'), name);
  return oneOf(name, [queryParameter(ctx, name), inBody]);
}

const COUNT = /^-?\d{1,15}$/;

/** `pageOf` validates the range. */
function countFrom(text: string, name: string): number {
  if (!COUNT.test(text)) throw new CdrError('invalid', `${name} must be a whole number`);
  return Number(text);
}

function instantOf(text: string, defaultTimezone: string): Date {
  return parseVersionAtTime(text, defaultTimezone, 'as_of');
}

/** The one value that is given, maybe in several places. @throws invalid when they differ */
function oneOf<T>(name: string, values: readonly (T | null)[]): T | null {
  const given = values.filter((value) => value !== null);
  const [first] = given;
  if (given.some((value) => value !== first))
    throw new CdrError('invalid', `${name} was given twice with different values`);
  return first ?? null;
}
