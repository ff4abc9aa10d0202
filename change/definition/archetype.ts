import type { Archetype } from '../../openehr/archetype/archetype.js';
import { insertArchetype, type ArchetypeDoc } from '../../models/definition/archetype.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';

/** Stores the source of an archetype that was read. @throws conflict when its id exists */
export function createArchetype(source: string, archetype: Archetype): Promise<ArchetypeDoc> {
  const { archetypeId, originalLanguage, languages, concept, terms } = archetype;
  const { text = '' } = terms[originalLanguage]?.find(({ code }) => code === concept) ?? {};
  const doc = { _id: archetypeId, source, concept: text, languages, created_timestamp: new Date() };
  return inAuditedTransaction(
    async () => {
      await insertArchetype(doc);
      return doc;
    },
    ({ _id }) => ({ objects: [_id] }),
  );
}
