import type { RequestListener } from 'node:http';
import request from 'supertest';
import { answered, aComposition, V1, type Json } from '../resources.js';

const CODES = 'openehr';
const coded = (code: string, value: string): Json => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: CODES },
    code_string: code,
  },
});
const AUDIT = {
  _type: 'AUDIT_DETAILS',
  change_type: coded('251', 'modification'),
  committer: { _type: 'PARTY_IDENTIFIED', name: 'writer' },
};

/** Changes COMPOSITIONs in one CONTRIBUTION. */
export async function givenJointUpdate(
  app: RequestListener,
  ehrId: string,
  uids: readonly string[],
): Promise<void> {
  const contribution = { _type: 'CONTRIBUTION', versions: uids.map(modification), audit: AUDIT };
  const answer = await answered(() =>
    request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(contribution),
  );
  if (answer.status !== 201) throw new Error(`CONTRIBUTION: ${answer.status} ${answer.text}`);
}

function modification(uid: string): Json {
  return {
    _type: 'ORIGINAL_VERSION',
    preceding_version_uid: { _type: 'OBJECT_VERSION_ID', value: uid },
    lifecycle_state: coded('532', 'complete'),
    commit_audit: AUDIT,
    data: aComposition(),
  };
}

/** The uid of the version after this one. */
export function nextUid(uid: string): string {
  const [id, system, version] = uid.split('::');
  return `${id}::${system}::${Number(version) + 1}`;
}
