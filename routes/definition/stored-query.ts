import type { Context } from 'koa';

import { parseAql } from '../../aql/syntax/parse.js';
import { DIALECTS } from '../../openehr/base/dialect.js';
import { CdrError } from '../../openehr/base/errors.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { isJsonObject } from '../../openehr/base/json.js';
import { within } from '../../openehr/base/work.js';
import type { VersionPrefix } from '../../openehr/base/semver.js';
import { formatVersion, parseVersionPrefix } from '../../openehr/base/semver.js';
import type { Settings } from '../../config/settings.js';
import type { QueryDefiner } from '../../change/definition/query-owner.js';
import { storeQuery } from '../../change/definition/stored-query.js';
import { requestBody, responseBody } from '../http/negotiation/media-type.js';
import type { QueryName, QueryPattern, StoredQueryDoc } from '../../models/definition/stored-query.js';
import { storedQueries, storedQuery } from '../../models/definition/stored-query.js';
import { absoluteUrl } from '../http/exchange.js';
import type { BodyDescription, Operation, OperationGroup } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { parseJsonBody } from '../http/request/request-body.js';
import { STANDARD_API } from '../http/request/request-state.js';

const NAME = /^(?:([A-Za-z0-9_.-]+)::)?([A-Za-z0-9_.-]+)$/;
const PATTERN_PART = /^[A-Za-z0-9_.-]*$/;
/** Characters of the name of a stored query. */
export const MAX_NAME_LENGTH = 500;

const PATH = `${STANDARD_API}/definition/query`;
const STORED_QUERY: BodyDescription = { schema: 'StoredQuery', types: 'json' };
const LIST: BodyDescription = { schema: 'StoredQueryList', types: 'json' };

type QuerySettings = Pick<Settings, 'queryOwners' | 'itsRest'>;

/** AQL queries under a name and a version. */
export function storedQueryOperations(settings: QuerySettings): OperationGroup {
  const read = { method: 'GET', access: 'read', audit: 'none' } as const;
  return {
    tag: 'STORED_QUERY',
    description: 'AQL queries under a name and a version',
    operations: [
      {
        ...read,
        id: 'query_list_all',
        discloses: 'nothing',
        path: PATH,
        summary: 'List all stored queries',
        responses: { 200: { description: 'By name, newest version first', body: LIST } },
        errors: [],
        handle: (ctx) => writeList(ctx, { kind: 'all' }),
      },
      {
        ...read,
        id: 'query_list',
        discloses: 'nothing',
        path: `${PATH}/{qualified_query_name}`,
        summary: 'List the stored queries whose name fits a pattern',
        responses: { 200: { description: 'By name, newest version first; may be empty', body: LIST } },
        errors: [400],
        handle: (ctx) => writeList(ctx, patternOf(pathParameter(ctx, 'qualified_query_name'))),
      },
      {
        ...read,
        id: 'query_get',
        discloses: 'nothing',
        path: `${PATH}/{qualified_query_name}/{version}`,
        summary: 'Get a stored query: this version, or the highest release that begins so',
        responses: { 200: { description: 'The query', body: STORED_QUERY } },
        errors: [400, 404],
        handle: writeStoredQuery,
      },
      {
        ...storing(
          DIALECTS[settings.itsRest].isUnversionedQueryReplaced
            ? 'Store a query as version 1.0.0, in the place of what that was'
            : 'Store a query as the next major version',
          [400, 422],
        ),
        id: 'query_store',
        path: `${PATH}/{qualified_query_name}`,
        handle: (ctx) => putStoredQuery(ctx, settings, null),
      },
      {
        ...storing('Store a query under this version, or as the next one that begins so', [400, 409, 422]),
        id: 'query_store_version',
        path: `${PATH}/{qualified_query_name}/{version}`,
        handle: (ctx) => putStoredQuery(ctx, settings, versionFrom(pathParameter(ctx, 'version'))),
      },
    ],
  };
}

function storing(summary: string, errors: Operation['errors']): Omit<Operation, 'id' | 'path' | 'handle'> {
  return {
    method: 'PUT',
    summary,
    access: 'define',
    audit: 'write',
    discloses: 'nothing',
    parameters: ['query_type', 'query_type_alias'],
    request: { schema: 'AqlText', types: 'query' },
    responses: { 200: { description: 'Stored', body: STORED_QUERY, headers: ['Location'] } },
    errors,
  };
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
  const { definitionScopes } = ctx.state;
  const docs = await storedQueries(pattern);
  const listed =
    definitionScopes === undefined ? docs : docs.filter(({ name }) => definitionScopes.lists('aql', name));
  ctx.body = listed.map(recordOf);
}

async function writeStoredQuery(ctx: Context): Promise<void> {
  responseBody('stored-query', ctx.get('Accept'));
  const { name } = queryNameFrom(pathParameter(ctx, 'qualified_query_name'));
  const version = pathParameter(ctx, 'version');
  const doc = await storedQuery(name, versionFrom(version));
  if (doc === null) throw new CdrError('not-found', `Stored query ${name}/${version} does not exist`);
  ctx.body = recordOf(doc);
}

async function putStoredQuery(
  ctx: Context,
  settings: QuerySettings,
  prefix: VersionPrefix | null,
): Promise<void> {
  const { format } = requestBody('stored-query', ctx.get('Content-Type'));
  responseBody('stored-query', ctx.get('Accept'));
  const name = queryNameFrom(pathParameter(ctx, 'qualified_query_name'));
  requireAqlType(ctx);
  const q = format === 'TEXT' ? bodyText(ctx) : await queryMember(ctx);
  within(ctx.state.work, () => parseAql(q));
  const definer = settings.queryOwners ? definerOf(ctx) : null;
  const place = DIALECTS[settings.itsRest].isUnversionedQueryReplaced ? 'first' : 'next';
  const doc = await storeQuery(name, prefix, { q, definer }, place);
  ctx.set('Location', absoluteUrl(ctx, `/definition/query/${doc.name}/${formatVersion(doc)}`));
  ctx.body = recordOf(doc);
}

/** null: nobody is asked who he is. */
function definerOf({ state: { user } }: Context): QueryDefiner | null {
  if (user === null) return null;
  const { subject: sub, issuer: iss, permissions } = user;
  return { sub, iss, isAdministrator: permissions.has('admin') };
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
  queryParameter(ctx, 'query_type');
  queryParameter(ctx, 'query_type_alias');
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
