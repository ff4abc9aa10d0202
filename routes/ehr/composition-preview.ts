import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { previewComposition } from '../../change/composition/composition.js';
import type { ChangeContext } from '../../change/commit/context.js';
import { responseBody } from '../http/negotiation/media-type.js';
import { writeText } from '../http/exchange.js';
import type { Operation } from '../http/operation/operation.js';
import { commitMetadata } from '../http/request/headers.js';
import { pathParameter } from '../http/parameter-values.js';
import { compositionExchange, compositionReader } from './composition-content.js';
import { readableVersion } from './read-version.js';

/** What a change of a COMPOSITION would store: docs/spec/rest.md#preview-of-a-change */
export function compositionPreview(settings: Settings, context: ChangeContext): Operation {
  return {
    id: 'composition_preview',
    discloses: 'read',
    method: 'POST',
    path: '/rest/preview/{ehr_id}/{version_uid}',
    summary: 'Get the COMPOSITION that a change of a version would store, and store nothing',
    access: 'write',
    audit: 'read',
    parameters: ['templateId', 'format', 'openEHR-VERSION', 'openEHR-TEMPLATE_ID'],
    request: { schema: 'COMPOSITION', types: 'composition' },
    responses: { 200: { description: 'It, without a uid', body: { schema: 'COMPOSITION', types: 'json' } } },
    errors: [400, 404, 422, 502],
    handle: (ctx) => preview(ctx, settings, context),
  };
}

async function preview(ctx: Context, settings: Settings, context: ChangeContext): Promise<void> {
  const { request } = compositionExchange(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const { id, uid } = pathParameter(ctx, 'version_uid');
  const metadata = commitMetadata(ctx, 'PUT', settings);
  const { read, located } = await compositionReader(ctx, request, {
    before: () => readableVersion(ehrId, uid),
  });
  const change = { ehrId, versionedObjectUid: id.versionedObjectUid, precedingVersionUid: uid, metadata };
  const text = await previewComposition(context, change, read).catch(async (error: unknown) => {
    throw await located(error);
  });
  writeText(ctx, responseBody('json', 'application/json'), text);
}
