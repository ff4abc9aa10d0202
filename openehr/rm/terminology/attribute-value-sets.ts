import { OPENEHR, type CodeSetName, type GroupName } from './openehr.js';

/** What an RM attribute takes its codes from. */
export type ValueSet =
  | { readonly kind: 'group'; readonly name: GroupName; readonly terminologyId: string }
  | { readonly kind: 'code-set'; readonly name: CodeSetName; readonly terminologyId: string };

/** Groups of the openEHR terminology by RM attribute: docs/spec/formats.md#value-sets */
const GROUP_OF: Readonly<Record<string, GroupName>> = {
  category: 'composition category',
  setting: 'setting',
  current_state: 'instruction states',
  transition: 'instruction transitions',
  null_flavour: 'null flavours',
  mode: 'participation mode',
  function: 'participation function',
  relationship: 'subject relationship',
  property: 'property',
  math_function: 'event math function',
  purpose: 'term mapping purpose',
  lifecycle_state: 'version lifecycle state',
};

const CODE_SET_OF: Readonly<Record<string, CodeSetName>> = {
  language: 'ISO_639-1',
  territory: 'ISO_3166-1',
  encoding: 'IANA_character-sets',
  charset: 'IANA_character-sets',
  media_type: 'IANA_media-types',
  compression_algorithm: 'openehr_compression_algorithms',
  integrity_check_algorithm: 'openehr_integrity_check_algorithms',
  normal_status: 'openehr_normal_statuses',
};

const VALUE_SETS: ReadonlyMap<string, ValueSet> = new Map<string, ValueSet>([
  ...Object.entries(GROUP_OF).map(
    ([attribute, name]) => [attribute, { kind: 'group', name, terminologyId: OPENEHR }] as const,
  ),
  ...Object.entries(CODE_SET_OF).map(
    ([attribute, name]) => [attribute, { kind: 'code-set', name, terminologyId: name }] as const,
  ),
]);

/** Where the codes of an RM attribute come from (docs/spec/formats.md#value-sets); null when the RM does not say. */
export function valueSetOf(attributeName: string): ValueSet | null {
  return VALUE_SETS.get(attributeName) ?? null;
}

/** The group of the openEHR terminology that an RM attribute takes its codes from; null when there is none. */
export function groupOfAttribute(attributeName: string): GroupName | null {
  const valueSet = valueSetOf(attributeName);
  return valueSet?.kind === 'group' ? valueSet.name : null;
}
