import { CdrError } from '../../openehr/base/errors.js';
import type { BoundQuery } from '../syntax/ast.js';

/** What the request says of paging; null = not given. */
export interface PageRequest {
  readonly fetch: number | null;
  readonly offset: number | null;
}

/** Settings `AQL_DEFAULT_FETCH`, `AQL_MAX_FETCH`; null = none. */
export interface PageLimits {
  readonly defaultFetch: number | null;
  readonly maxFetch: number | null;
}

/** Which rows of the ordered result are answered. */
export interface Page {
  /** TOP: these are cut first; `backward` = the last ones, in forward order. */
  readonly top: { readonly count: number; readonly backward: boolean } | null;
  readonly offset: number;
  /** Most rows; null = all. */
  readonly limit: number | null;
  /** `fetch` and `offset` of `meta`; null when no limit applies. */
  readonly meta: { readonly fetch: number; readonly offset: number } | null;
  /** What `_executed_aql` gets appended; null = nothing. */
  readonly appended: { readonly limit: number | null; readonly offset: number } | null;
}

/**
 * Joins LIMIT, OFFSET and TOP of a bound query with fetch and offset of the request (docs/spec/aql.md#paging).
 * @throws unprocessable when both page; invalid past `maxFetch` or for a bad fetch or offset
 */
export function pageOf(query: BoundQuery, request: PageRequest, limits: PageLimits): Page {
  checkRequest(request);
  if (query.limit !== null && (request.fetch !== null || request.offset !== null))
    throw new CdrError(
      'unprocessable',
      'Query contains a LIMIT clause, fetch and offset parameters must not be used',
    );
  const { top } = query.select;
  if (top !== null) return topPage(top, request, limits);
  return limitPage(query.limit, request, limits);
}

function limitPage(clause: BoundQuery['limit'], request: PageRequest, limits: PageLimits): Page {
  const asked = clause === null ? request.fetch : boundCount(clause.limit);
  capped(asked, limits);
  const limit = asked ?? limits.defaultFetch ?? limits.maxFetch;
  const offset = (clause === null ? request.offset : boundCount(clause.offset)) ?? 0;
  const isAppended = clause === null && (limit !== null || offset > 0);
  return {
    top: null,
    offset,
    limit,
    meta: limit === null ? null : { fetch: limit, offset },
    appended: isAppended ? { limit, offset } : null,
  };
}

function topPage(
  top: NonNullable<BoundQuery['select']['top']>,
  request: PageRequest,
  limits: PageLimits,
): Page {
  if (request.fetch !== null)
    throw new CdrError('invalid', 'Query contains a TOP clause, fetch parameter must not be used');
  capped(top.count, limits);
  const offset = request.offset ?? 0;
  return {
    top: { count: top.count, backward: top.direction === 'backward' },
    offset,
    limit: null,
    meta: { fetch: top.count, offset },
    appended: offset > 0 ? { limit: null, offset } : null,
  };
}

function checkRequest({ fetch, offset }: PageRequest): void {
  if (fetch !== null && !(Number.isSafeInteger(fetch) && fetch >= 1))
    throw new CdrError('invalid', 'fetch must be a whole number of 1 or more');
  if (offset !== null && !(Number.isSafeInteger(offset) && offset >= 0))
    throw new CdrError('invalid', 'offset must be a whole number of 0 or more');
}

function capped(count: number | null, { maxFetch }: PageLimits): void {
  if (count !== null && maxFetch !== null && count > maxFetch)
    throw new CdrError('invalid', `a query may ask for at most ${maxFetch} rows`);
}

function boundCount(count: NonNullable<BoundQuery['limit']>['limit']): number | null {
  return count?.value ?? null;
}
