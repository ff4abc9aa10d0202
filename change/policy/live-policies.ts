import { CdrError } from '../../openehr/base/errors.js';
import { BatchedRead } from '../../models/access/batched-read.js';
import { policies, policySetNumber, type PolicyDoc } from '../../models/policy.js';
import { PolicySet } from '../../policy/policy-set.js';
import { translatedPolicy, type Policy } from '../../policy/policy.js';
import type { PolicyJson } from '../../policy/policy-json.js';

/** The policies that are stored now, translated. */
interface LivePolicies {
  /** Of the last change. */
  readonly number: number;
  readonly set: PolicySet;
  /** How many there are; none: nothing is restricted. */
  readonly count: number;
}

/** Of a number, being translated or done: whoever asks meanwhile waits for the same. */
let known: { readonly number: number; readonly policies: Promise<LivePolicies> } | null = null;

/** Who asks while others do shares the next read with them. */
const numbers = new BatchedRead<null, number>(async (questions) => {
  const number = await policySetNumber();
  return questions.map(() => number);
});

/**
 * The policies as they are stored, translated anew only when one was changed. Not for use inside a transaction.
 * @throws unavailable when one cannot be translated any more: nobody may guess what it meant
 */
export async function livePolicies(): Promise<LivePolicies> {
  const number = await numbers.ask(null);
  if (known?.number === number) return known.policies;
  const read = { number, policies: storedPolicies(number) };
  known = read;
  read.policies.catch(() => {
    if (known === read) known = null;
  });
  return read.policies;
}

async function storedPolicies(number: number): Promise<LivePolicies> {
  const all = (await policies()).map((each) => translatedAgain(each));
  return { number, set: new PolicySet(all), count: all.length };
}

/** Texts were checked when they were stored. */
function translatedAgain({ _id: id, json }: PolicyDoc): Policy {
  try {
    return translatedPolicy(id, JSON.parse(json) as PolicyJson);
  } catch (cause) {
    throw new CdrError('unavailable', `the policy ${id} cannot be read by this release`, { cause });
  }
}
