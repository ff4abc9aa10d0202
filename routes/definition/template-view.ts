import { randomUUID } from 'node:crypto';
import type { Context } from 'koa';
import type { JsonObject } from '../../openehr/base/json.js';
import { formatObjectVersionId } from '../../openehr/base/object-version-id.js';
import type { Settings } from '../../config/settings.js';
import { responseBody } from '../http/negotiation/media-type.js';
import { within } from '../../openehr/base/work.js';
import { exampleComposition } from '../../openehr/template/example/example.js';
import { absoluteUrl, setResourceHeaders, writeText, type ResourceHeaders } from '../http/exchange.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { STANDARD_API } from '../http/request/request-state.js';
import { requestVendorWord } from '../http/request/headers.js';
import { writtenComposition } from '../http/answer/written.js';
import { compilingFor } from '../http/request/request-body.js';
import { revisionNotFound, templateNotFound } from '../../change/commit/refusal.js';
import { revisionInUse, revisionText, type RevisionText } from '../../models/definition/revision-in-use.js';
import { templateInUse } from '../../models/definition/template.js';
import type { CompiledTemplate } from '../../openehr/template/compile.js';

/** Views of a template: example COMPOSITION, and the web template at its old path. */
export function templateViewOperations(settings: Settings): Operation[] {
  const path = `${STANDARD_API}${ADL14_TEMPLATES}/{template_id}`;
  return [
    {
      id: 'template_adl1.4_example',
      discloses: 'nothing',
      method: 'GET',
      path: `${path}/example`,
      summary: 'Get an example COMPOSITION of a template, which can be committed as it is',
      access: 'read',
      audit: 'none',
      parameters: ['type', 'detail_level', 'format', 'revision'],
      responses: {
        200: { description: 'The example', body: { schema: 'COMPOSITION', types: 'composition' } },
      },
      errors: [400, 404],
      handle: (ctx) => getExample(ctx, settings),
    },
    {
      id: 'template_adl1.4_webtemplate',
      discloses: 'nothing',
      method: 'GET',
      path: `${path}/webtemplate`,
      summary: 'Get a web template (deprecated: get the template with its media type)',
      access: 'read',
      audit: 'none',
      parameters: ['revision'],
      responses: {
        200: {
          description: 'The web template',
          body: { schema: 'WebTemplate', types: 'webTemplate' },
          headers: ['ETag', 'Last-Modified', 'Deprecated', 'Link'],
        },
      },
      errors: [404],
      handle: getWebTemplate,
    },
  ];
}

async function getExample(ctx: Context, settings: Settings): Promise<void> {
  const format = queryParameter(ctx, 'format') ?? undefined;
  const vendorWord = requestVendorWord(ctx);
  const form = responseBody('template-example', ctx.get('Accept'), { format, vendorWord });
  const type = queryParameter(ctx, 'type');
  const detailLevel = queryParameter(ctx, 'detail_level');
  const templateId = pathParameter(ctx, 'template_id');
  const revision = queryParameter(ctx, 'revision');
  const { compiled } = await requireCompiled(ctx, templateId, revision);
  const example = within(ctx.state.work, () => exampleComposition(compiled, { type, detailLevel }));
  if (type === 'output') example.uid = freshUid(settings.systemId);
  const stored = (): Promise<RevisionText> => requireText(templateId, revision);
  writeText(
    ctx,
    form,
    await writtenComposition(ctx, JSON.stringify(example), form.format, { compiled, stored }),
  );
}

/** The uid that a first version made here would have, so that this example can be committed too. */
function freshUid(systemId: string): JsonObject {
  const value = formatObjectVersionId({ versionedObjectUid: randomUUID(), systemId, version: 1 });
  return { _type: 'OBJECT_VERSION_ID', value };
}

async function getWebTemplate(ctx: Context): Promise<void> {
  const form = responseBody('web-template', ctx.get('Accept'), { vendorWord: requestVendorWord(ctx) });
  const templateId = pathParameter(ctx, 'template_id');
  const { compiled, headers } = await requireCompiled(ctx, templateId, queryParameter(ctx, 'revision'));
  const { etag, lastModified, path } = headers;
  setResourceHeaders(ctx, { etag, lastModified });
  ctx.set('Deprecated', 'true');
  ctx.set('Link', `<${absoluteUrl(ctx, path)}>; rel="successor-version"`);
  writeText(ctx, form, compiled.webTemplateText);
}

/** Path of the operational templates (ADL 1.4) below the standard API. */
export const ADL14_TEMPLATES = '/definition/template/adl1.4';

/** Headers of a template, all of them. */
export type TemplateHeaders = Required<
  Omit<ResourceHeaders, 'contentVersion' | 'content' | 'templateRevision'>
>;

/** Headers of a template. Its id may hold any character; what a header cannot carry is percent-encoded. */
export function templateHeaders(templateId: string, createdTimestamp: Date): TemplateHeaders {
  return {
    etag: templateId.replaceAll(/[^\x20\x21\x23-\x7e]/gu, (character) => encodeURIComponent(character)),
    path: `${ADL14_TEMPLATES}/${encodeURIComponent(templateId)}`,
    lastModified: createdTimestamp,
  };
}

/** A compiled template with its headers; `revision`: null for the newest. @throws not-found; as `compileTemplateBody` */
export async function requireCompiled(
  ctx: Context,
  templateId: string,
  revision: string | null,
): Promise<{ readonly compiled: CompiledTemplate; readonly headers: TemplateHeaders }> {
  const compile = compilingFor(ctx);
  const found = await (revision === null
    ? templateInUse(templateId, compile)
    : revisionInUse(templateId, revision, compile));
  if (found === null) throw notFound(templateId, revision);
  return { compiled: found.compiled, headers: templateHeaders(templateId, found.createdTimestamp) };
}

/** The text of a template; `revision`: null for the newest. @throws not-found */
export async function requireText(templateId: string, revision: string | null): Promise<RevisionText> {
  const text = await revisionText(templateId, revision);
  if (text === null) throw notFound(templateId, revision);
  return text;
}

function notFound(templateId: string, revision: string | null): Error {
  return revision === null
    ? templateNotFound(templateId, 'not-found')
    : revisionNotFound(templateId, revision);
}
