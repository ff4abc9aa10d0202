import { model, Schema } from 'mongoose';
import { CdrError } from '../../openehr/base/errors.js';
import { isDuplicateKey } from '../../database/mongo-error.js';
import { COLLECTIONS } from '../layout.js';
import { SCHEMA_OPTIONS } from '../access/schema.js';

/** The source of an archetype. Fields: docs/spec/storage.md#other-collections. */
export interface ArchetypeDoc {
  /** ARCHETYPE_ID. */
  readonly _id: string;
  /** ADL 1.4 as uploaded. */
  readonly source: string;
  /** What the concept is called in the original language. */
  readonly concept: string;
  /** The original one first. */
  readonly languages: readonly string[];
  readonly created_timestamp: Date;
}

/** What a list shows of an archetype. */
type ArchetypeSummary = Omit<ArchetypeDoc, 'source'>;

const ArchetypeModel = model(
  'Archetype',
  new Schema<ArchetypeDoc>(
    { _id: String, source: String, concept: String, languages: [String], created_timestamp: Date },
    SCHEMA_OPTIONS,
  ),
  COLLECTIONS.archetypes,
);

/** Stores a new archetype. Joins the caller's transaction. @throws conflict when its id exists */
export async function insertArchetype(doc: ArchetypeDoc): Promise<void> {
  try {
    await ArchetypeModel.create([doc]);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw new CdrError('conflict', `Archetype ${doc._id} already exists`, { cause: error });
  }
}

/** null when there is none with this id. */
export function archetypeById(archetypeId: string): Promise<ArchetypeDoc | null> {
  return ArchetypeModel.findOne({ _id: archetypeId }).lean<ArchetypeDoc>().exec();
}

/** All archetypes without their sources, by id. */
export function archetypeSummaries(): Promise<ArchetypeSummary[]> {
  return ArchetypeModel.find({}, { source: 0 }).sort({ _id: 1 }).lean<ArchetypeSummary[]>().exec();
}
