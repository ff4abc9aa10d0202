import { CdrError } from '../../openehr/base/errors.js';
import { BatchedRead } from '../../models/access/batched-read.js';
import { storedCategories } from '../../models/category.js';
import { accessNumbers, type AccessNumbers } from '../../models/access-numbers.js';
import { policyTexts, type PolicyDoc } from '../../models/policy.js';
import { PolicySet } from '../../policy/policy-set.js';
import { translatedPolicy, type Policy } from '../../policy/policy.js';
import type { PolicyJson } from '../../policy/policy-json.js';

/** The policies that are stored now, translated. */
export interface LivePolicies {
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

/** What was read last: what is worth asking for ahead follows from it, and nothing else. null: nothing yet. */
export function lastPolicies(): Pick<LivePolicies, 'isRestricting' | 'set'> | null {
  return last;
}

let last: LivePolicies | null = null;

/** Who asks while others do shares the next read with them. */
const numbers = new BatchedRead<null, AccessNumbers>(async (questions) => {
  const found = await accessNumbers();
  return questions.map(() => found);
});

/**
 * The policies as they are stored, translated anew only when one, or the map of categories, was changed. Not for use inside a transaction. `asked`: the numbers of a
 * read that began with the request.
 * @throws unavailable when one cannot be translated any more: nobody may guess what it meant
 */
export async function livePolicies(asked: Promise<AccessNumbers> = numbers.ask(null)): Promise<LivePolicies> {
  // Marks are asked for one by one: only whether there are any matters to the set.
  const { policies: seq, hasMarks: mindsMarks } = await asked;
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
  const categories = await storedCategories();
  const all = (await policyTexts()).map((each) => translatedAgain(each));
  const isRestricting = all.length > 0 || mindsMarks;
  const set = new PolicySet(all, mindsMarks, categories);
  last = { number, set, count: all.length, isRestricting };
  return last;
}

/** Texts were checked when they were stored. */
function translatedAgain({ _id: id, json }: Pick<PolicyDoc, '_id' | 'json'>): Policy {
  try {
    return translatedPolicy(id, JSON.parse(json) as PolicyJson);
  } catch (cause) {
    throw new CdrError('unavailable', `the policy ${id} cannot be read by this release`, { cause });
  }
}
