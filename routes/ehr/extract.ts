import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import { changedAgain, MAX_READS } from '../../change/commit/ehr-access.js';
import { CdrError } from '../../openehr/base/errors.js';
import { makeEhr } from '../../maintenance/extract/make.js';
import { readExtract, type ReadExtract } from '../../maintenance/extract/read.js';
import { extractText } from '../../maintenance/extract/write.js';
import { EXTRACT_CREATE } from '../../models/cross-collection/audited-removals.js';
import type { ExtractHow } from '../../maintenance/extract/make.js';
import { marksOfEhr } from '../../models/cross-collection/marked-ehrs.js';
import { addNotice } from '../http/answer/warning.js';
import { auditAbout } from '../http/audit-trail.js';
import {
  parseCanonical,
  requiredBodyText,
  rmResponse,
  setResourceHeaders,
  writeText,
} from '../http/exchange.js';
import { answerEnd, cutIdleReader } from '../http/failure/slow-reader.js';
import { requestBody, responseBody, type BodyType } from '../http/negotiation/media-type.js';
import type { Operation } from '../http/operation/operation.js';
import { pathParameter, queryParameter } from '../http/parameter-values.js';
import { subjectOf } from '../http/request/subject.js';
import { compilingFor } from '../http/request/request-body.js';
import { STANDARD_API } from '../http/request/request-state.js';

/** Characters of an EXTRACT that are answered at once; what is larger is sent as it is read. */
const HELD = 1024 * 1024;
/** Characters of one piece of it. */
const PIECE = 64 * 1024;

/** All of an EHR in the form of the reference model, with versions as they were made. docs/spec/rest.md#extract */
export function extractOperations(settings: Settings): Operation[] {
  return [
    {
      id: 'ehr_extract_get',
      discloses: 'export',
      method: 'GET',
      path: `${STANDARD_API}/ehr/{ehr_id}/extract`,
      summary: 'Get an EXTRACT of all of an EHR, its versions as they were made',
      access: 'read',
      audit: 'read',
      parameters: ['versions'],
      responses: { 200: { description: 'The EXTRACT', body: { schema: 'EXTRACT', types: 'rm' } } },
      errors: [400, 404],
      handle: (ctx) => getExtract(ctx, settings),
    },
    {
      id: EXTRACT_CREATE,
      discloses: 'whole',
      method: 'POST',
      path: `${STANDARD_API}/ehr/extract`,
      summary: 'Make an EHR of an EXTRACT, its versions as they were made',
      access: 'restore',
      audit: 'write',
      request: { schema: 'EXTRACT', types: 'rm' },
      responses: {
        201: {
          description: 'It is made',
          body: { schema: 'ExtractImport', types: 'json' },
          headers: ['ETag', 'Location'],
        },
      },
      errors: [400, 409, 422],
      handle: (ctx) => createOfExtract(ctx, settings),
    },
  ];
}

/** A value of `Warning` is short, and so are kinds of marks. */
const NOT_CARRIED = 'that no EXTRACT carries: set them where it is taken in (GET /rest/ehrs/{ehr_id}/marks)';

/**
 * Says that an EHR has marks, to who hands on what it holds, and may know of them: whoever gets it is bound by them too. docs/access.md#through-merges
 */
async function warnOfMarks(ctx: Context, ehrId: string): Promise<void> {
  const { user, emergency } = ctx.state;
  const { ehr } = await subjectOf(user);
  const mayKnow = ['admin', 'audit'] as const;
  const knowsAll =
    mayKnow.some((one) => user?.permissions.has(one)) || ehr === ehrId || emergency !== undefined;
  const kinds = new Set((await marksOfEhr(ehrId)).map(({ kind }) => kind));
  // Of an objection whoever sees the content must know, so that he heeds it; other marks are told to who may read them.
  const told = [...kinds].filter((kind) => knowsAll || kind === 'research_objection').sort();
  if (told.length === 0) return;
  addNotice(ctx, `the EHR has marks (${told.join(', ')}) ${NOT_CARRIED}`);
}

async function getExtract(ctx: Context, { aql, accessMode }: Settings): Promise<void> {
  const form = rmResponse(ctx);
  const ehrId = pathParameter(ctx, 'ehr_id');
  const which = queryParameter(ctx, 'versions');
  const format = form.format === 'XML' ? 'XML' : 'JSON';
  const { held, rest } = await begun(ehrId, () =>
    extractText(ehrId, which, { format, now: new Date(), work: ctx.state.work }),
  );
  if (accessMode !== 'off') await warnOfMarks(ctx, ehrId);
  ctx.status = 200;
  if (rest === null) writeText(ctx, form, held);
  else answerStream(ctx, form, pieces(held, rest), aql.streamIdleMs);
}

interface Begun {
  readonly held: string;
  /** What comes after it; null: nothing does. */
  readonly rest: AsyncIterable<string> | null;
}

/** What is answered at once, of one moment: it is read anew while the EHR loses something meanwhile. @throws unavailable when it does again and again */
async function begun(ehrId: string, read: () => AsyncGenerator<string>): Promise<Begun> {
  for (let reads = 1; reads <= MAX_READS; reads += 1) {
    try {
      return await heldOf(read());
    } catch (error) {
      if (!(error instanceof CdrError) || error.code !== 'conflict') throw error;
    }
  }
  throw changedAgain(ehrId);
}

async function heldOf(texts: AsyncGenerator<string>): Promise<Begun> {
  const held: string[] = [];
  for (let length = 0; length < HELD;) {
    const next = await texts.next();
    if (next.done === true) return { held: held.join(''), rest: null };
    held.push(next.value);
    length += next.value.length;
  }
  return { held: held.join(''), rest: texts };
}

/** Sends texts as they are read, and reads no more than is taken. */
function answerStream(ctx: Context, form: BodyType, texts: AsyncIterable<string>, idleMs: number): void {
  cutIdleReader(ctx, idleMs, answerEnd(ctx));
  ctx.type = `${form.mediaType}; charset=utf-8`;
  ctx.body = Readable.from(texts, { objectMode: false });
}

/** Few large pieces instead of one a version. */
async function* pieces(held: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  yield held;
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

async function createOfExtract(ctx: Context, settings: Settings): Promise<void> {
  const extract = await bodyExtract(ctx);
  const form = responseBody('json', ctx.get('Accept'));
  auditAbout(ctx, { ehr_id: extract.ehrId });
  const { ehrId, batch, contributions, versions } = await makeEhr(extract, extractHow(ctx, settings));
  setResourceHeaders(ctx, { etag: ehrId, path: `/ehr/${ehrId}` });
  ctx.status = 201;
  writeText(ctx, form, JSON.stringify({ ehr_id: ehrId, import_id: batch, contributions, versions }));
}

/** The EXTRACT of a request. @throws unsupported-media-type; invalid, naming the path */
export async function bodyExtract(ctx: Context): Promise<ReadExtract> {
  const request = requestBody('rm', ctx.get('Content-Type'));
  return readExtract(await parseCanonical(ctx, requiredBodyText(ctx), request, 'EXTRACT'));
}

/** How an EXTRACT of a request is written. */
export function extractHow(ctx: Context, settings: Settings): ExtractHow {
  const { aql, systemId } = settings;
  return { settings, systemId, leafIndex: aql.leafIndex, work: ctx.state.work, compile: compilingFor(ctx) };
}
