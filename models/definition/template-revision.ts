import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { compileTemplate, type CompiledTemplate } from '../../openehr/template/compile.js';
import { COLLECTIONS } from '../access/layout.js';
import { collection, date, flag, number, optional, text, type DocumentOf } from '../access/collection.js';
import type { UpdateWrite } from '../access/write.js';

const TEMPLATE_REVISION = {
  /** `<digest> <id of the template as it is stored>`. */
  _id: text,
  /** As it is stored. */
  template_id: text,
  /** SHA-256 of `opt`, in hexadecimal. */
  digest: text,
  /** Number of the revision, unique among those of the template. */
  name: text,
  opt: text,
  bytes: number,
  concept: text,
  archetype_id: text,
  uid: optional(text),
  language: text,
  /** Time of the upload. */
  created_timestamp: date,
  uploaded_by: optional(text),
  /** Whether a VERSION may have been judged by it. */
  used: flag,
};

/** A revision of a template that is not the newest any more. Fields: docs/spec/storage.md#other-collections. */
export type EarlierRevision = DocumentOf<typeof TEMPLATE_REVISION>;

declare module '../access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.templateRevisions]: EarlierRevision;
  }
}

const Earlier = collection(COLLECTIONS.templateRevisions, TEMPLATE_REVISION);

/** The newest revision, as `templates` has it. */
interface NewestRevision extends Pick<
  EarlierRevision,
  'opt' | 'concept' | 'archetype_id' | 'uid' | 'language' | 'created_timestamp' | 'uploaded_by' | 'used'
> {
  readonly _id: string;
  readonly revision_name?: string;
}

/** SHA-256 of the text of a template, in hexadecimal: what a VERSION notes of the revision by which it was judged. */
export function revisionDigest(opt: string): string {
  return hash('sha256', opt);
}

const DECLARED = /<other_details\s+id="(sem_ver|version)"[^>]*>\s*([^<>\s]{1,64})\s*<\/other_details>/g;

/** The number that an OPT gives itself: its `sem_ver`, else its `version`; undefined without any. */
function declaredName(opt: string): string | undefined {
  const said = new Map(Array.from(opt.matchAll(DECLARED), ([, id, name]) => [id, name]));
  return said.get('sem_ver') ?? said.get('version');
}

/** The number of the newest revision of a template, whenever it was stored. */
export function revisionName({
  revision_name: name,
  opt,
}: Pick<NewestRevision, 'revision_name' | 'opt'>): string {
  return name ?? declaredName(opt) ?? '1';
}

/** The number of a further revision: that which it gives itself unless an earlier one has it, else counted on. */
export function nextRevisionName(opt: string, taken: ReadonlySet<string>): string {
  const declared = declaredName(opt);
  if (declared !== undefined && !taken.has(declared)) return declared;
  let count = taken.size + 1;
  while (taken.has(String(count))) count += 1;
  return String(count);
}

/** Keeps the newest revision as an earlier one, since another takes its place. Gives its id. */
export async function keepAsEarlier(newest: NewestRevision): Promise<string> {
  const { _id: templateId, opt, concept, language, used } = newest;
  const digest = revisionDigest(opt);
  const doc: EarlierRevision = {
    _id: `${digest} ${templateId}`,
    template_id: templateId,
    digest,
    name: revisionName(newest),
    opt,
    bytes: Buffer.byteLength(opt),
    concept,
    archetype_id: newest.archetype_id,
    ...(newest.uid !== undefined && { uid: newest.uid }),
    language,
    created_timestamp: newest.created_timestamp,
    ...(newest.uploaded_by !== undefined && { uploaded_by: newest.uploaded_by }),
    used,
  };
  await Earlier.create([doc]);
  return doc._id;
}

/** The earlier revisions of a template, oldest first. */
export function earlierRevisions(storedId: string): Promise<EarlierRevision[]> {
  return Earlier.find({ template_id: storedId }).sort({ created_timestamp: 1, _id: 1 }).exec();
}

/** The same without their texts. */
export function earlierSummaries(storedId: string): Promise<Omit<EarlierRevision, 'opt'>[]> {
  return Earlier.find({ template_id: storedId }, { opt: 0 }).sort({ created_timestamp: 1, _id: 1 }).exec();
}

/** An earlier revision by its number or digest; null when there is none. */
export function earlierRevision(storedId: string, revision: string): Promise<EarlierRevision | null> {
  const said = [{ name: revision }, { digest: revision }];
  return Earlier.findOne({ template_id: storedId, $or: said }).exec();
}

/** Compiled earlier revisions that this process keeps. */
const KEPT = 16;
const kept = new LRUCache<string, CompiledTemplate>({ max: KEPT });

/** An earlier revision compiled; its text never changes. @throws as `compile` */
export async function earlierCompiled(
  { _id, opt }: EarlierRevision,
  compile: (opt: string) => CompiledTemplate | Promise<CompiledTemplate> = compileTemplate,
): Promise<CompiledTemplate> {
  const compiled = kept.get(_id) ?? (await compile(opt));
  kept.set(_id, compiled);
  return compiled;
}

/** Removes an earlier revision; false when it is not there any more. */
export async function removeEarlier(id: string): Promise<boolean> {
  const { deletedCount } = await Earlier.deleteOne({ _id: id }).exec();
  return deletedCount === 1;
}

/** Removes all earlier revisions of a template. Gives their ids. */
export async function removeAllEarlier(storedId: string): Promise<string[]> {
  const found = await Earlier.find({ template_id: storedId }, { _id: 1 }).exec();
  if (found.length > 0) await Earlier.deleteMany({ template_id: storedId }).exec();
  return found.map(({ _id }) => _id);
}

/** Digests of all earlier revisions of all templates. */
export function earlierDigests(): Promise<string[]> {
  return Earlier.distinct('digest').exec();
}

/** Ids of the templates of which an earlier revision is noted as used, as they are stored. */
export function templatesUsedEarlier(): Promise<string[]> {
  return Earlier.distinct('template_id', { used: true }).exec();
}

/** Notes that a VERSION was judged by an earlier revision, which must still be there. */
export function markEarlierUsed(id: string): UpdateWrite<'template_revisions'> {
  return {
    collection: COLLECTIONS.templateRevisions,
    filter: { _id: id },
    update: { $set: { used: true } },
    matching: 'one',
  };
}
