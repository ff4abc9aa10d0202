import { trusted } from 'mongoose';
import { collection, date, nullable, number, optional, text, type DocumentOf } from './access/collection.js';
import { documents } from './access/documents.js';
import { COLLECTIONS } from './access/layout.js';

/** When a version of what policies are, or ask for, was made, and by whom. */
export const MADE = {
  time: date,
  by: text,
  sub: optional(text),
  iss: optional(text),
  /** Name of the second person, where it took two. */
  confirmed_by: optional(text),
};

const POLICY_VERSION = {
  /** `<id of the policy>::<number of the version>`. */
  _id: text,
  policy_id: text,
  version: number,
  /** Text in Cedar; null: the policy was removed. */
  policy: nullable(text),
  ...MADE,
};

/** One version of a policy of access. Fields: docs/spec/storage.md#other-collections. */
export type PolicyVersionDoc = DocumentOf<typeof POLICY_VERSION>;

const PolicyVersion = collection(COLLECTIONS.policyVersions, POLICY_VERSION);

const POLICY = {
  /** Id of the policy. */
  _id: text,
  version: number,
  policy: text,
  /** The same as Cedar's JSON, which is read a hundred times faster. */
  json: text,
  time: date,
  by: text,
};

/** The newest version of a policy that is there. Fields: docs/spec/storage.md#other-collections. */
export type PolicyDoc = DocumentOf<typeof POLICY>;

const Policy = collection(COLLECTIONS.policies, POLICY);

/** All policies, by id. */
export function policies(): Promise<PolicyDoc[]> {
  return Policy.find().sort({ _id: 1 }).exec();
}

/** Whether there is any. */
export async function isPolicyStored(): Promise<boolean> {
  return (await Policy.findOne({}, { _id: 1 }).exec()) !== null;
}

/** All policies, by id, as they are translated: without hydration, for there may be thousands. Not for use inside a transaction. */
export function policyTexts(): Promise<Pick<PolicyDoc, '_id' | 'json'>[]> {
  return documents<PolicyDoc>(COLLECTIONS.policies)
    .find<Pick<PolicyDoc, '_id' | 'json'>>({}, { projection: { json: 1 } })
    .sort({ _id: 1 })
    .toArray();
}

/** null when there is none. Joins the caller's transaction. */
export function policyById(id: string): Promise<PolicyDoc | null> {
  return Policy.findOne({ _id: id }).exec();
}

/** All versions that a policy ever had, the oldest first. */
export function policyVersions(id: string): Promise<PolicyVersionDoc[]> {
  return PolicyVersion.find({ policy_id: id }).sort({ version: 1 }).exec();
}

/** How many versions a policy ever had. Joins the caller's transaction. */
export function policyVersionCount(id: string): Promise<number> {
  return PolicyVersion.countDocuments({ policy_id: id }).exec();
}

/** How many policies there are beside one. Joins the caller's transaction. */
export function otherPolicyCount(id: string): Promise<number> {
  return Policy.countDocuments({ _id: trusted({ $ne: id }) }).exec();
}

/** Stores a version, as the newest one; `json`: of its text. Joins the caller's transaction. */
export async function insertPolicyVersion(doc: PolicyVersionDoc, json: string): Promise<void> {
  const { policy_id: _id, version, policy, time, by } = doc;
  await PolicyVersion.create([doc]);
  if (policy === null) await Policy.deleteOne({ _id }).exec();
  else await Policy.replaceOne({ _id }, { version, policy, json, time, by }, { upsert: true }).exec();
}
