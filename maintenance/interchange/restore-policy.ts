import { CdrError } from '../../openehr/base/errors.js';
import { readablePolicy } from '../../change/policy/policy.js';
import { inRestore } from './restored-state.js';
import type { StoredDocument } from '../../models/access/documents.js';
import { noteStates } from '../../models/cross-collection/state-note.js';
import { holdPolicies } from '../../models/access-numbers.js';
import { insertPolicyVersion, policyVersionCount, type PolicyVersionDoc } from '../../models/policy.js';
import { malformed } from './line-parts.js';
import type { RestoreHow } from './part.js';

const MEMBERS = new Set([
  '_id',
  'policy_id',
  'version',
  'policy',
  'time',
  'by',
  'sub',
  'iss',
  'confirmed_by',
]);

/**
 * Restores a version of a policy of access, which is the newest then. docs/spec/interchange.md#lines
 * @throws invalid for what is none, or cannot be read; conflict when those before it are not here; unprocessable for one that does not hold here, or for
 * who may not change policies
 */
export async function restorePolicyVersion(how: RestoreHow, document: StoredDocument): Promise<void> {
  const doc = policyVersionOf(document);
  const { _id: id, policy_id: policyId, version } = doc;
  if (how.changesPolicies === false)
    throw new CdrError(
      'unprocessable',
      'a policy of access is restored with the permission admin only, and with --local where it takes two persons (FOUR_EYES)',
    );
  const json = doc.policy === null ? '' : (await readablePolicy(policyId, doc.policy)).json;
  await inRestore(how.batch, async (session) => {
    await holdPolicies(session);
    const count = await policyVersionCount(policyId);
    if (count + 1 !== version)
      throw new CdrError(
        'conflict',
        `policy ${policyId} has ${count} versions here, and ${id} stands behind another one`,
      );
    await insertPolicyVersion(doc, json);
    const restored = { reason: 'restore', batch: how.batch } as const;
    await noteStates(session, { collection: 'policy_versions', ids: [id], ...restored });
    await noteStates(session, { collection: 'policies', ids: [policyId], ...restored });
  });
}

/** @throws invalid */
function policyVersionOf(document: StoredDocument): PolicyVersionDoc {
  const { _id: id, policy_id: policyId, version, policy, time, by, sub, iss, confirmed_by } = document;
  const texts = [policyId, by, policy ?? '', sub ?? '', iss ?? '', confirmed_by ?? ''];
  const isWhole =
    texts.every((one) => typeof one === 'string') &&
    id === `${String(policyId)}::${String(version)}` &&
    Number.isSafeInteger(version) &&
    time instanceof Date &&
    policy !== undefined &&
    Object.keys(document).every((name) => MEMBERS.has(name));
  if (!isWhole) throw malformed(`document ${id} is no version of a policy of access`);
  return document as unknown as PolicyVersionDoc;
}
