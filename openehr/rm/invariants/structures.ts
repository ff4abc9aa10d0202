import type { PartialRm } from '../model/rm.js';
import { isAbsent } from '../access.js';
import { codedBy, invariant, notEmpty, type Invariant } from './invariant.js';

/** Rules of compositions, entries, histories and items (docs/spec/formats.md#rm-rules). */
export const STRUCTURE_INVARIANTS: readonly Invariant[] = [
  codedBy('COMPOSITION', 'Category_validity', 'category'),
  codedBy('COMPOSITION', 'Territory_valid', 'territory'),
  codedBy('COMPOSITION', 'Language_valid', 'language'),
  archetypeRoot('COMPOSITION', 'Is_archetype_root'),
  codedBy('EVENT_CONTEXT', 'Setting_valid', 'setting'),
  notEmpty('EVENT_CONTEXT', 'Location_validity', 'location'),

  codedBy('ENTRY', 'Language_valid', 'language'),
  codedBy('ENTRY', 'Encoding_valid', 'encoding'),
  invariant('ENTRY', {
    name: 'Is_archetypeRoot',
    expected: 'archetype_details, or an archetype id as archetype_node_id',
    // Many systems leave archetype_details out of ENTRYs; the node id then says the same.
    holds: (entry) => !isAbsent(entry.archetype_details) || isArchetypeIdText(entry.archetype_node_id),
    isLowerLimit: true,
  }),
  notEmpty('ACTIVITY', 'Action_archetype_id_valid', 'action_archetype_id'),
  notEmpty('INSTRUCTION_DETAILS', 'Activity_path_valid', 'activity_id'),
  codedBy('ISM_TRANSITION', 'Current_state_valid', 'current_state'),
  codedBy('ISM_TRANSITION', 'Transition_valid', 'transition'),

  invariant('HISTORY', {
    name: 'Events_valid',
    expected: 'events or summary',
    holds: (history) => !isAbsent(history.events) || !isAbsent(history.summary),
    isLowerLimit: true,
  }),
  codedBy('INTERVAL_EVENT', 'Math_function_validity', 'math_function'),
  invariant('ELEMENT', {
    name: 'Inv_null_flavour_indicated',
    expected: 'value or null_flavour, found neither',
    holds: (element) => !isAbsent(element.value) || !isAbsent(element.null_flavour),
    isLowerLimit: true,
  }),
  invariant('ELEMENT', {
    name: 'Inv_null_flavour_indicated',
    expected: 'value or null_flavour, found both',
    holds: (element) => isAbsent(element.value) || isAbsent(element.null_flavour),
  }),
  codedBy('ELEMENT', 'Inv_null_flavour_valid', 'null_flavour'),
  invariant('ELEMENT', {
    name: 'Inv_null_reason_valid',
    expected: 'null_reason only without value',
    holds: (element) => isAbsent(element.null_reason) || isAbsent(element.value),
  }),
  invariant('ITEM_TABLE', {
    name: 'Valid_structure',
    expected: 'only ELEMENTs in rows',
    holds: (table) => tableRows(table).every((row) => row.every((type) => type === 'ELEMENT')),
  }),
  invariant('ITEM_TABLE', {
    name: 'Valid_number_of_rows',
    expected: 'as many items in each row',
    holds: (table) => new Set(tableRows(table).map((row) => row.length)).size <= 1,
  }),
];

const ARCHETYPE_ID = /^[A-Za-z]\w*-[A-Za-z]\w*-[A-Za-z]\w*\.[\w-]+\.v\d/;

function isArchetypeIdText(value: string | undefined): boolean {
  return value !== undefined && ARCHETYPE_ID.test(value);
}

function archetypeRoot(type: 'COMPOSITION', name: string): Invariant {
  return invariant(type, {
    name,
    expected: 'archetype_details',
    holds: (object) => !isAbsent(object.archetype_details),
    isLowerLimit: true,
  });
}

/** The types of the items of each row. */
function tableRows({ rows = [] }: PartialRm<'ITEM_TABLE'>): string[][] {
  return rows.map(({ items }) => items?.map(({ _type }) => _type) ?? []);
}

const AUDIT_CHANGE_TYPE = { kind: 'group', name: 'audit change type', terminologyId: 'openehr' } as const;
const ATTESTATION_REASON = { kind: 'group', name: 'attestation reason', terminologyId: 'openehr' } as const;

/** Rules of archetyped, party and change control classes (docs/spec/formats.md#rm-rules). */
export const COMMON_INVARIANTS: readonly Invariant[] = [
  notEmpty('LOCATABLE', 'Archetype_node_id_valid', 'archetype_node_id'),
  // Also of archetype roots inside the content. RM: common, LOCATABLE.archetype_node_id.
  invariant('LOCATABLE', {
    name: 'Archetyped_valid',
    attribute: 'archetype_node_id',
    expected: 'the archetype_id of archetype_details',
    holds: ({ archetype_node_id: nodeId, archetype_details: details }) => {
      const archetypeId = details?.archetype_id?.value;
      return isAbsent(nodeId) || isAbsent(archetypeId) || nodeId === archetypeId;
    },
  }),
  notEmpty('ARCHETYPED', 'Rm_version_valid', 'rm_version'),
  notEmpty('FEEDER_AUDIT_DETAILS', 'System_id_valid', 'system_id'),

  notEmpty('AUDIT_DETAILS', 'System_id_valid', 'system_id'),
  codedBy('AUDIT_DETAILS', 'Change_type_valid', 'change_type', AUDIT_CHANGE_TYPE),
  codedBy('ATTESTATION', 'Reason_valid', 'reason', ATTESTATION_REASON),
  codedBy('VERSION', 'Lifecycle_state_valid', 'lifecycle_state'),

  codedBy('PARTICIPATION', 'Function_valid', 'function'),
  codedBy('PARTICIPATION', 'Mode_valid', 'mode'),
  invariant('PARTY_IDENTIFIED', {
    name: 'Basic_validity',
    expected: 'name, identifiers or external_ref',
    holds: (party) => !isAbsent(party.name) || !isAbsent(party.identifiers) || !isAbsent(party.external_ref),
    isLowerLimit: true,
  }),
  notEmpty('PARTY_IDENTIFIED', 'Name_valid', 'name'),
  codedBy('PARTY_RELATED', 'Relationship_valid', 'relationship'),
];
