import { isAbsent } from '../access.js';
import { codedBy, invariant, notEmpty, type Invariant } from './invariant.js';

const AUDIT_CHANGE_TYPE = { kind: 'group', name: 'audit change type', terminologyId: 'openehr' } as const;
const ATTESTATION_REASON = { kind: 'group', name: 'attestation reason', terminologyId: 'openehr' } as const;

/** Rules of archetyped, party and change control classes (docs/spec/formats.md#rm-rules). */
export const COMMON_INVARIANTS: readonly Invariant[] = [
  notEmpty('LOCATABLE', 'Archetype_node_id_valid', 'archetype_node_id'),
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
