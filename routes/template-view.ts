import { randomUUID } from 'node:crypto';
import Router from '@koa/router';
import type { Context } from 'koa';

import type { JsonObject } from '../base/json.js';
import { formatObjectVersionId } from '../base/object-version-id.js';
import type { Settings } from '../base/settings.js';
import { responseBody } from '../format/media-type.js';
import { exampleComposition } from '../template/example.js';
import { compositionText } from './composition-text.js';
import { absoluteUrl, setResourceHeaders, writeText } from './exchange.js';
import { queryParameter, queryWord } from './query-parameter.js';
import { ADL14_TEMPLATES, requireCompiled, templateIdFrom } from './template-access.js';
import { requestVendorWord } from './vendor-header.js';

/** Views of a template: example COMPOSITION, and the web template at its old path. ITS-REST: template_example. */
export function templateViewRoutes(settings: Settings): Router {
  const router = new Router();
  const path = `${ADL14_TEMPLATES}/:template_id`;
  router.get(`${path}/example`, (ctx) => getExample(ctx, settings));
  router.get(`${path}/webtemplate`, getWebTemplate);
  return router;
}

async function getExample(ctx: Context, settings: Settings): Promise<void> {
  const format = queryParameter(ctx, 'format') ?? undefined;
  const vendorWord = requestVendorWord(ctx);
  const form = responseBody('template-example', ctx.get('Accept'), { format, vendorWord });
  const type = queryWord(ctx, 'type', ['input', 'output'], 'input');
  const detailLevel = queryWord(ctx, 'detail_level', ['required', 'medium', 'complete'], 'required');
  const { compiled } = await requireCompiled(templateIdFrom(ctx));
  const example = exampleComposition(compiled, { type, detailLevel });
  if (type === 'output') example.uid = freshUid(settings.systemId);
  writeText(ctx, form, compositionText(example, form, compiled));
}

/** The uid that a first version made here would have, so that this example can be committed too. */
function freshUid(systemId: string): JsonObject {
  const value = formatObjectVersionId({ objectId: randomUUID(), systemId, version: 1 });
  return { _type: 'OBJECT_VERSION_ID', value };
}

async function getWebTemplate(ctx: Context): Promise<void> {
  const form = responseBody('web-template', ctx.get('Accept'), { vendorWord: requestVendorWord(ctx) });
  const { compiled, headers } = await requireCompiled(templateIdFrom(ctx));
  const { etag, lastModified, path } = headers;
  setResourceHeaders(ctx, { etag, lastModified });
  ctx.set('Deprecated', 'true');
  ctx.set('Link', `<${absoluteUrl(ctx, path)}>; rel="successor-version"`);
  writeText(ctx, form, compiled.webTemplateText);
}
