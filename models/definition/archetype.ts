import { CdrError } from '../../openehr/base/errors.js';
import { isDuplicateKey } from '../../database/mongo-error.js';
import { collection, date, listOf, text, type DocumentOf } from '../access/collection.js';
import { COLLECTIONS } from '../access/layout.js';

const ARCHETYPE = {
  /** ARCHETYPE_ID. */
  _id: text,
  /** ADL 1.4 as uploaded. */
  source: text,
  /** What the concept is called in the original language. */
  concept: text,
  /** The original one first. */
  languages: listOf(text),
  created_timestamp: date,
};

/** The source of an archetype. Fields: docs/spec/storage.md#other-collections. */
export type ArchetypeDoc = DocumentOf<typeof ARCHETYPE>;

/** What a list shows of an archetype. */
type ArchetypeSummary = Omit<ArchetypeDoc, 'source'>;

const Archetype = collection(COLLECTIONS.archetypes, ARCHETYPE);

/** Stores a new archetype. Joins the caller's transaction. @throws conflict when its id exists */
export async function insertArchetype(doc: ArchetypeDoc): Promise<void> {
  try {
    await Archetype.create([doc]);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw new CdrError('conflict', `Archetype ${doc._id} already exists`, { cause: error });
  }
}

/** null when there is none with this id. */
export function archetypeById(archetypeId: string): Promise<ArchetypeDoc | null> {
  return Archetype.findOne({ _id: archetypeId }).exec();
}

/** All archetypes without their sources, by id. */
export function archetypeSummaries(): Promise<ArchetypeSummary[]> {
  return Archetype.find({}, { source: 0 }).sort({ _id: 1 }).exec();
}
