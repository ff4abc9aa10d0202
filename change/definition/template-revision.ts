import { CdrError } from '../../openehr/base/errors.js';
import type { Session } from '../../models/access/write.js';
import { usesOfTemplate, type RevisionUse } from '../../models/cross-collection/template-use.js';
import { noteStates } from '../../models/cross-collection/state-note.js';
import { restoreRevision } from '../../models/definition/revision-in-use.js';
import {
  insertTemplate,
  keepCompiled,
  replaceTemplate,
  templateById,
  type TemplateDoc,
  type UploadedTemplate,
} from '../../models/definition/template.js';
import {
  earlierRevision,
  earlierSummaries,
  keepAsEarlier,
  nextRevisionName,
  removeEarlier,
  revisionDigest,
  revisionName,
} from '../../models/definition/template-revision.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';
import { recordIdempotentResult } from '../commit/idempotency.js';
import { revisionNotFound, templateNotFound } from '../commit/refusal.js';
import { idempotentResult, noteTemplates, requireFreeWord, requireSound } from './template.js';

/** A revision that was uploaded. */
interface UploadedRevision {
  readonly doc: TemplateDoc;
  readonly revision: string;
  readonly digest: string;
  /** false: the text was there already. */
  readonly isNew: boolean;
}

/**
 * Stores a template, or another text of a known id as its newest revision (`TEMPLATE_REVISIONS`); a text that the template has
 * or had is left where it is. @throws invalid as `createTemplate`
 */
export async function reviseTemplate(
  template: UploadedTemplate,
  uploadedBy: string | null,
): Promise<UploadedRevision> {
  requireFreeWord(template);
  const { opt, compiled } = template;
  const digest = revisionDigest(opt);
  const before = await templateById(compiled.templateId);
  const same = before === null ? null : await nameOfText(before, opt);
  if (before !== null && same !== null) return { doc: before, revision: same, digest, isNew: false };
  requireSound(template);
  const now = new Date();
  const { doc, revision } = await inAuditedTransaction(
    async (session) => {
      const known = await templateById(compiled.templateId);
      const stored = await storeRevision(session, { template, uploadedBy, known, now });
      await recordIdempotentResult(session, idempotentResult(stored.doc));
      return stored;
    },
    ({ objects }) => ({ objects }),
  );
  keepCompiled(doc, compiled);
  return { doc, revision, digest, isNew: true };
}

/** Which revision of a template has this text; null: none. */
async function nameOfText(known: TemplateDoc, opt: string): Promise<string | null> {
  if (known.opt === opt) return revisionName(known);
  return (await earlierRevision(known._id, revisionDigest(opt)))?.name ?? null;
}

interface NewRevision {
  readonly template: UploadedTemplate;
  readonly uploadedBy: string | null;
  readonly known: TemplateDoc | null;
  readonly now: Date;
}

async function storeRevision(
  session: Session,
  { template, uploadedBy, known, now }: NewRevision,
): Promise<{ doc: TemplateDoc; revision: string; objects: readonly string[] }> {
  const same = known === null ? null : await nameOfText(known, template.opt);
  // Another upload of the same text was faster.
  if (known !== null && same !== null) return { doc: known, revision: same, objects: [known._id] };
  const earlier = known === null ? [] : await earlierSummaries(known._id);
  const taken = new Set(earlier.map(({ name }) => name));
  if (known !== null) taken.add(revisionName(known));
  const revision = nextRevisionName(template.opt, taken);
  const noted = { revision_name: revision, ...(uploadedBy !== null && { uploaded_by: uploadedBy }) };
  if (known === null) {
    const doc = await insertTemplate({ ...template, revision: noted }, now);
    await noteTemplates(session, [doc._id]);
    return { doc, revision, objects: [doc._id] };
  }
  const kept = await keepAsEarlier(known);
  // The place of the newest is written too: a commit that was judged by the one before begins again.
  const doc = await replaceTemplate({ ...template, revision: { ...noted, has_earlier: true } }, now);
  if (doc === null) throw templateNotFound(known._id, 'not-found');
  await noteTemplates(session, [doc._id]);
  await noteRevisions(session, [kept]);
  return { doc, revision, objects: [doc._id, kept] };
}

function noteRevisions(session: Session, ids: readonly string[]): Promise<void> {
  return noteStates(session, { collection: 'template_revisions', ids, reason: 'definition' });
}

/** A revision of a template, and what was judged by it. */
interface ListedRevision extends RevisionUse {
  readonly revision: string;
  readonly digest: string;
  readonly uploadedAt: Date;
  readonly uploadedBy: string | null;
  readonly bytes: number;
}

/**
 * All revisions of a template, newest first. VERSIONs that note none count for the oldest one. @throws not-found
 */
export async function listRevisions(templateId: string): Promise<ListedRevision[]> {
  const newest = await templateById(templateId);
  if (newest === null) throw templateNotFound(templateId, 'not-found');
  const uses = await usesOfTemplate(newest._id);
  const latest = {
    ...newest,
    name: revisionName(newest),
    digest: revisionDigest(newest.opt),
    bytes: Buffer.byteLength(newest.opt),
  };
  return [...(await earlierSummaries(newest._id)), latest]
    .map(({ name, digest, bytes, created_timestamp: uploadedAt, uploaded_by: uploadedBy = null }, index) => ({
      revision: name,
      digest,
      bytes,
      uploadedAt,
      uploadedBy,
      ...useOf(uses, index === 0 ? [digest, ''] : [digest]),
    }))
    .reverse();
}

function useOf(uses: ReadonlyMap<string, RevisionUse>, digests: readonly string[]): RevisionUse {
  const found = digests.map((digest) => uses.get(digest) ?? { versions: 0, compositions: 0 });
  return {
    versions: found.reduce((sum, { versions }) => sum + versions, 0),
    compositions: found.reduce((sum, { compositions }) => sum + compositions, 0),
  };
}

/**
 * Removes a revision by which nothing was judged; where it is the newest, the one before it takes its place.
 * @throws not-found; unprocessable with counts when it is used, or the only one
 */
export async function removeRevision(templateId: string, revision: string): Promise<void> {
  await inAuditedTransaction(
    async (session) => {
      const all = await listRevisions(templateId);
      const index = all.findIndex((each) => each.revision === revision || each.digest === revision);
      const found = all[index];
      const newest = await templateById(templateId);
      if (found === undefined || newest === null) throw revisionNotFound(templateId, revision);
      requireUnused(templateId, found);
      const isNewest = index === 0;
      const moved = isNewest ? all[1] : found;
      if (moved === undefined)
        throw new CdrError('unprocessable', `${revision} is the only revision: remove the template`);
      const doc = await earlierRevision(newest._id, moved.digest);
      if (doc === null || !(await removeEarlier(doc._id))) throw revisionNotFound(templateId, revision);
      if (isNewest) await restoreRevision(doc);
      await noteTemplates(session, [newest._id]);
      await noteRevisions(session, [doc._id]);
      return [newest._id, doc._id];
    },
    (objects) => ({ objects }),
  );
}

function requireUnused(templateId: string, { revision, versions, compositions }: ListedRevision): void {
  if (versions === 0) return;
  const message = `revision ${revision} of ${templateId} is used by ${compositions} COMPOSITIONs (${versions} versions)`;
  throw new CdrError('unprocessable', message);
}
