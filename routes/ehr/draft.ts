import type { Context } from 'koa';
import type { Settings } from '../../config/settings.js';
import {
  deleteDraft,
  listDrafts,
  readDraft,
  saveDraft,
  type DraftAddress,
  type DraftContent,
} from '../../change/draft/draft.js';
import { draftOwner, type ListedDraft } from '../../models/draft.js';
import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, jsonObjectOf, type JsonObject } from '../../openehr/base/json.js';
import { parseObjectVersionId } from '../../openehr/base/object-version-id.js';
import { requestBody, responseBody } from '../http/negotiation/media-type.js';
import { auditAbout } from '../http/audit-trail.js';
import { requiredBodyText } from '../http/exchange.js';
import type { OperationGroup } from '../http/operation/operation.js';
import { pathParameter } from '../http/parameter-values.js';
import { parseJsonBody } from '../http/request/request-body.js';

const DRAFT = '/rest/draft/{ehr_id}/{draft_id}';
const MEMBERS = ['template_id', 'version_uid', 'content'];

/** What users typed and have not committed, each his own: docs/spec/rest.md#drafts */
export function draftOperations(settings: Settings): OperationGroup {
  return {
    tag: 'Drafts',
    description:
      'What a user typed into a form and has not committed; nobody else sees it, no query and no export has it',
    operations: [
      {
        id: 'draft_list',
        discloses: 'contribution',
        method: 'GET',
        path: '/rest/draft',
        summary: "List the user's drafts without their content, newest first",
        access: 'draft',
        audit: 'read',
        responses: { 200: { description: 'At most 200', body: { schema: 'DraftList', types: 'json' } } },
        errors: [],
        handle: list,
      },
      {
        id: 'draft_get',
        discloses: 'contribution',
        method: 'GET',
        path: DRAFT,
        summary: 'Get a draft of the user',
        access: 'draft',
        audit: 'read',
        responses: { 200: { description: 'With its content', body: { schema: 'Draft', types: 'json' } } },
        errors: [400, 404],
        handle: async (ctx) => {
          responseBody('json', ctx.get('Accept'));
          const draft = await readDraft(addressOf(ctx));
          ctx.body = { ...draftView(draft), content: jsonObjectOf(draft.content) };
        },
      },
      {
        id: 'draft_save',
        discloses: 'contribution',
        method: 'PUT',
        path: DRAFT,
        summary: 'Save a draft of the user, for 30 days from now on',
        access: 'draft',
        audit: 'write',
        request: { schema: 'DraftBody', types: 'json' },
        responses: {
          200: { description: 'Saved; without its content', body: { schema: 'Draft', types: 'json' } },
        },
        errors: [400, 404, 409],
        largestBody: { bytes: settings.maxCompositionBytes, setting: 'MAX_COMPOSITION_BYTES' },
        handle: async (ctx) => {
          requestBody('json', ctx.get('Content-Type'));
          responseBody('json', ctx.get('Accept'));
          ctx.body = draftView(await saveDraft(addressOf(ctx), await contentOf(ctx)));
        },
      },
      {
        id: 'draft_delete',
        discloses: 'contribution',
        method: 'DELETE',
        path: DRAFT,
        summary: 'Delete a draft of the user',
        access: 'draft',
        audit: 'write',
        responses: { 204: { description: 'Deleted' } },
        errors: [400, 404],
        handle: async (ctx) => {
          await deleteDraft(addressOf(ctx));
          ctx.status = 204;
        },
      },
    ],
  };
}

async function list(ctx: Context): Promise<void> {
  responseBody('json', ctx.get('Accept'));
  const drafts = await listDrafts(draftOwner(ctx.state.user));
  auditAbout(ctx, { ehr_ids: [...new Set(drafts.map(({ ehr_id: ehrId }) => ehrId))] });
  ctx.body = drafts.map(draftView);
}

function addressOf(ctx: Context): DraftAddress {
  return {
    owner: draftOwner(ctx.state.user),
    ehrId: pathParameter(ctx, 'ehr_id'),
    draftId: pathParameter(ctx, 'draft_id'),
  };
}

async function contentOf(ctx: Context): Promise<DraftContent> {
  const body = await parseJsonBody(ctx, requiredBodyText(ctx));
  if (!isJsonObject(body)) throw new CdrError('invalid', 'a draft is an object');
  const unknown = Object.keys(body).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) throw new CdrError('invalid', `a draft has ${MEMBERS.join(', ')} only`);
  const { template_id: templateId, version_uid: versionUid = null, content } = body;
  if (typeof templateId !== 'string' || templateId === '')
    throw new CdrError('invalid', 'template_id must be a text');
  if (versionUid !== null && (typeof versionUid !== 'string' || parseObjectVersionId(versionUid) === null))
    throw new CdrError('invalid', 'version_uid must be an OBJECT_VERSION_ID');
  if (!isJsonObject(content)) throw new CdrError('invalid', 'content must be an object, as FLAT has it');
  return { templateId, versionUid, content: JSON.stringify(content) };
}

function draftView(draft: ListedDraft): JsonObject {
  return {
    draft_id: draft.draft_id,
    ehr_id: draft.ehr_id,
    template_id: draft.template_id,
    version_uid: draft.version_uid,
    saved_at: draft.saved_at.toISOString(),
    expires_at: draft.expires_at.toISOString(),
  };
}
