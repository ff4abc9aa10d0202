import type { Json } from './resources.js';

/** A CONTRIBUTION that signs a VERSION. */
export function attestation(uid: string): Json {
  const coded = (code: string, value: string) => ({
    _type: 'DV_CODED_TEXT',
    value,
    defining_code: {
      _type: 'CODE_PHRASE',
      terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
      code_string: code,
    },
  });
  const audit = {
    _type: 'AUDIT_DETAILS',
    change_type: coded('666', 'attestation'),
    committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada' },
  };
  const attested = {
    _type: 'ATTESTATION',
    change_type: coded('666', 'attestation'),
    committer: { _type: 'PARTY_IDENTIFIED', name: 'Ada' },
    reason: { _type: 'DV_TEXT', value: 'signed' },
    is_pending: false,
  };
  return {
    _type: 'CONTRIBUTION',
    versions: [
      {
        _type: 'ORIGINAL_VERSION',
        preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value: uid },
        lifecycle_state: coded('532', 'complete'),
        commit_audit: audit,
        attestations: [attested],
      },
    ],
    audit,
  };
}
