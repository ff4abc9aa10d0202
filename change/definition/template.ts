import { CdrError } from '../../openehr/base/errors.js';
import { invalidTemplate } from '../../openehr/template/opt/opt-xml.js';
import type { AuditSubject } from '../../models/audit.js';
import type { IdempotentResult } from '../../models/idempotency.js';
import type { TemplateDoc, UploadedTemplate } from '../../models/definition/template.js';
import {
  insertTemplate,
  keepCompiled,
  removeTemplate,
  replaceTemplate,
  templateById,
  templateIds,
} from '../../models/definition/template.js';
import { removeAllEarlier } from '../../models/definition/template-revision.js';
import type { Session } from '../../models/access/write.js';
import { noteStates } from '../../models/cross-collection/state-note.js';
import { isTemplateReferenced } from '../../models/version.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';
import { recordIdempotentResult } from '../commit/idempotency.js';
import { templateNotFound } from '../commit/refusal.js';

/** Means all templates in the path of the admin API. */
const RESERVED_ID = 'all';

/**
 * Stores a new operational template. ITS-REST: template_adl1.4_upload.
 * @throws conflict when its id exists; invalid for the reserved id, and what no new template may say
 */
export async function createTemplate(template: UploadedTemplate): Promise<TemplateDoc> {
  requireFreeWord(template);
  requireSound(template);
  const createdTimestamp = new Date();
  const doc = await inAuditedTransaction(async (session) => {
    const inserted = await insertTemplate(template, createdTimestamp);
    await recordIdempotentResult(session, idempotentResult(inserted));
    await noteTemplates(session, [inserted._id]);
    return inserted;
  }, aboutTemplate);
  keepCompiled(doc, template.compiled);
  return doc;
}

/**
 * Stores a template, in the place of an unused one of the same id (`TEMPLATE_ALLOW_OVERWRITE`). The text that is there
 * already stays as it is, used or not.
 * @throws unprocessable when a VERSION refers to the id; invalid as `createTemplate`
 */
export async function putTemplate(template: UploadedTemplate): Promise<TemplateDoc> {
  requireFreeWord(template);
  const createdTimestamp = new Date();
  const doc = await inAuditedTransaction(async (session) => {
    const known = await templateById(template.compiled.templateId);
    if (known?.opt === template.opt) {
      await recordIdempotentResult(session, idempotentResult(known));
      return known;
    }
    requireSound(template);
    const stored =
      (await replaceUnused(template, createdTimestamp)) ?? (await insertTemplate(template, createdTimestamp));
    await recordIdempotentResult(session, idempotentResult(stored));
    await noteTemplates(session, [stored._id]);
    return stored;
  }, aboutTemplate);
  keepCompiled(doc, template.compiled);
  return doc;
}

/** Replaces the text of an unused template. @throws not-found; unprocessable when a VERSION refers to it; invalid as `createTemplate` */
export async function updateTemplate(template: UploadedTemplate): Promise<TemplateDoc> {
  requireSound(template);
  const createdTimestamp = new Date();
  const doc = await inAuditedTransaction(async (session) => {
    const replaced = await replaceUnused(template, createdTimestamp);
    if (replaced === null) throw templateNotFound(template.compiled.templateId, 'not-found');
    await noteTemplates(session, [replaced._id]);
    return replaced;
  }, aboutTemplate);
  keepCompiled(doc, template.compiled);
  return doc;
}

/** Removes an unused template. @throws not-found; unprocessable when a VERSION refers to it */
export async function deleteTemplate(templateId: string): Promise<void> {
  await inAuditedTransaction(
    async (session) => {
      const removed = await removeTemplate(templateId);
      if (removed === null) throw templateNotFound(templateId, 'not-found');
      await requireUnused(removed, 'delete');
      await noteTemplates(session, [removed]);
      return [removed, ...(await removeRevisions(session, removed))];
    },
    (objects) => ({ objects }),
  );
}

/** Removes all templates, or none. Gives how many. @throws unprocessable when a VERSION refers to any */
export async function deleteAllTemplates(): Promise<number> {
  const removed = await inAuditedTransaction(
    async (session) => {
      const ids = await templateIds();
      for (const templateId of ids) {
        await removeTemplate(templateId);
        await requireUnused(templateId, 'delete');
        await removeRevisions(session, templateId);
      }
      await noteTemplates(session, ids);
      return ids;
    },
    (objects) => ({ objects }),
  );
  return removed.length;
}

/** The earlier revisions of a template go with it. Gives their ids. */
async function removeRevisions(session: Session, storedId: string): Promise<string[]> {
  const ids = await removeAllEarlier(storedId);
  if (ids.length > 0)
    await noteStates(session, { collection: 'template_revisions', ids, reason: 'definition' });
  return ids;
}

/** So that the seals hold what each template is. */
export function noteTemplates(session: Session, ids: readonly string[]): Promise<void> {
  return noteStates(session, { collection: 'templates', ids, reason: 'definition' });
}

function aboutTemplate({ _id }: TemplateDoc): AuditSubject {
  return { objects: [_id] };
}

/** @throws invalid for an id that means something else in paths */
export function requireFreeWord({ compiled }: UploadedTemplate): void {
  if (compiled.templateId === RESERVED_ID)
    throw new CdrError('invalid', `the template id ${RESERVED_ID} is reserved`);
}

/** @throws invalid where the template says what no new one may */
export function requireSound({ compiled }: UploadedTemplate): void {
  const [reason] = compiled.opt.refusedAsNew;
  if (reason !== undefined) throw invalidTemplate(reason);
}

/** The document is written first: a commit that uses the template at the same time then conflicts. */
async function replaceUnused(
  template: UploadedTemplate,
  createdTimestamp: Date,
): Promise<TemplateDoc | null> {
  const doc = await replaceTemplate(template, createdTimestamp);
  if (doc !== null) await requireUnused(doc._id, 'update');
  return doc;
}

async function requireUnused(templateId: string, purpose: 'update' | 'delete'): Promise<void> {
  if (!(await isTemplateReferenced(templateId))) return;
  const message = `Cannot ${purpose} template ${templateId} since it is used by at least one composition`;
  throw new CdrError('unprocessable', message);
}

/** What a repeated upload is answered from. */
export function idempotentResult(doc: TemplateDoc): IdempotentResult {
  return { kind: 'TEMPLATE', uids: { template_id: doc._id } };
}
