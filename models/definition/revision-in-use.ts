import type { Write } from '../access/write.js';
import { compileTemplate, type CompiledTemplate } from '../../openehr/template/compile.js';
import { formerTextsOf } from '../../openehr/template/validate/former-texts.js';
import {
  putText,
  templateById,
  templateIds,
  templateInUse,
  templateUsed,
  type CompileStored,
  type TemplateDoc,
  type TemplateInUse,
} from './template.js';
import {
  earlierCompiled,
  earlierDigests,
  earlierRevision,
  earlierRevisions,
  markEarlierUsed,
  revisionDigest,
  revisionName,
  type EarlierRevision,
} from './template-revision.js';

/**
 * A revision of a template by its number or digest, null when there is none; as `templateInUse`, with what codes were called by
 * all but the newest. @throws as `compile`
 */
export async function revisionInUse(
  templateId: string,
  revision: string,
  compile: CompileStored = compileTemplate,
): Promise<TemplateInUse | null> {
  const newest = await templateInUse(templateId, compile);
  if (newest === null || newest.name === revision || newest.digest === revision) return newest;
  const doc = await earlierRevision(newest.storedId, revision);
  return doc === null ? null : earlierInUse(newest, doc, compile);
}

/**
 * A text that is not stored, as if it were the next revision of a template; null when there is no such template.
 * @throws as `compile`
 */
export async function asNextRevision(
  templateId: string,
  opt: string,
  compile: CompileStored = compileTemplate,
): Promise<TemplateInUse | null> {
  const newest = await templateInUse(templateId, compile);
  if (newest === null) return null;
  const earlier: CompiledTemplate[] = [];
  for (const doc of await earlierRevisions(newest.storedId))
    earlier.push(await earlierCompiled(doc, compile));
  const formerTexts = formerTextsOf([...earlier, newest.compiled]);
  return { ...newest, compiled: await compile(opt), name: '', digest: revisionDigest(opt), formerTexts };
}

/** Number and digest of a revision by either, of the newest for null; null when there is none. */
export async function revisionOf(
  newest: TemplateDoc,
  revision: string | null,
): Promise<{ readonly name: string; readonly digest: string } | null> {
  const [name, digest] = [revisionName(newest), revisionDigest(newest.opt)];
  if (revision === null || revision === name || revision === digest) return { name, digest };
  return earlierRevision(newest._id, revision);
}

/** An earlier revision of a template whose newest one is in use. @throws as `compile` */
export async function earlierInUse(
  newest: TemplateInUse,
  doc: EarlierRevision,
  compile: CompileStored = compileTemplate,
): Promise<TemplateInUse> {
  const { _id: earlierId, name, digest, used, created_timestamp: createdTimestamp } = doc;
  const compiled = await earlierCompiled(doc, compile);
  return { ...newest, compiled, name, digest, used, createdTimestamp, earlierId };
}

/** The text of a revision, for a thread that works by it. */
export interface RevisionText extends Pick<
  TemplateDoc,
  '_id' | 'revision' | 'created_timestamp' | 'used' | 'opt'
> {
  /** Of an earlier revision: its id in `template_revisions`. */
  readonly earlierId?: string;
  /** Texts of all but the newest revision: what codes were called by them stays right. */
  readonly earlier: readonly string[];
}

/** The text of a revision by its number or digest, of the newest for null; null when there is none. */
export async function revisionText(
  templateId: string,
  revision: string | null,
): Promise<RevisionText | null> {
  const newest = await templateById(templateId);
  if (newest === null) return null;
  const all = newest.has_earlier === true ? await earlierRevisions(newest._id) : [];
  const earlier = all.map(({ opt }) => opt);
  const names = [revisionName(newest), revisionDigest(newest.opt)];
  if (revision === null || names.includes(revision)) return { ...newest, earlier };
  const doc = all.find(({ name, digest }) => name === revision || digest === revision);
  if (doc === undefined) return null;
  const { opt, used, created_timestamp } = doc;
  return { ...newest, opt, used, created_timestamp, earlierId: doc._id, earlier };
}

/**
 * The writes that note that a VERSION refers to a template, and to the revision of this digest unless that is null; none where both are
 * noted. Null: there is no such revision.
 */
export async function useOfRevision(templateId: string, digest: string | null): Promise<Write[] | null> {
  const newest = await templateById(templateId);
  if (newest === null) return null;
  const isNewest = digest === null || revisionDigest(newest.opt) === digest;
  if (isNewest) return newest.used ? [] : [templateUsed(newest._id)];
  const earlier = await earlierRevision(newest._id, digest);
  if (earlier === null) return null;
  return earlier.used ? [] : [markEarlierUsed(earlier._id)];
}

/** Digests of all revisions of all templates. */
export async function storedDigests(): Promise<Set<string>> {
  const digests = new Set(await earlierDigests());
  for (const id of await templateIds()) {
    const doc = await templateById(id);
    // What somebody damaged is for verify to tell.
    if (typeof doc?.opt === 'string') digests.add(revisionDigest(doc.opt));
  }
  return digests;
}

/** Puts an earlier revision in the place of the newest one. Gives the template; null: it is gone. */
export function restoreRevision(doc: EarlierRevision): Promise<TemplateDoc | null> {
  const { opt, concept, language, created_timestamp, used } = doc;
  const { template_id: storedId, name: revision_name, archetype_id, uid, uploaded_by } = doc;
  const optional = { ...(uid !== undefined && { uid }), ...(uploaded_by !== undefined && { uploaded_by }) };
  const fields = { opt, concept, archetype_id, language, created_timestamp, used, revision_name };
  return putText(storedId, { ...fields, ...optional });
}
