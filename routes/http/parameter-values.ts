import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import {
  parameterDescription,
  type ParameterName,
  type ParameterValue,
  type UsualValue,
} from './operation/parameters.js';
import { currentOperation } from './request/request-state.js';
import { addWarnings } from './answer/warning.js';
import { nearestWord } from '../../openehr/base/text.js';
import { violationAt, type Violation } from '../../openehr/base/violation.js';
import type { Operation } from './operation/operation.js';

/** The value of a path parameter. @throws invalid when it is malformed */
export function pathParameter<K extends ParameterName>(ctx: Context, key: K): ParameterValue<K> {
  const { params } = currentOperation(ctx);
  const text = params[key];
  if (text === undefined) throw new TypeError(`the path of the operation has no ${key}`);
  return parsed(ctx, key, text);
}

/**
 * The value of a query parameter; when it is absent or empty its usual one, null without.
 * @throws invalid when it is malformed or given more than once
 */
export function queryParameter<K extends ParameterName>(
  ctx: Context,
  key: K,
): ParameterValue<K> | UsualValue<K> {
  const { sentAs, aliases = [], usual = null } = declared(ctx, key);
  const texts = [sentAs, ...aliases].flatMap((name) => textsOf(ctx, name));
  const [text = ''] = texts;
  if (texts.length > 1) throw new CdrError('invalid', `the query parameter ${sentAs} may be given only once`);
  const value: unknown = text === '' ? usual : parsed(ctx, key, text);
  return value as ParameterValue<K> | UsualValue<K>;
}

/** All values of a repeatable query parameter, in the order given. @throws invalid when one is malformed */
export function queryParameters<K extends ParameterName>(ctx: Context, key: K): ParameterValue<K>[] {
  return textsOf(ctx, declared(ctx, key).sentAs).map((text) => parsed(ctx, key, text));
}

/** The texts that a query parameter was given, whatever the operation says of it. */
export function textsOf(ctx: Context, name: string): readonly string[] {
  const value = Object.hasOwn(ctx.query, name) ? ctx.query[name] : undefined;
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** What an operation reads must stand in its row of the table, else the request would have been refused for it. */
function declared<K extends ParameterName>(ctx: Context, key: K) {
  const { operation } = currentOperation(ctx);
  if (operation.parameters?.includes(key) !== true)
    throw new TypeError(`the operation ${operation.id} does not declare the parameter ${key}`);
  return parameterDescription(key);
}

function parsed<K extends ParameterName>(ctx: Context, key: K, text: string): ParameterValue<K> {
  const { parse, sentAs } = parameterDescription(key);
  const { defaultTimezone, systemId } = ctx.state;
  return parse(text, { name: sentAs, defaultTimezone, systemId });
}

/** Query parameters of one request at most. */
export const MAX_QUERY_PARAMETERS = 1_000;

/** Unknown names that one answer names, and how much of each it repeats. */
const MAX_NAMED = 10;
const MAX_NAME_LENGTH = 100;

/** Counts parameters in the text: the parser forgets those after the thousandth without a word. @throws invalid */
export function requireFewParameters(querystring: string): void {
  if (querystring.split('&').length > MAX_QUERY_PARAMETERS)
    throw new CdrError('invalid', `a request has at most ${MAX_QUERY_PARAMETERS} query parameters`);
}

/** Parameters that clients send to whatever operation: without a meaning for it they are passed over. */
export const SENT_EVERYWHERE: readonly string[] = ['format', 'templateId', 'ehr_id', 'composition_id'];

/**
 * Query parameters that an operation does not know, each with the nearest known one. Those that clients send everywhere
 * count for a deletion only: there a parameter that is ignored (`?dry_run=true`) is taken for done.
 */
export function unknownParameters(
  operation: Operation,
  query: Readonly<Record<string, unknown>>,
): UnknownNames | null {
  if (operation.takesVariables === true) return null;
  const names = Object.keys(query);
  const counted =
    operation.method === 'DELETE' ? names : names.filter((name) => !SENT_EVERYWHERE.includes(name));
  return unknownNames('query parameter', counted, knownNames(operation));
}

/** Names that are not known, as the answer shows them. */
export interface UnknownNames {
  readonly message: string;
  readonly problems: readonly Violation[];
}

/** Which names are not known, each with the nearest known one; null when all are. `kind`: what they are names of. */
export function unknownNames(
  kind: string,
  names: readonly string[],
  known: readonly string[],
): UnknownNames | null {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return null;
  const problems = unknown.slice(0, MAX_NAMED).map((name) => unknownName(kind, name, known));
  const more = unknown.length > MAX_NAMED ? [`and ${unknown.length - MAX_NAMED} more`] : [];
  return { message: [...problems.map((problem) => problem.message), ...more].join('; '), problems };
}

/** Refuses what is not known where it must not be passed over, else warns of it. @throws invalid */
export function refuseOrWarn(ctx: Context, unknown: UnknownNames | null, isRefused: boolean): void {
  if (unknown === null) return;
  const { message, problems } = unknown;
  if (isRefused) throw new CdrError('invalid', message, { problems });
  addWarnings(
    ctx,
    problems.map(({ path, message }) => ({
      ...(path.startsWith('?')
        ? { kind: 'parameter' as const, name: path.slice(1) }
        : { kind: 'member' as const, name: path.slice(1) }),
      text: `${message} (ignored)`,
    })),
  );
}

function unknownName(kind: string, name: string, known: readonly string[]): Violation {
  const found = name.slice(0, MAX_NAME_LENGTH);
  const nearest = nearestWord(name, known);
  const message = `the ${kind} ${found} is not known; ${hintFor(nearest, known)}`;
  const path = kind === 'query parameter' ? `?${found}` : `/${found}`;
  const expected = nearest === null ? known : [nearest];
  return { ...violationAt(path, message, 'unknown-parameter'), expected, found };
}

function hintFor(nearest: string | null, known: readonly string[]): string {
  if (nearest !== null) return `did you mean ${nearest}?`;
  return known.length === 0 ? 'there is none here' : `known are ${known.join(', ')}`;
}

/** The names of query parameters as they may be sent. */
export function knownNames({ parameters = [] }: Operation): string[] {
  return parameters.flatMap((key) => {
    const { in: place, sentAs, aliases = [] } = parameterDescription(key);
    return place === 'query' ? [sentAs, ...aliases] : [];
  });
}
