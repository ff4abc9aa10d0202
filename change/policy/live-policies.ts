import { CdrError } from '../../openehr/base/errors.js';
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
  /** Ids of those that ask for tags: they can be tried, and not be enforced. */
  readonly askingTags: readonly string[];
}

let known: LivePolicies | null = null;

/**
 * The policies as they are stored, translated anew only when one was changed.
 * @throws unavailable when one cannot be translated any more: nobody may guess what it meant
 */
export async function livePolicies(): Promise<LivePolicies> {
  const number = await policySetNumber();
  if (known?.number === number) return known;
  const translated = (await policies()).map((each) => translatedAgain(each));
  const askingTags = translated.filter(({ asksTags }) => asksTags).map(({ id }) => id);
  known = { number, set: new PolicySet(translated), count: translated.length, askingTags };
  return known;
}

/** Texts were checked when they were stored. */
function translatedAgain({ _id: id, json }: PolicyDoc): Policy {
  try {
    return translatedPolicy(id, JSON.parse(json) as PolicyJson);
  } catch (cause) {
    throw new CdrError('unavailable', `the policy ${id} cannot be read by this release`, { cause });
  }
}
