import type { Context } from 'koa';
import type { JsonValue } from '../../../openehr/base/json.js';
import { parseJson } from '../../../openehr/format/canonical-json.js';
import { bodyFromXml } from '../../../openehr/format/extract-xml.js';
import { tryHere } from '../../../openehr/base/work.js';
import type { CompileStored } from '../../../models/definition/template.js';
import { compileTemplate, type CompiledTemplate } from '../../../openehr/template/compile.js';
import { compileLarge, isLarge, parseLarge, type BodyOwner } from '../../../workers/large-body.js';
import { answerEnd } from '../failure/slow-reader.js';
import { requesterOf } from './request-state.js';

/** How the bodies of this request are parsed by `parseJson` and `fromXml`. */
export function bodyReading(ctx: Context): { readonly maxNodes: number; readonly keepsUnknown: boolean } {
  return { maxNodes: ctx.state.maxBodyNodes, keepsUnknown: ctx.state.isLenient };
}

/** Whose the body of a request is, for the threads that read large ones: they end with the request. */
export function bodyOwner(ctx: Context): BodyOwner {
  return { user: requesterOf(ctx), end: answerEnd(ctx), work: ctx.state.work };
}

/** A JSON body parsed, in another thread when that takes long. @throws as `parseJson` and `parseLarge` */
export async function parseJsonBody(ctx: Context, text: string): Promise<JsonValue> {
  const reading = bodyReading(ctx);
  const here = isLarge(text) ? null : tryHere(ctx.state.work, () => parseJson(text, reading));
  if (here !== null) return here.value;
  return parseLarge({ text, isXml: false, declaredType: '', ...reading }, bodyOwner(ctx));
}

/** An XML body of an RM class, or of an EXTRACT, parsed, in another thread when that takes long. @throws as `fromXml` and `parseLarge` */
export async function parseXmlBody(ctx: Context, text: string, declaredType: string): Promise<JsonValue> {
  const reading = bodyReading(ctx);
  const here = isLarge(text) ? null : tryHere(ctx.state.work, () => bodyFromXml(text, declaredType, reading));
  if (here !== null) return here.value;
  return parseLarge({ text, isXml: true, declaredType, ...reading }, bodyOwner(ctx));
}

/** How a request compiles a stored template that is not kept any more: as one of a body. */
export function compilingFor(ctx: Context): CompileStored {
  return (opt) => compileTemplateBody(ctx, opt);
}

/** The template of a body compiled, in another thread when that takes long. @throws as `compileTemplate` and `compileLarge` */
export async function compileTemplateBody(ctx: Context, opt: string): Promise<CompiledTemplate> {
  const here = isLarge(opt) ? null : tryHere(ctx.state.work, () => compileTemplate(opt));
  return here === null ? compileLarge(opt, bodyOwner(ctx)) : here.value;
}
