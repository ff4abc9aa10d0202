import { aComposition, type Json } from '../resources.js';

/** ARCHETYPED of an archetype root. */
export const archetypeDetails = (archetypeId: string): Json => ({
  _type: 'ARCHETYPED',
  archetype_id: { _type: 'ARCHETYPE_ID', value: archetypeId },
  rm_version: '1.0.4',
});

/** The EHRbase example whose duration breaks the pattern of its template. */
export function ofOneYear(): Json {
  return JSON.parse(
    JSON.stringify(aComposition('minimal_instruction.en.v1')).replace('"PT1M"', '"P1Y"'),
  ) as Json;
}

/** A root whose node id is that of another archetype. */
export function namedOtherwise(): Json {
  const composition = aComposition();
  composition['archetype_details'].archetype_id.value = 'openEHR-EHR-COMPOSITION.other.v1';
  return composition;
}

/** An archetype root inside the content whose node id is that of another archetype. */
export function namedOtherwiseInside(): Json {
  const composition = aComposition();
  composition['content'][0].archetype_details.archetype_id.value = 'openEHR-EHR-EVALUATION.other.v1';
  return composition;
}
