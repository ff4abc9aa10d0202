import { CdrError } from '../../openehr/base/errors.js';
import { collapsedToken } from '../../openehr/base/text.js';
import { compileTemplate } from '../../openehr/template/compile.js';
import { inRestore } from './restored-state.js';
import { noteStates } from '../../models/cross-collection/state-note.js';
import { changeAliases } from '../../models/cross-collection/template-aliases.js';
import {
  countRevisions,
  insertRestoredTemplate,
  replaceTemplate,
  templateById,
  type UploadedTemplate,
} from '../../models/definition/template.js';
import { aliasesOfTemplates } from '../../models/definition/template-alias.js';
import { earlierRevision, keepAsEarlier, revisionDigest } from '../../models/definition/template-revision.js';
import type { Session } from '../../models/access/write.js';
import type { RestoredTemplate } from './line.js';
import type { RestoreHow } from './part.js';

/**
 * Restores a revision of a template, as if it were uploaded: behind the one that it names, which must be the newest here.
 * @throws conflict when another text is here; invalid for a text of another id
 */
export async function restoreTemplate(
  { batch, compile = compileTemplate }: RestoreHow,
  as: RestoredTemplate,
): Promise<'imported' | 'unchanged'> {
  if (await isThere(as)) return restoreAliases(batch, as);
  const template = { opt: as.opt, compiled: await compile(as.opt), revision: notedIn(as) };
  if (collapsedToken(template.compiled.templateId) !== collapsedToken(as._id))
    throw new CdrError('invalid', `the template is ${template.compiled.templateId}, and not ${as._id}`);
  return inRestore(batch, async (session) => {
    if (await isThere(as)) return 'unchanged';
    await storeRevision(session, batch, { template, as });
    return 'imported';
  });
}

/** What upgrades have moved since the text came. */
async function restoreAliases(
  batch: string,
  { _id, opt, aliases }: RestoredTemplate,
): Promise<'imported' | 'unchanged'> {
  const known = await templateById(_id);
  if (known?.opt !== opt || aliases.length === 0) return 'unchanged';
  return inRestore(batch, async (session) => {
    const before = (await aliasesOfTemplates([known._id])).get(known._id) ?? [];
    const added = aliases.filter((each) => !before.some(({ upgrade }) => upgrade === each.upgrade));
    if (added.length === 0) return 'unchanged';
    await changeAliases(known._id, [...before, ...added]);
    await noteStates(session, { collection: 'templates', ids: [known._id], reason: 'restore', batch });
    return 'imported';
  });
}

function notedIn({
  revision_name,
  uploaded_by,
  after,
}: RestoredTemplate): NonNullable<UploadedTemplate['revision']> {
  return {
    ...(revision_name !== undefined && { revision_name }),
    ...(uploaded_by !== undefined && { uploaded_by }),
    ...(after !== null && { has_earlier: true as const }),
  };
}

async function isThere({ _id, opt }: RestoredTemplate): Promise<boolean> {
  const known = await templateById(_id);
  if (known === null) return false;
  return known.opt === opt || (await earlierRevision(known._id, revisionDigest(opt))) !== null;
}

interface NewRevision {
  readonly template: UploadedTemplate;
  readonly as: RestoredTemplate;
}

async function storeRevision(session: Session, batch: string, { template, as }: NewRevision): Promise<void> {
  const known = await templateById(as._id);
  const note = (collection: 'templates' | 'template_revisions', id: string): Promise<void> =>
    noteStates(session, { collection, ids: [id], reason: 'restore', batch });
  if (known === null) {
    if (as.after !== null)
      throw new CdrError('conflict', `the revision before this one of template ${as._id} is not here`);
    const { _id, created_timestamp, revision = 1 } = as;
    await insertRestoredTemplate(template, { _id, created_timestamp, revision });
    if (as.aliases.length > 0) await changeAliases(_id, as.aliases);
    await note('templates', as._id);
    return;
  }
  if (as.after === null || revisionDigest(known.opt) !== as.after)
    throw new CdrError('conflict', `another template ${as._id} is here`);
  const kept = await keepAsEarlier(known);
  await replaceTemplate(template, as.created_timestamp);
  if (as.revision !== undefined) await countRevisions(known._id, as.revision);
  if (as.aliases.length > 0) await changeAliases(known._id, as.aliases);
  await note('templates', known._id);
  await note('template_revisions', kept);
}
