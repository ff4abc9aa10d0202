import type { Context } from 'koa';
import { CdrError } from '../../../openehr/base/errors.js';
import { parameterDescription, type ParameterName, type ParameterValue } from '../operation/parameters.js';
import { currentOperation } from './request-state.js';

/** The value of a path parameter. @throws invalid when it is malformed */
export function pathParameter<K extends ParameterName>(ctx: Context, key: K): ParameterValue<K> {
  const { params } = currentOperation(ctx);
  const text = params[key];
  if (text === undefined) throw new TypeError(`the path of the operation has no ${key}`);
  return parsed(ctx, key, text);
}

/**
 * The value of a query parameter, null when it is absent or empty.
 * @throws invalid when it is malformed or given more than once
 */
export function queryParameter<K extends ParameterName>(ctx: Context, key: K): ParameterValue<K> | null {
  const { sentAs, aliases = [] } = declared(ctx, key);
  const texts = [sentAs, ...aliases].flatMap((name) => textsOf(ctx, name));
  const [text = ''] = texts;
  if (texts.length > 1) throw new CdrError('invalid', `the query parameter ${sentAs} may be given only once`);
  return text === '' ? null : parsed(ctx, key, text);
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
  return parse(text, { name: sentAs, defaultTimezone: ctx.state.defaultTimezone });
}
