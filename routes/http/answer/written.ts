import type { Context } from 'koa';
import { type JsonObject, jsonOf } from '../../../openehr/base/json.js';
import { tryHere } from '../../../openehr/base/work.js';
import type { BodyFormat } from '../../../openehr/format/body-format.js';
import { toXml } from '../../../openehr/format/canonical-xml.js';
import { compositionText } from '../../../openehr/format/composition/composition-text.js';
import { rootName } from '../../../change/commit/resource.js';
import { templateText } from '../../../change/composition/validate-composition.js';
import type { RevisionText } from '../../../models/definition/revision-in-use.js';
import type { CompiledTemplate } from '../../../openehr/template/compile.js';
import { isLarge, writeLarge } from '../../../workers/large-body.js';
import type { WritingRequest } from '../../../workers/jobs.js';
import { bodyOwner } from '../request/request-body.js';

/** An object that is to be answered in another form than it is stored in. */
interface Writing {
  /** Canonical JSON, which tells how much there is to be written. */
  readonly json: string;
  /** Writes it. */
  readonly here: () => string;
  /** What a thread writes it by. */
  readonly elsewhere: () => Omit<WritingRequest, 'json'> | Promise<Omit<WritingRequest, 'json'>>;
}

/** The text of an answer, made in another thread when that takes long. @throws as `here` and `writeLarge` */
async function writtenText(ctx: Context, { json, here, elsewhere }: Writing): Promise<string> {
  const made = isLarge(json) ? null : tryHere(ctx.state.work, here);
  return made?.value ?? writeLarge({ json, ...(await elsewhere()) }, bodyOwner(ctx));
}

/** Canonical JSON as XML, made in another thread when that takes long. @throws as `toXml` and `writeLarge` */
export function writtenXml(ctx: Context, json: string, xmlRoot: string): Promise<string> {
  return writtenText(ctx, {
    json,
    here: () => toXml(jsonOf(json) as JsonObject, xmlRoot),
    elsewhere: () => ({ form: 'XML', xmlRoot, template: null }),
  });
}

/**
 * A COMPOSITION in one of its forms, made in another thread when that takes long. `stored`: reads the template for a thread.
 * @throws as `compositionText`, `writeLarge` and `stored`
 */
export async function writtenComposition(
  ctx: Context,
  json: string,
  form: BodyFormat,
  template: { readonly compiled: CompiledTemplate; readonly stored: () => Promise<RevisionText> },
): Promise<string> {
  if (form === 'JSON') return json;
  return writtenText(ctx, {
    json,
    here: () => compositionText(jsonOf(json) as JsonObject, form, template.compiled),
    elsewhere: async () => ({
      form,
      xmlRoot: rootName('COMPOSITION'),
      template: templateText(await template.stored()),
    }),
  });
}
