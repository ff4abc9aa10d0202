import { CdrError } from '../../openehr/base/errors.js';
import type { VersionPrefix } from '../../openehr/base/semver.js';
import { exactVersion, formatVersion, nextVersion, type SemanticVersion } from '../../openehr/base/semver.js';
import type { QueryName, StoredQueryDoc } from '../../models/definition/stored-query.js';
import {
  insertStoredQuery,
  putPrerelease,
  removeStoredQuery,
  storedName,
  storedQueryDoc,
  storedVersions,
} from '../../models/definition/stored-query.js';
import { duplicateIn } from '../../models/access/write.js';
import { noteStates } from '../../models/cross-collection/state-note.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';
import { requireOwner, type QueryDefiner } from './query-owner.js';

const STATED_QUERY = { collection: 'stored_queries', reason: 'definition' } as const;

/** How often a number is taken anew because a parallel request was faster. */
const ATTEMPTS = 20;

/** A text to be stored. */
export interface QueryText {
  readonly q: string;
  /** null: name spaces have no owners. */
  readonly definer: QueryDefiner | null;
}

/**
 * Stores an AQL text under the version that the prefix asks for: none = next major, `M` = next minor, `M.m` =
 * next patch, whole = itself. Pre-releases may be replaced, releases never. ITS-REST: query_store.
 * @throws conflict when the named release exists; forbidden as `requireOwner`
 */
export async function storeQuery(
  given: QueryName,
  prefix: VersionPrefix | null,
  { q, definer }: QueryText,
): Promise<StoredQueryDoc> {
  const name = await nameToStore(given);
  const exact = prefix === null ? null : exactVersion(prefix);
  if (exact === null) return storeNext(name, prefix, { q, definer });
  const doc = storedQueryDoc(name, exact, q, new Date());
  const store = exact.prerelease === null ? insertStoredQuery : putPrerelease;
  await put(doc, { definer, store });
  return doc;
}

/** The name that a query has already in another case. */
async function nameToStore(given: QueryName): Promise<QueryName> {
  const name = await storedName(given.name);
  if (name === given.name) return given;
  const [queryName = name, namespace = null] = name.split('::').reverse();
  return { name, namespace, queryName };
}

async function storeNext(
  name: QueryName,
  prefix: VersionPrefix | null,
  { q, definer }: QueryText,
): Promise<StoredQueryDoc> {
  for (let attempt = 1; ; attempt += 1) {
    const version = nextVersion(await storedVersions(name.name), prefix);
    const doc = storedQueryDoc(name, version, q, new Date());
    try {
      await put(doc, { definer, store: insertStoredQuery });
      return doc;
    } catch (error) {
      const isTaken = error instanceof CdrError && error.code === 'conflict';
      if (!isTaken || attempt === ATTEMPTS) throw error;
    }
  }
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

interface Storing {
  readonly definer: QueryDefiner | null;
  readonly store: (doc: StoredQueryDoc) => Promise<void>;
}

async function put(doc: StoredQueryDoc, { definer, store }: Storing): Promise<void> {
  const once = (): Promise<void> =>
    inAuditedTransaction(
      async (session) => {
        if (definer !== null) await requireOwner(session, doc.name, definer);
        await store(doc);
        await noteStates(session, { ...STATED_QUERY, ids: [doc._id] });
      },
      () => ({ objects: [doc._id] }),
    );
  try {
    await once();
  } catch (error) {
    if (duplicateIn(error) !== 'query_owners') throw error;
    // Somebody was faster: the name space has an owner now.
    await once();
  }
}
