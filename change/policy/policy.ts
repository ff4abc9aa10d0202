import { CdrError } from '../../openehr/base/errors.js';
import type { Violation } from '../../openehr/base/violation.js';
import { holdPolicies } from '../../models/access-numbers.js';
import {
  insertPolicyVersion,
  otherPolicyCount,
  policies,
  policyById,
  policyVersionCount,
  type PolicyDoc,
  type PolicyVersionDoc,
} from '../../models/policy.js';
import type { Session } from '../../models/access/write.js';
import { noteStates } from '../../models/cross-collection/state-note.js';
import { mayChangePolicies } from '../../policy/lock-out.js';
import { readPolicy, type PolicyFinding } from '../../policy/read-policy.js';
import type { Subject } from '../../policy/subject.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';

/** What is to become of a policy, and who says so. */
export interface PolicyChange {
  readonly id: string;
  readonly by: Pick<PolicyVersionDoc, 'by' | 'sub' | 'iss'>;
  /** Users who have the permission `admin`, as far as they are known: the one who asks, first of all. */
  readonly administrators: readonly Subject[];
}

/**
 * Stores a text as the newest version of a policy.
 * @throws invalid for a text that cannot be read; unprocessable for one that does not fit the schema, has no translation, or
 * is one too many; conflict where no administrator could change policies any more
 */
export async function storePolicy(
  text: string,
  maxPolicies: number,
  change: PolicyChange,
): Promise<PolicyDoc> {
  const { isForbid, json } = await readablePolicy(change.id, text);
  const forbids = isForbid ? { [change.id]: text } : {};
  return inAuditedTransaction(
    async (session) => {
      await holdPolicies(session);
      if ((await otherPolicyCount(change.id)) >= maxPolicies)
        throw new CdrError('unprocessable', `there are at most ${maxPolicies} policies (POLICIES_MAX)`);
      await requireAdministrators(change, forbids);
      return putVersion(session, change, { policy: text, json });
    },
    ({ _id, version }) => ({ target: _id, options: { version } }),
  );
}

/** The text of a policy as it is stored beside it. @throws as `storePolicy` for a text that cannot hold */
export async function readablePolicy(
  id: string,
  text: string,
): Promise<{ readonly isForbid: boolean; readonly json: string }> {
  const read = await readPolicy(id, text);
  if (read.policy === null) throw unreadable(read.findings);
  return { isForbid: read.policy.effect === 'forbid', json: JSON.stringify(read.json) };
}

/** Removes a policy; its versions stay. @throws not-found; conflict as `storePolicy` */
export async function removePolicy(change: PolicyChange): Promise<void> {
  await inAuditedTransaction(
    async (session) => {
      await holdPolicies(session);
      if ((await policyById(change.id)) === null) throw policyNotFound(change.id);
      return putVersion(session, change, { policy: null, json: '' });
    },
    ({ _id, version }) => ({ target: _id, options: { version } }),
  );
}

/** The refusal of an id that no policy has. */
export function policyNotFound(id: string): CdrError {
  return new CdrError('not-found', `there is no policy ${id}`);
}

async function putVersion(
  session: Session,
  { id, by }: PolicyChange,
  { policy, json }: { readonly policy: string | null; readonly json: string },
): Promise<PolicyDoc> {
  const version = (await policyVersionCount(id)) + 1;
  const doc = { _id: `${id}::${version}`, policy_id: id, version, policy, time: new Date(), ...by };
  await insertPolicyVersion(doc, json);
  await noteStates(session, { collection: 'policy_versions', ids: [doc._id], reason: 'definition' });
  await noteStates(session, { collection: 'policies', ids: [id], reason: 'definition' });
  return { _id: id, version, policy: policy ?? '', json, time: doc.time, by: by.by };
}

/** @throws conflict when no known administrator could change policies under the stored ones with these. */
async function requireAdministrators(
  { id, administrators }: PolicyChange,
  forbids: Readonly<Record<string, string>>,
): Promise<void> {
  const others = (await policies()).filter(({ _id, policy }) => _id !== id && isForbidding(policy));
  const all = { ...Object.fromEntries(others.map(({ _id, policy }) => [_id, policy])), ...forbids };
  if (await mayChangePolicies(all, administrators)) return;
  const message =
    'locks_out_administrators: under these policies neither you nor another administrator whom this server knows could change policies any more';
  const problem: Violation = { path: '/', code: 'invalid', rule: 'locks_out_administrators', message };
  throw new CdrError('conflict', message, { problems: [problem] });
}

/** Whether a text may forbid something: the word stands in its head, and harmlessly in others. */
function isForbidding(text: string): boolean {
  return /\bforbid\b/.test(text);
}

function unreadable(findings: readonly PolicyFinding[]): CdrError {
  const errors = findings.filter(({ kind }) => kind !== 'advice');
  const problems = errors.map(violationOf);
  const code = errors.some(({ kind }) => kind === 'syntax') ? 'invalid' : 'unprocessable';
  const placed = errors.map(({ message, line, column }) =>
    line === undefined ? message : `line ${line}, column ${column}: ${message}`,
  );
  return new CdrError(code, placed.join('; '), { problems });
}

function violationOf({ kind, message, line, column }: PolicyFinding): Violation {
  const place = line === undefined || column === undefined ? {} : { line, column };
  return { path: '/', code: kind === 'syntax' ? 'syntax' : 'invalid', rule: kind, message, ...place };
}
