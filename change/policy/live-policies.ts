import { CdrError } from '../../openehr/base/errors.js';
import { BatchedRead } from '../../models/access/batched-read.js';
import { accessNumbers, policyTexts, type PolicyDoc } from '../../models/policy.js';
import { PolicySet } from '../../policy/policy-set.js';
import { translatedPolicy, type Policy } from '../../policy/policy.js';
import type { PolicyJson } from '../../policy/policy-json.js';

/** The policies that are stored now, translated. */
interface LivePolicies {
  /** Tells one set from another. */
  readonly number: string;
  readonly set: PolicySet;
  /** How many policies there are. */
  readonly count: number;
  /** false: there is neither a policy nor a mark, so that nothing is. */
  readonly isRestricting: boolean;
}

/** Of a number, being translated or done: whoever asks meanwhile waits for the same. */
let known: { readonly number: string; readonly policies: Promise<LivePolicies> } | null = null;

/** Whether policies, as far as they were read last, ask for more of an EHR than its id: then it is worth asking for it ahead. */
export function mayAskEhrs(): boolean {
  return lastSet?.asksEhr !== false;
}

let lastSet: PolicySet | null = null;

/** Who asks while others do shares the next read with them. */
const numbers = new BatchedRead<null, Numbers>(async (questions) => {
  const found = await accessNumbers();
  return questions.map(() => found);
});

type Numbers = Awaited<ReturnType<typeof accessNumbers>>;

/**
 * The policies as they are stored, translated anew only when one was changed. Not for use inside a transaction.
 * @throws unavailable when one cannot be translated any more: nobody may guess what it meant
 */
export async function livePolicies(): Promise<LivePolicies> {
  const { policies: seq, marks } = await numbers.ask(null);
  // Marks are asked for one by one: only whether there are any matters to the set.
  const mindsMarks = marks > 0;
  const number = `${seq} ${String(mindsMarks)}`;
  if (known?.number === number) return known.policies;
  const read = { number, policies: storedPolicies(number, mindsMarks) };
  known = read;
  read.policies.catch(() => {
    if (known === read) known = null;
  });
  return read.policies;
}

async function storedPolicies(number: string, mindsMarks: boolean): Promise<LivePolicies> {
  const all = (await policyTexts()).map((each) => translatedAgain(each));
  const isRestricting = all.length > 0 || mindsMarks;
  const set = new PolicySet(all, mindsMarks);
  lastSet = set;
  return { number, set, count: all.length, isRestricting };
}

/** Texts were checked when they were stored. */
function translatedAgain({ _id: id, json }: Pick<PolicyDoc, '_id' | 'json'>): Policy {
  try {
    return translatedPolicy(id, JSON.parse(json) as PolicyJson);
  } catch (cause) {
    throw new CdrError('unavailable', `the policy ${id} cannot be read by this release`, { cause });
  }
}
