import { CdrError } from '../../openehr/base/errors.js';
import type { Violation } from '../../openehr/base/violation.js';
import type { AuditSubject } from '../../models/audit.js';
import { holdPolicies } from '../../models/access-numbers.js';
import { storedCategories } from '../../models/category.js';
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
import type { ActPlan } from '../../models/waiting-request.js';
import { noteStates } from '../../models/cross-collection/state-note.js';
import { mayChangePolicies } from '../../policy/lock-out.js';
import type { PolicyJson } from '../../policy/policy-json.js';
import { categoryFindings, readPolicy, type PolicyFinding } from '../../policy/read-policy.js';
import type { Subject } from '../../policy/subject.js';
import { digestOf, writes, type Gate } from '../approval/gate.js';
import { inAuditedTransaction } from '../commit/audit-draft.js';

/** What is to become of a policy, and who says so. */
export interface PolicyChange {
  readonly id: string;
  readonly by: Pick<PolicyVersionDoc, 'by' | 'sub' | 'iss' | 'confirmed_by'>;
  /** Users who have the permission `admin`, as far as they are known: the one who asks, first of all. */
  readonly administrators: readonly Subject[];
}

/**
 * Stores a text as the newest version of a policy, and gives it as it is kept. `gate`: where that takes two persons.
 * @throws invalid for a text that cannot be read; unprocessable for one that does not fit the schema, has no translation, or
 * is one too many; conflict where no administrator could change policies any more
 */
export async function storePolicy(
  text: string,
  maxPolicies: number,
  change: PolicyChange,
  gate?: Gate,
): Promise<PolicyDoc> {
  const { isForbid, json } = await readablePolicy(change.id, text);
  const parsed = JSON.parse(json) as PolicyJson;
  const forbids = isForbid ? { [change.id]: text } : {};
  return inAuditedTransaction(
    async (session) => {
      if (writes(gate)) await holdPolicies(session);
      // As they are now, and stay until this is stored.
      const unknown = categoryFindings(text, parsed, await storedCategories());
      if (unknown.length > 0) throw unreadable(unknown);
      if ((await otherPolicyCount(change.id)) >= maxPolicies)
        throw new CdrError('unprocessable', `there are at most ${maxPolicies} policies (POLICIES_MAX)`);
      await requireAdministrators(change, forbids);
      return putVersion(session, change, { policy: text, json }, gate);
    },
    (made) => recordOf(made, gate),
  );
}

/** What the audit says of a change that was made; of one that waits there is no version yet. */
function recordOf({ _id, version }: PolicyDoc, gate: Gate | undefined): AuditSubject {
  return { target: _id, ...(writes(gate) && { options: { version } }) };
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

/** Removes a policy; its versions stay. `gate` as of `storePolicy`. @throws not-found */
export async function removePolicy(change: PolicyChange, gate?: Gate): Promise<void> {
  await inAuditedTransaction(
    async (session) => {
      if (writes(gate)) await holdPolicies(session);
      if ((await policyById(change.id)) === null) throw policyNotFound(change.id);
      return putVersion(session, change, { policy: null, json: '' }, gate);
    },
    (made) => recordOf(made, gate),
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
  gate?: Gate,
): Promise<PolicyDoc> {
  const version = (await policyVersionCount(id)) + 1;
  await gate?.pass(session, await changePlan(id, version, policy));
  const doc = { _id: `${id}::${version}`, policy_id: id, version, policy, time: new Date(), ...by };
  if (writes(gate)) {
    await insertPolicyVersion(doc, json);
    await noteStates(session, { collection: 'policy_versions', ids: [doc._id], reason: 'definition' });
    await noteStates(session, { collection: 'policies', ids: [id], reason: 'definition' });
  }
  return { _id: id, version, policy: policy ?? '', json, time: doc.time, by: by.by };
}

/** What a second person sees, and agrees on: the whole text, for one word of it may open everything. */
async function changePlan(id: string, version: number, after: string | null): Promise<ActPlan> {
  const before = (await policyById(id))?.policy;
  const isAlone = (before === undefined || after === null) && (await otherPolicyCount(id)) === 0;
  const summary =
    after === null
      ? `the policy ${id} is removed${isAlone ? '; it is the last one, and without any nothing is restricted' : ''}`
      : before === undefined
        ? `the policy ${id} is made${isAlone ? '; it is the first one, and what it does not permit is hidden' : ''}`
        : `the policy ${id} gets another text`;
  return {
    // The version tells what was there, also where it was changed and changed back; that it is alone, what becomes of all else.
    digest: digestOf([id, version, after, isAlone]),
    summary,
    ehr_ids: [],
    policy_id: id,
    version,
    ...(isAlone && { alone: true }),
    ...(before !== undefined && { before }),
    ...(after !== null && { after }),
  };
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
