import type { Context } from 'koa';
import { CdrError } from '../../openehr/base/errors.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import { within, type Work } from '../../openehr/base/work.js';
import type { Settings } from '../../config/settings.js';
import { createArchetype } from '../../change/definition/archetype.js';
import { parseArchetype } from '../../openehr/archetype/archetype.js';
import { requestBody, responseBody } from '../http/negotiation/media-type.js';
import { archetypeById, archetypeSummaries, type ArchetypeDoc } from '../../models/definition/archetype.js';
import {
  answerWrite,
  requiredBodyText,
  setResourceHeaders,
  writeText,
  type ResourceHeaders,
} from '../http/exchange.js';
import type { OperationGroup } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { STANDARD_API } from '../http/request/request-state.js';

const BELOW = '/definition/archetype/adl1.4';
const PATH = `${STANDARD_API}${BELOW}`;

/** Sources of archetypes: kept for people and dictionaries, no COMPOSITION is validated by them. */
export function archetypeOperations({ maxTemplateBytes }: Settings): OperationGroup {
  return {
    tag: 'ARCHETYPE',
    description: 'Sources of archetypes (ADL 1.4), which nothing is validated by',
    operations: [
      {
        id: 'archetype_adl1.4_upload',
        discloses: 'nothing',
        method: 'POST',
        path: PATH,
        summary: 'Store the source of an archetype',
        access: 'define',
        audit: 'write',
        parameters: ['Prefer'],
        request: { schema: 'ArchetypeSource', types: 'text' },
        largestBody: { bytes: maxTemplateBytes, setting: 'MAX_TEMPLATE_BYTES' },
        responses: {
          201: {
            description: 'Stored; a body only when `Prefer` asks for one',
            body: { schema: 'ArchetypeSource', types: 'archetype' },
            headers: ['ETag', 'Location', 'Last-Modified'],
          },
        },
        errors: [400, 409],
        handle: upload,
      },
      {
        id: 'archetype_adl1.4_list',
        discloses: 'nothing',
        method: 'GET',
        path: PATH,
        summary: 'List the archetypes',
        access: 'read',
        audit: 'none',
        responses: { 200: { description: 'By id', body: { schema: 'ArchetypeList', types: 'json' } } },
        errors: [],
        handle: async (ctx) => {
          responseBody('json', ctx.get('Accept'));
          ctx.body = (await archetypeSummaries()).map(
            ({ _id, concept, languages, created_timestamp: time }) => ({
              archetype_id: _id,
              concept,
              languages,
              created_timestamp: formatUtc(time),
            }),
          );
        },
      },
      {
        id: 'archetype_adl1.4_get',
        discloses: 'nothing',
        method: 'GET',
        path: `${PATH}/{archetype_id}`,
        summary: 'Get the source of an archetype, or its languages and terms',
        access: 'read',
        audit: 'none',
        responses: {
          200: {
            description: 'The archetype',
            body: { schema: 'ArchetypeSource', types: 'archetype' },
            headers: ['ETag', 'Last-Modified'],
          },
        },
        errors: [404],
        handle: async (ctx) => {
          const doc = await required(pathParameter(ctx, 'archetype_id'));
          const { etag, lastModified } = headersOf(doc);
          setResourceHeaders(ctx, { etag, lastModified });
          write(ctx, doc);
        },
      },
    ],
  };
}

async function upload(ctx: Context): Promise<void> {
  requestBody('archetype', ctx.get('Content-Type'));
  const form = responseBody('archetype', ctx.get('Accept'));
  const source = requiredBodyText(ctx);
  const doc = await createArchetype(
    source,
    within(ctx.state.work, () => parseArchetype(source)),
  );
  await answerWrite(ctx, {
    status: 201,
    uid: doc._id,
    form,
    ...headersOf(doc),
    represent: () => {
      write(ctx, doc);
      return Promise.resolve();
    },
  });
}

async function required(archetypeId: string): Promise<ArchetypeDoc> {
  const doc = await archetypeById(archetypeId);
  if (doc === null) throw new CdrError('not-found', `Archetype ${archetypeId} does not exist`);
  return doc;
}

/** An ARCHETYPE_ID has no character that a header or a path could not carry. */
function headersOf({
  _id,
  created_timestamp: time,
}: ArchetypeDoc): Required<Pick<ResourceHeaders, 'etag' | 'path' | 'lastModified'>> {
  return { etag: _id, path: `${BELOW}/${_id}`, lastModified: time };
}

function write(ctx: Context, doc: ArchetypeDoc): void {
  const form = responseBody('archetype', ctx.get('Accept'));
  writeText(ctx, form, form.format === 'TEXT' ? doc.source : JSON.stringify(described(doc, ctx.state.work)));
}

function described({ source, created_timestamp: time }: ArchetypeDoc, work: Work) {
  const { archetypeId, originalLanguage, languages, concept, terms } = within(work, () =>
    parseArchetype(source),
  );
  return {
    archetype_id: archetypeId,
    original_language: originalLanguage,
    languages,
    concept,
    terms,
    created_timestamp: formatUtc(time),
  };
}
