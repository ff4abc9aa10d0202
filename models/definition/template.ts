import { LRUCache } from 'lru-cache';
import { trusted } from 'mongoose';

import { CdrError } from '../../openehr/base/errors.js';
import { collapsedToken } from '../../openehr/base/text.js';
import { publishTemplateCache } from '../../database/events.js';
import { isDuplicateKey } from '../../database/mongo-error.js';
import type { CompiledTemplate } from '../../openehr/template/compile.js';
import { compileTemplate } from '../../openehr/template/compile.js';
import { COLLECTIONS } from '../access/layout.js';
import {
  collection,
  date,
  flag,
  mark,
  number,
  opaque,
  optional,
  text,
  type DocumentOf,
} from '../access/collection.js';
import type { StoredAlias } from '../../openehr/template/upgrade/alias.js';
import type { UpdateWrite } from '../access/write.js';
import { isSameToken, sameTokenRange } from './template-token.js';
import { documents, sharedRead } from '../access/documents.js';
import { formerTextsOf, type FormerTexts } from '../../openehr/template/validate/former-texts.js';
import {
  earlierCompiled,
  earlierRevisions,
  revisionDigest,
  revisionName,
  templatesUsedEarlier,
} from './template-revision.js';

const TEMPLATE = {
  /** template_id. */
  _id: text,
  /** XML text as uploaded. */
  opt: text,
  concept: text,
  archetype_id: text,
  uid: optional(text),
  /** Code of the default language. */
  language: text,
  /** Time of the upload. */
  created_timestamp: date,
  /** Raised by every replacement; with `created_timestamp` it distinguishes the texts of one id. */
  revision: number,
  /** Whether a VERSION may refer to it: set by the first commit. */
  used: flag,
  /** Number of the revision (`TEMPLATE_REVISIONS`); absent: as `revisionName` finds it. */
  revision_name: optional(text),
  /** Who uploaded it, with `TEMPLATE_REVISIONS`. */
  uploaded_by: optional(text),
  /** true: `template_revisions` has or had earlier ones. */
  has_earlier: optional(mark),
  /** What upgrades of its data have moved; absent: nothing. */
  aliases: optional(opaque<readonly StoredAlias[]>()),
};

/** One operational template (OPT 1.4), stored as received. Fields: docs/spec/storage.md#other-collections. */
export type TemplateDoc = DocumentOf<typeof TEMPLATE>;

/** What the list of templates has of each. ITS-REST: TemplateMetadata. */
export type TemplateSummary = Pick<TemplateDoc, '_id' | 'concept' | 'archetype_id' | 'created_timestamp'>;

/** A template ready for use, and which text of its id it was compiled from. */
export interface TemplateInUse {
  /** The id under which it is stored. */
  readonly storedId: string;
  readonly compiled: CompiledTemplate;
  readonly revision: number;
  readonly createdTimestamp: Date;
  readonly used: boolean;
  /** Number of the revision. */
  readonly name: string;
  /** SHA-256 of its text, in hexadecimal. */
  readonly digest: string;
  /** What codes were called by earlier revisions; absent: there are none. */
  readonly formerTexts?: FormerTexts;
  /** Of an earlier revision: its id in `template_revisions`. */
  readonly earlierId?: string;
}

/** Template text together with what the compiler found in it. */
export interface UploadedTemplate {
  readonly opt: string;
  readonly compiled: CompiledTemplate;
  /** With `TEMPLATE_REVISIONS`. */
  readonly revision?: Pick<TemplateDoc, 'revision_name' | 'uploaded_by' | 'has_earlier'>;
}

/** Compiles the text of a stored template: a request counts it on its budget, and may do it in another thread. */
export type CompileStored = (opt: string) => CompiledTemplate | Promise<CompiledTemplate>;

type TextState = Pick<TemplateDoc, 'revision' | 'created_timestamp' | 'used'>;

const DEFAULT_CACHE_SIZE = 200;
const DEFAULT_CACHE_BYTES = 128 * 1024 * 1024;

declare module '../access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.templates]: TemplateDoc;
  }
}

/** For `template-alias.ts` too, which keeps the aliases. */
export const Template = collection(COLLECTIONS.templates, TEMPLATE);

/** Compiled templates of this process; every use asks the database whether the text is still the same. */
let cache = emptyCache(DEFAULT_CACHE_SIZE, DEFAULT_CACHE_BYTES);

type CachedTemplate = Omit<TemplateInUse, 'used'>;

function emptyCache(count: number, bytes: number): LRUCache<string, CachedTemplate> {
  const sizeCalculation = ({ compiled }: CachedTemplate): number => compiled.estimatedBytes;
  return new LRUCache({ max: count, maxSize: bytes, sizeCalculation });
}

/**
 * Sets how many compiled templates this process keeps (`TEMPLATE_CACHE_SIZE`), and about how many bytes of them
 * (`TEMPLATE_CACHE_BYTES`); the ones unused for longest go first.
 */
export function keepTemplates(count: number, bytes = DEFAULT_CACHE_BYTES): void {
  const kept = cache.dump();
  cache = emptyCache(count, bytes);
  cache.load(kept);
}

/**
 * What `ask` finds under the id, else under the one that is the same as an xs:token: earlier releases stored runs of white
 * space in an id as they were written.
 */
async function underStoredId<T>(
  templateId: string,
  ask: (id: string) => Promise<T | null>,
): Promise<T | null> {
  const found = await ask(templateId);
  if (found !== null) return found;
  const former = await sameTokenId(templateId);
  return former === null ? null : ask(former);
}

/** The other id that the same xs:token is stored as. Found in the range of ids that begin with the same word. */
async function sameTokenId(templateId: string): Promise<string | null> {
  const range = sameTokenRange(templateId);
  if (range === null) return null;
  const docs = await Template.find({ _id: trusted(range) }, { _id: 1 }).exec();
  return docs.find(({ _id }) => isSameToken(_id, templateId))?._id ?? null;
}

/** Stores a new template. @throws conflict when the template id exists. */
export async function insertTemplate(
  template: UploadedTemplate,
  createdTimestamp: Date,
): Promise<TemplateDoc> {
  const doc = { ...templateFields(template, createdTimestamp), revision: 1 };
  if ((await sameTokenId(doc._id)) !== null) throw alreadyStored(doc._id);
  try {
    await Template.create([doc]);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw alreadyStored(doc._id, error);
  }
  return doc;
}

function alreadyStored(templateId: string, cause?: unknown): CdrError {
  const message = `Operational template with this template ID already exists: ${templateId}`;
  return new CdrError('conflict', message, { cause });
}

/** Fields of a text that another one may not have. */
const MAY_LACK = ['uid', 'revision_name', 'uploaded_by'] as const;

/** Puts another text under an existing template id, unused as yet; null when the id does not exist. */
export async function replaceTemplate(
  template: UploadedTemplate,
  createdTimestamp: Date,
): Promise<TemplateDoc | null> {
  const { _id, ...fields } = templateFields(template, createdTimestamp);
  return underStoredId(_id, (id) => putText(id, fields));
}

/** Puts a text in the place of that which is stored under an id. Gives the template; null: it is gone. */
export function putText(
  storedId: string,
  fields: Omit<TemplateDoc, '_id' | 'revision'>,
): Promise<TemplateDoc | null> {
  const lacking = MAY_LACK.filter((name) => fields[name] === undefined);
  const update = {
    $set: fields,
    $inc: { revision: 1 },
    ...(lacking.length > 0 && { $unset: Object.fromEntries(lacking.map((name) => [name, 1 as const])) }),
  };
  return Template.findOneAndUpdate({ _id: storedId }, update, { returnDocument: 'after' }).exec();
}

/** Removes a template. Gives the id under which it was stored; null when there was none. */
export async function removeTemplate(templateId: string): Promise<string | null> {
  const removed = await underStoredId(templateId, (id) =>
    Template.findOneAndDelete({ _id: id }, { projection: { _id: 1 } }).exec(),
  );
  return removed?._id ?? null;
}

/** One stored template with its text, null when unknown. */
export function templateById(templateId: string): Promise<TemplateDoc | null> {
  return underStoredId(templateId, storedUnder);
}

function storedUnder(id: string): Promise<TemplateDoc | null> {
  return Template.findOne({ _id: id }).exec();
}

/** All templates without their texts, by template id, which is an xs:token however it is stored. */
export async function templateSummaries(): Promise<TemplateSummary[]> {
  const summaries = await Template.find({}, { concept: 1, archetype_id: 1, created_timestamp: 1 })
    .sort({ _id: 1 })
    .exec();
  return summaries.map((summary) => ({ ...summary, _id: collapsedToken(summary._id) }));
}

/** How many templates there are. */
export function templateCount(): Promise<number> {
  return Template.estimatedDocumentCount().exec();
}

/** So many ids are compared with one that is unknown. */
const MAX_COMPARED = 2_000;

/** Some template ids, for a suggestion. */
export async function someTemplateIds(): Promise<string[]> {
  const docs = await Template.find({}, { _id: 1 }).limit(MAX_COMPARED).exec();
  return docs.map(({ _id }) => _id);
}

/** Ids of all templates, ascending. */
export async function templateIds(): Promise<string[]> {
  const docs = await Template.find({}, { _id: 1 }).sort({ _id: 1 }).exec();
  return docs.map((doc) => doc._id);
}

/** Which text each template has now, as `[id, text]` where equal texts have equal words; at most `limit`. */
export async function templateRevisions(limit: number): Promise<[string, string][]> {
  const projection = { revision: 1, created_timestamp: 1 } as const;
  const docs = await Template.find({}, projection).limit(limit).exec();
  return docs.map((doc) => [doc._id, `${doc.revision} ${doc.created_timestamp.getTime()}`]);
}

/**
 * Notes that a VERSION refers to the template. Matches only the text named: one that was replaced or deleted meanwhile
 * means that the content has to be validated anew.
 */
export function markTemplateUsed({
  storedId,
  revision,
  createdTimestamp,
}: Pick<TemplateInUse, 'storedId' | 'revision' | 'createdTimestamp'>): UpdateWrite<'templates'> {
  return {
    collection: COLLECTIONS.templates,
    filter: { _id: storedId, revision, created_timestamp: createdTimestamp },
    update: { $set: { used: true } },
    matching: 'one',
  };
}

/** Notes that a VERSION refers to a template, whatever its text; matches nothing when it is not there any more. */
export function templateUsed(storedId: string): UpdateWrite<'templates'> {
  const update = { $set: { used: true } };
  return { collection: COLLECTIONS.templates, filter: { _id: storedId }, update, matching: 'one' };
}

/** Stores a template as it was stored elsewhere. Joins the caller's transaction. */
export async function insertRestoredTemplate(
  template: UploadedTemplate,
  as: Pick<TemplateDoc, '_id' | 'created_timestamp' | 'revision'>,
): Promise<void> {
  await Template.create([{ ...templateFields(template, as.created_timestamp), ...as }]);
}

/** Counts the texts of a template as they were counted elsewhere. Joins the caller's transaction. */
export async function countRevisions(storedId: string, revision: number): Promise<void> {
  await Template.updateOne({ _id: storedId }, { $set: { revision } }).exec();
}

/** Ids of the templates that are noted as used, as they are stored and as the xs:tokens that they are. */
export async function usedTemplateIds(): Promise<Set<string>> {
  const ids = [...(await Template.distinct('_id', { used: true }).exec()), ...(await templatesUsedEarlier())];
  return new Set(ids.flatMap((id) => [id, collapsedToken(id)]));
}

/** The compiled template, null when unknown. As `templateInUse`. */
export async function compiledTemplate(
  templateId: string,
  compile?: CompileStored,
): Promise<CompiledTemplate | null> {
  return (await templateInUse(templateId, compile))?.compiled ?? null;
}

/**
 * The compiled template with its revision, null when unknown. Compiled once per process and text as long as it is kept;
 * each call asks for the revision only, so that replacements and deletions by other processes are seen.
 * @throws as `compile`
 */
export function templateInUse(
  templateId: string,
  compile: CompileStored = compileTemplate,
): Promise<TemplateInUse | null> {
  return underStoredId(templateId, (id) => inUseUnder(id, compile));
}

async function inUseUnder(templateId: string, compile: CompileStored): Promise<TemplateInUse | null> {
  const kept = cache.get(templateId);
  if (kept === undefined) return loadTemplate(templateId, compile);
  const state = await textState(templateId);
  if (state !== null && isSameText(kept, state)) {
    publishTemplateCache({ outcome: 'hit' });
    return { ...kept, used: state.used };
  }
  cache.delete(templateId);
  return state === null ? null : loadTemplate(templateId, compile);
}

const STATE = { revision: 1, created_timestamp: 1, used: 1 } as const;

/** Read without hydration: every commit of a COMPOSITION asks. */
const textState = sharedRead((_id) =>
  documents(COLLECTIONS.templates).findOne<TextState>({ _id }, { projection: STATE }),
);

/** What is being compiled: who needs the same waits for it, and compiles for itself only when it failed. */
const compiling = new Map<string, Promise<unknown>>();

async function loadTemplate(templateId: string, compile: CompileStored): Promise<TemplateInUse | null> {
  const doc = await storedUnder(templateId);
  if (doc === null) return null;
  await compiling.get(templateId)?.catch(() => undefined);
  const meanwhile = cache.get(templateId);
  if (meanwhile !== undefined && isSameText(meanwhile, doc)) return { ...meanwhile, used: doc.used };
  publishTemplateCache({ outcome: 'miss' });
  const compiled = await compiledBy(compile, doc);
  const loaded = {
    ...cachedOf(doc, compiled),
    ...(doc.has_earlier === true && { formerTexts: await formerTextsFor(templateId, compile) }),
  };
  cache.set(templateId, loaded);
  return { ...loaded, used: doc.used };
}

async function compiledBy(compile: CompileStored, { _id, opt }: TemplateDoc): Promise<CompiledTemplate> {
  const work = (async () => compile(opt))();
  compiling.set(_id, work);
  try {
    return await work;
  } finally {
    if (compiling.get(_id) === work) compiling.delete(_id);
  }
}

/**
 * Keeps what the upload compiled anyway, so that the first COMPOSITION does not wait for it. For after the
 * commit: a rolled-back upload must leave nothing behind.
 */
export function keepCompiled(doc: TemplateDoc, compiled: CompiledTemplate): void {
  // What codes were called before is read with the next use.
  if (doc.has_earlier === true) cache.delete(doc._id);
  else cache.set(doc._id, cachedOf(doc, compiled));
}

function cachedOf(doc: TemplateDoc, compiled: CompiledTemplate): CachedTemplate {
  return {
    storedId: doc._id,
    compiled,
    revision: doc.revision,
    createdTimestamp: doc.created_timestamp,
    name: revisionName(doc),
    digest: revisionDigest(doc.opt),
  };
}

async function formerTextsFor(storedId: string, compile: CompileStored): Promise<FormerTexts> {
  const earlier: CompiledTemplate[] = [];
  for (const doc of await earlierRevisions(storedId)) earlier.push(await earlierCompiled(doc, compile));
  return formerTextsOf(earlier);
}

function isSameText(
  kept: Pick<TemplateInUse, 'revision' | 'createdTimestamp'>,
  state: Pick<TextState, 'revision' | 'created_timestamp'>,
): boolean {
  return (
    kept.revision === state.revision && kept.createdTimestamp.getTime() === state.created_timestamp.getTime()
  );
}

function templateFields(template: UploadedTemplate, createdTimestamp: Date): Omit<TemplateDoc, 'revision'> {
  const { opt, compiled } = template;
  return {
    _id: compiled.templateId,
    opt,
    concept: compiled.concept,
    archetype_id: compiled.archetypeId,
    ...(compiled.uid !== null && { uid: compiled.uid }),
    language: compiled.defaultLanguage,
    created_timestamp: createdTimestamp,
    used: false,
    ...template.revision,
  };
}
