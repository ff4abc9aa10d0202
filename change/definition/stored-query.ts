import { CdrError } from '../../openehr/base/errors.js';
import type { VersionPrefix } from '../../openehr/base/semver.js';
import { exactVersion, formatVersion, nextVersion, type SemanticVersion } from '../../openehr/base/semver.js';
import type { QueryName, StoredQueryDoc } from '../../models/definition/stored-query.js';
import {
  holdStoredNames,
  insertStoredQuery,
  putStoredQuery,
  removeStoredQuery,
  storedName,
  storedQueryDoc,
  storedVersions,
} from '../../models/definition/stored-query.js';
import { noteStates } from '../../models/cross-collection/state-note.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';
import { requireOwner, type QueryDefiner } from './query-owner.js';

const STATED_QUERY = { collection: 'stored_queries', reason: 'definition' } as const;

/** A text to be stored. */
export interface QueryText {
  readonly q: string;
  /** null: name spaces have no owners. */
  readonly definer: QueryDefiner | null;
}

/** Where a text goes that names no version: the next major one, or over version 1.0.0. */
type UnversionedPlace = 'next' | 'first';

const FIRST: SemanticVersion = { major: 1, minor: 0, patch: 0, prerelease: null };

/**
 * Stores an AQL text under the version that the prefix asks for: none = next major (or `unversioned` says the first), `M` =
 * next minor, `M.m` = next patch, whole = itself. Pre-releases may be replaced and what has no version of its own, releases never.
 * ITS-REST: query_store.
 * @throws conflict when the named release exists; forbidden as `requireOwner`
 */
export function storeQuery(
  given: QueryName,
  prefix: VersionPrefix | null,
  { q, definer }: QueryText,
  unversioned: UnversionedPlace = 'next',
): Promise<StoredQueryDoc> {
  const isReplaced = prefix === null && unversioned === 'first';
  const exact = isReplaced ? FIRST : prefix === null ? null : exactVersion(prefix);
  return inAuditedTransaction(
    async (session) => {
      await holdStoredNames(session);
      const name = await nameToStore(given);
      if (definer !== null) await requireOwner(session, name.name, definer);
      const version = exact ?? nextVersion(await storedVersions(name.name), prefix);
      const doc = storedQueryDoc(name, version, q, new Date());
      await (isReplaced || version.prerelease !== null ? putStoredQuery(doc) : insertStoredQuery(doc));
      await noteStates(session, { ...STATED_QUERY, ids: [doc._id] });
      return doc;
    },
    ({ _id }) => ({ objects: [_id] }),
  );
}

/** The name that a query has already in another case. */
async function nameToStore(given: QueryName): Promise<QueryName> {
  const name = await storedName(given.name);
  if (name === given.name) return given;
  const [queryName = name, namespace = null] = name.split('::').reverse();
  return { name, namespace, queryName };
}

/** Removes one version of a stored query. @throws not-found */
export async function deleteStoredQuery(given: string, version: SemanticVersion): Promise<void> {
  const name = await storedName(given);
  const id = `${name}/${formatVersion(version)}`;
  return inAuditedTransaction(
    async (session) => {
      if (!(await removeStoredQuery(name, version)))
        throw new CdrError('not-found', `there is no stored query ${id}`);
      await noteStates(session, { ...STATED_QUERY, ids: [id] });
    },
    () => ({ objects: [id] }),
  );
}
