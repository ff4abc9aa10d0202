import type { Context } from 'koa';
import type { JsonValue } from '../../../openehr/base/json.js';
import { parseJson } from '../../../openehr/format/canonical-json.js';
import { fromXml } from '../../../openehr/format/canonical-xml.js';
import { isLarge, parseLarge } from '../../../workers/large-body.js';

/** Bounds of the bodies of this server, for `parseJson` and `fromXml`. */
export function bodyLimits(ctx: Context): { readonly maxNodes: number } {
  return { maxNodes: ctx.state.maxBodyNodes };
}

/** A JSON body parsed, a large one in another thread. @throws as `parseJson` and `parseLarge` */
export async function parseJsonBody(ctx: Context, text: string): Promise<JsonValue> {
  const limits = bodyLimits(ctx);
  return isLarge(text)
    ? parseLarge({ text, isXml: false, declaredType: '', ...limits })
    : parseJson(text, limits);
}

/** An XML body of an RM class parsed, a large one in another thread. @throws as `fromXml` and `parseLarge` */
export async function parseXmlBody(ctx: Context, text: string, declaredType: string): Promise<JsonValue> {
  const limits = bodyLimits(ctx);
  return isLarge(text)
    ? parseLarge({ text, isXml: true, declaredType, ...limits })
    : fromXml(text, declaredType, limits);
}
