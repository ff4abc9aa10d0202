import { type ClientSession } from 'mongoose';

import { CdrError } from '../../openehr/base/errors.js';
import { groupBy } from '../../openehr/base/maps.js';
import type { SemanticVersion, VersionPrefix } from '../../openehr/base/semver.js';
import { chooseVersion, compareVersions, formatVersion } from '../../openehr/base/semver.js';
import { isDuplicateKey } from '../../database/mongo-error.js';
import { COLLECTIONS } from '../access/layout.js';
import { documents } from '../access/documents.js';
import { collection, number, date, nullable, text, type DocumentOf } from '../access/collection.js';

const STORED_QUERY = {
  major: number,
  minor: number,
  patch: number,
  prerelease: nullable(text),
  /** `<name>/<version>`. */
  _id: text,
  /** Qualified name, `[<namespace>::]<query-name>`. */
  name: text,
  namespace: nullable(text),
  query_name: text,
  /** Always `AQL`. */
  type: text,
  /** AQL text as submitted. */
  q: text,
  /** Time of storing. */
  saved: date,
};

/** One version of a stored AQL query. Fields: docs/spec/storage.md#other-collections. */
export type StoredQueryDoc = DocumentOf<typeof STORED_QUERY>;

/** `[<namespace>::]<query-name>` in its parts. */
export interface QueryName {
  readonly name: string;
  readonly namespace: string | null;
  readonly queryName: string;
}

/** What a list of stored queries is asked for: docs/spec/rest.md#query-name-patterns */
export type QueryPattern =
  | { readonly kind: 'all' }
  | { readonly kind: 'prefix'; readonly text: string }
  | { readonly kind: 'parts'; readonly namespace: string; readonly queryName: string };

const StoredQuery = collection(COLLECTIONS.storedQueries, STORED_QUERY);

/** Makes the document of one version; it is not stored yet. */
export function storedQueryDoc(
  name: QueryName,
  version: SemanticVersion,
  q: string,
  saved: Date,
): StoredQueryDoc {
  const { major, minor, patch, prerelease } = version;
  return {
    _id: `${name.name}/${formatVersion(version)}`,
    name: name.name,
    namespace: name.namespace,
    query_name: name.queryName,
    major,
    minor,
    patch,
    prerelease,
    type: 'AQL',
    q,
    saved,
  };
}

/** The document of `settings` that everyone writes who stores a query. */
const NAMES = 'stored_queries';

/**
 * Lets transactions that store queries come one after another: a name is compared with all others without case, which no unique
 * index does as long as the pairs of older releases may stay.
 */
export async function holdStoredNames(session: ClientSession): Promise<void> {
  const settings = documents<{ _id: string; stored: number }>(COLLECTIONS.settings);
  await settings.updateOne({ _id: NAMES }, { $inc: { stored: 1 } }, { upsert: true, session });
}

/** Stores a new version. @throws conflict when exactly this version exists. */
export async function insertStoredQuery(doc: StoredQueryDoc): Promise<void> {
  try {
    await StoredQuery.create([doc]);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw new CdrError('conflict', `Stored query ${doc._id} already exists`, { cause: error });
  }
}

/** Stores a version, over an earlier text of it if there is one. */
export async function putStoredQuery(doc: StoredQueryDoc): Promise<void> {
  const { _id, ...fields } = doc;
  await StoredQuery.updateOne({ _id }, { $set: fields }, { upsert: true }).exec();
}

/** One version by `<name>/<version>`, null when there is none. Joins the caller's transaction. */
export function storedQueryById(id: string): Promise<StoredQueryDoc | null> {
  return StoredQuery.findOne({ _id: id }).exec();
}

/** Which versions of a qualified name are stored. */
export function storedVersions(name: string): Promise<SemanticVersion[]> {
  return StoredQuery.find({ name }, { major: 1, minor: 1, patch: 1, prerelease: 1 }).exec();
}

/** All names under which queries are stored. Joins the caller's transaction. */
export async function storedNames(): Promise<string[]> {
  const names: string[] = await StoredQuery.distinct('name').exec();
  return names.sort();
}

/**
 * The name as it is stored: names are compared without case (BASE: base types, "Composite Identifiers and Case"). Of names that
 * an older release stored beside each other the one that is written so, else the first. The name itself when none is stored.
 */
export async function storedName(name: string): Promise<string> {
  if ((await StoredQuery.exists({ name }).exec()) !== null) return name;
  const lowerCase = name.toLowerCase();
  return (await storedNames()).find((other) => other.toLowerCase() === lowerCase) ?? name;
}

/** Names of stored queries that differ in case only, as older releases took them; each list sorted. */
export async function namesThatDifferInCase(): Promise<string[][]> {
  const byLowerCase = groupBy(await storedNames(), (name) => name.toLowerCase());
  return [...byLowerCase.values()].filter((alike) => alike.length > 1);
}

/**
 * The version of a stored query that a reader gets: the highest release that fits the prefix (null: of all),
 * a pre-release only when named exactly; null when there is none.
 */
export async function storedQuery(
  given: string,
  prefix: VersionPrefix | null,
): Promise<StoredQueryDoc | null> {
  const name = await storedName(given);
  const version = chooseVersion(await storedVersions(name), prefix);
  if (version === null) return null;
  return StoredQuery.findOne({ _id: `${name}/${formatVersion(version)}` }).exec();
}

/** All versions whose name fits, by name, then newest version first. */
export async function storedQueries(pattern: QueryPattern): Promise<StoredQueryDoc[]> {
  const all: StoredQueryDoc[] = await StoredQuery.find().exec();
  const docs = all.filter((doc) => fitsPattern(doc, pattern));
  return docs.sort((left, right) => byQueryName(left, right) || compareVersions(right, left));
}

/** How many versions of stored queries there are. */
export function storedQueryCount(): Promise<number> {
  return StoredQuery.estimatedDocumentCount().exec();
}

/** Removes one version; false when there was none. */
export async function removeStoredQuery(name: string, version: SemanticVersion): Promise<boolean> {
  const { deletedCount } = await StoredQuery.deleteOne({ _id: `${name}/${formatVersion(version)}` }).exec();
  return deletedCount === 1;
}

function byQueryName(left: StoredQueryDoc, right: StoredQueryDoc): number {
  if (left.name === right.name) return 0;
  return left.name < right.name ? -1 : 1;
}

/** Whether a name fits a pattern, without case. */
function fitsPattern(
  { name, namespace, query_name: queryName }: StoredQueryDoc,
  pattern: QueryPattern,
): boolean {
  if (pattern.kind === 'all') return true;
  if (pattern.kind === 'prefix')
    return lower(name).startsWith(lower(pattern.text)) || lower(queryName) === lower(pattern.text);
  return (
    (pattern.namespace === '' || lower(namespace ?? '') === lower(pattern.namespace)) &&
    (pattern.queryName === '' || lower(queryName) === lower(pattern.queryName))
  );
}

function lower(text: string): string {
  return text.toLowerCase();
}
