import { isArchetypeId } from '../syntax/words.js';

const VERSIONED = /^(.*)\.v(\d+)(?:[.-].*)?$/;

/** Whether an archetype id is the wanted one or a specialisation of it (docs/spec/aql.md#node-predicates-in-from). */
export function isSpecialisation(id: string, wanted: string): boolean {
  if (id === wanted) return true;
  if (!isArchetypeId(wanted)) return false;
  const [, concept, major] = VERSIONED.exec(id) ?? [];
  const [, wantedConcept, wantedMajor] = VERSIONED.exec(wanted) ?? [];
  if (concept === undefined || wantedConcept === undefined || major !== wantedMajor) return false;
  return concept === wantedConcept || concept.startsWith(`${wantedConcept}-`);
}
