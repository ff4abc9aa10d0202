import { CdrError } from '../base/errors.js';
import type { VersionPrefix } from '../base/semver.js';
import { exactVersion, nextVersion } from '../base/semver.js';
import type { QueryName, StoredQueryDoc } from '../models/stored-query.js';
import { insertStoredQuery, putPrerelease, storedQueryDoc, storedVersions } from '../models/stored-query.js';

/** How often a number is taken anew because a parallel request was faster. */
const ATTEMPTS = 20;

/**
 * Stores an AQL text under the version that the prefix asks for: none = next major, `M` = next minor, `M.m` =
 * next patch, whole = itself. Pre-releases may be replaced, releases never. ITS-REST: query_store.
 * @throws conflict when the named release exists
 */
export async function storeQuery(
  name: QueryName,
  prefix: VersionPrefix | null,
  q: string,
): Promise<StoredQueryDoc> {
  const exact = prefix === null ? null : exactVersion(prefix);
  if (exact === null) return storeNext(name, prefix, q);
  const doc = storedQueryDoc(name, exact, q, new Date());
  await (exact.prerelease === null ? insertStoredQuery(doc) : putPrerelease(doc));
  return doc;
}

async function storeNext(name: QueryName, prefix: VersionPrefix | null, q: string): Promise<StoredQueryDoc> {
  for (let attempt = 1; ; attempt += 1) {
    const version = nextVersion(await storedVersions(name.name), prefix);
    const doc = storedQueryDoc(name, version, q, new Date());
    try {
      await insertStoredQuery(doc);
      return doc;
    } catch (error) {
      const isTaken = error instanceof CdrError && error.code === 'conflict';
      if (!isTaken || attempt === ATTEMPTS) throw error;
    }
  }
}
