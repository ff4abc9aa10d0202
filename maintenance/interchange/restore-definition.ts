import { CdrError } from '../../openehr/base/errors.js';
import { isDuplicateKey } from '../../database/mongo-error.js';
import { inRestore } from './restored-state.js';
import {
  insertOwn,
  storedOwn,
  type OwnCollection,
  type OwnDocument,
} from '../../models/cross-collection/interchange.js';
import { noteStates, STATED, type StatedCollection } from '../../models/cross-collection/state-note.js';
import {
  holdStoredNames,
  insertStoredQuery,
  storedName,
  storedQueryById,
  type StoredQueryDoc,
} from '../../models/definition/stored-query.js';
import type { Session } from '../../models/access/write.js';
import type { InterchangeLine } from './line.js';
import type { RestoreHow } from './part.js';
import { restoreCategories } from './restore-categories.js';
import { restoreMark } from './restore-mark.js';
import { restorePolicyVersion } from './restore-policy.js';
import { restoreTemplate } from './restore-template.js';
import { isSameDocument } from './same.js';

/** A line that belongs to no EHR, or to several. */
export type DefinitionLine = Extract<InterchangeLine, { kind: 'template' | 'stored_query' | 'document' }>;

/** What became of a line that was not refused. */
type Restored = 'imported' | 'unchanged';

/** Restores a template, stored query or document. @throws invalid, conflict when another one is here */
export async function restoreDefinition(how: RestoreHow, line: DefinitionLine): Promise<Restored> {
  try {
    switch (line.kind) {
      case 'template':
        return await restoreTemplate(how, line.template);
      case 'stored_query':
        return await restoreQuery(how.batch, line.query);
      case 'document':
        return await restoreDocument(how, line);
    }
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw new CdrError('conflict', 'another one is here', { cause: error });
  }
}

async function restoreQuery(batch: string, query: StoredQueryDoc): Promise<Restored> {
  return inRestore(batch, async (session) => {
    await holdStoredNames(session);
    const known = await storedQueryById(query._id);
    if (known !== null) {
      if (isSameDocument(known, query)) return 'unchanged';
      throw new CdrError('conflict', `another stored query ${query._id} is here`);
    }
    const name = await storedName(query.name);
    if (name !== query.name) throw new CdrError('conflict', `a stored query ${name} is here`);
    await insertStoredQuery(query);
    await note(session, batch, { collection: 'stored_queries', id: query._id });
    return 'imported';
  });
}

async function restoreDocument(how: RestoreHow, { collection, document }: OwnDocument): Promise<Restored> {
  const { _id: id } = document;
  const known = (await storedOwn(collection, [id])).get(id);
  if (collection === 'ehr_marks') return restoreMark(how, document, known);
  if (known !== undefined) {
    if (isSameDocument(known, document)) return 'unchanged';
    throw new CdrError('conflict', `another document ${id} is in ${collection} here`);
  }
  if (collection === 'policy_versions') {
    await restorePolicyVersion(how, document);
    return 'imported';
  }
  if (collection === 'category_versions') {
    await restoreCategories(how, document);
    return 'imported';
  }
  await inRestore(how.batch, async (session) => {
    await insertOwn(session, collection, [document]);
    if (isStated(collection)) await note(session, how.batch, { collection, id });
  });
  return 'imported';
}

function isStated(collection: OwnCollection): collection is OwnCollection & StatedCollection {
  return STATED.some((name) => name === collection);
}

/** So that the seals hold what it is. */
function note(
  session: Session,
  batch: string,
  { collection, id }: { readonly collection: StatedCollection; readonly id: string },
): Promise<void> {
  return noteStates(session, { collection, ids: [id], reason: 'restore', batch });
}
