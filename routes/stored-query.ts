import Router from '@koa/router';
import type { Context } from 'koa';

import { parseAql } from '../aql/parser/parse.js';
import { CdrError } from '../base/errors.js';
import { formatUtc } from '../base/iso8601.js';
import type { JsonObject } from '../base/json.js';
import { isJsonObject } from '../base/json.js';
import type { VersionPrefix } from '../base/semver.js';
import { formatVersion, parseVersionPrefix } from '../base/semver.js';
import { storeQuery } from '../change/stored-query.js';
import { requestBody, responseBody } from '../format/media-type.js';
import type { QueryName, QueryPattern, StoredQueryDoc } from '../models/stored-query.js';
import { storedQueries, storedQuery } from '../models/stored-query.js';
import { absoluteUrl } from './exchange.js';
import { queryParameter } from './query-parameter.js';
import { parseJsonBody } from './request-body.js';

const NAME = /^(?:([A-Za-z0-9_.-]+)::)?([A-Za-z0-9_.-]+)$/;
const PATTERN_PART = /^[A-Za-z0-9_.-]*$/;
const MAX_NAME_LENGTH = 500;

/** The stored AQL queries of the Definition API. ITS-REST: query_store, query_list, query_get. */
export function storedQueryRoutes(): Router {
  const router = new Router();
  const base = '/definition/query';
  router.get(base, (ctx) => writeList(ctx, { kind: 'all' }));
  router.get(`${base}/:pattern`, (ctx) => writeList(ctx, patternOf(ctx.params.pattern ?? '')));
  router.get(`${base}/:name/:version`, writeStoredQuery);
  router.put(`${base}/:name`, (ctx) => putStoredQuery(ctx, null));
  router.put(`${base}/:name/:version`, (ctx) => putStoredQuery(ctx, versionFrom(ctx.params.version)));
  return router;
}

/** `[<namespace>::]<query-name>` of a path. @throws invalid when malformed or the reserved word `aql`. */
export function queryNameFrom(text: string | undefined): QueryName {
  const match = NAME.exec(text ?? '');
  const [name, namespace, queryName] = match ?? [];
  if (name === undefined || queryName === undefined || name.length > MAX_NAME_LENGTH)
    throw new CdrError('invalid', 'the query name must be [<namespace>::]<query-name>');
  if (queryName.toLowerCase() === 'aql') throw new CdrError('invalid', 'the query name must not be aql');
  return { name, namespace: namespace ?? null, queryName };
}

/** Whole or partial version of a path. @throws invalid when malformed. */
export function versionFrom(text: string | undefined): VersionPrefix {
  const version = parseVersionPrefix(text ?? '');
  if (version === null)
    throw new CdrError('invalid', 'the version must be <major>[.<minor>[.<patch>[-<pre-release>]]]');
  return version;
}

/** Without `::` a prefix of the name or a whole query-name, with it two parts that may be empty. */
function patternOf(text: string): QueryPattern {
  const parts = text.split('::');
  const [namespace = '', queryName = ''] = parts;
  if (parts.length > 2 || text.length > MAX_NAME_LENGTH || !parts.every((part) => PATTERN_PART.test(part)))
    throw new CdrError('invalid', 'the pattern must be a name or [<namespace>]::[<query-name>]');
  return parts.length === 1 ? { kind: 'prefix', text } : { kind: 'parts', namespace, queryName };
}

async function writeList(ctx: Context, pattern: QueryPattern): Promise<void> {
  responseBody('stored-query', ctx.get('Accept'));
  const docs = await storedQueries(pattern);
  ctx.body = docs.map(recordOf);
}

async function writeStoredQuery(ctx: Context): Promise<void> {
  responseBody('stored-query', ctx.get('Accept'));
  const params = ctx.params as Record<string, string>;
  const { name } = queryNameFrom(params.name);
  const doc = await storedQuery(name, versionFrom(params.version));
  if (doc === null)
    throw new CdrError('not-found', `Stored query ${name}/${params.version ?? ''} does not exist`);
  ctx.body = recordOf(doc);
}

async function putStoredQuery(ctx: Context, prefix: VersionPrefix | null): Promise<void> {
  const { format } = requestBody('stored-query', ctx.get('Content-Type'));
  responseBody('stored-query', ctx.get('Accept'));
  const name = queryNameFrom((ctx.params as Record<string, string>).name);
  requireAqlType(ctx);
  const q = format === 'TEXT' ? bodyText(ctx) : await queryMember(ctx);
  parseAql(q);
  const doc = await storeQuery(name, prefix, q);
  ctx.set('Location', absoluteUrl(ctx, `/definition/query/${doc.name}/${formatVersion(doc)}`));
  ctx.body = recordOf(doc);
}

function bodyText(ctx: Context): string {
  const text = ctx.request.body;
  if (typeof text !== 'string' || text.trim() === '')
    throw new CdrError('invalid', 'the body must hold the text of an AQL query');
  return text;
}

async function queryMember(ctx: Context): Promise<string> {
  const body = await parseJsonBody(ctx, bodyText(ctx));
  const q = isJsonObject(body) ? body.q : undefined;
  if (typeof q !== 'string' || q.trim() === '')
    throw new CdrError('invalid', 'the body must be {"q": "<AQL text>"}');
  return q;
}

function requireAqlType(ctx: Context): void {
  const given = [queryParameter(ctx, 'query_type'), queryParameter(ctx, 'type')].filter(
    (type) => type !== null,
  );
  if (given.some((type) => type.toUpperCase() !== 'AQL'))
    throw new CdrError('invalid', 'query_type must be AQL');
}

function recordOf(doc: StoredQueryDoc): JsonObject {
  return {
    name: doc.name,
    type: doc.type,
    version: formatVersion(doc),
    saved: formatUtc(doc.saved),
    q: doc.q,
  };
}
