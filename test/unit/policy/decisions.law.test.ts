import { describe, expect, it } from '@jest/globals';
import { holds, tagFits } from '../../../policy/condition.js';
import { tagOf } from '../../../policy/object.js';
import { PolicySet } from '../../../policy/policy-set.js';
import { readPolicy, type PolicyFinding } from '../../../policy/read-policy.js';
import type { Policy } from '../../../policy/policy.js';
import { tagLeaves, withEhrsNamed, withoutImpliedTags } from '../../../policy/tags.js';
import { cedarDecision } from '../../support/policy/cedar-truth.js';
import { randomObject, randomPolicy, randomRequest } from '../../support/policy/random-policies.js';
import { seeds } from '../../support/laws.js';
import { Random } from '../../support/random.js';

const TYPES = { Ehr: 'ehr', Version: 'version' } as const;

/** Requests and objects that are decided by each set of policies. */
const DECISIONS = 8;

describe('the decision of policies', () => {
  it('is that of Cedar, by the same policies, whatever is asked', async () => {
    const refused: Record<PolicyFinding['kind'], number> = {
      syntax: 0,
      schema: 0,
      translation: 0,
      advice: 0,
    };
    const met = { permitted: 0, forbidden: 0, unmentioned: 0 };
    for (const seed of seeds({ small: 60, full: 6_250 })) {
      const random = new Random(seed);
      const texts: Record<string, string> = {};
      const policies: Policy[] = [];
      for (const [index, text] of random.list(1, 5, () => randomPolicy(random)).entries()) {
        const { policy, findings } = await readPolicy(`p${index}`, text);
        const [first] = findings;
        if (policy === null && first !== undefined) refused[first.kind] += 1;
        if (policy === null) continue;
        texts[policy.id] = text;
        policies.push(policy);
      }
      const set = new PolicySet(policies);
      for (let i = 0; i < DECISIONS; i++) {
        const [request, object] = [randomRequest(random), randomObject(random)];
        const rules = set.rulesFor(request);
        const expected = await cedarDecision(texts, request, object);
        const condition = rules.permitted[TYPES[object.type]];
        const named = withEhrsNamed(withoutImpliedTags(condition), (leaf) =>
          tagFits(leaf, tagOf(object, leaf.key)) ? [String(object.attributes['ehr_id']), 'another'] : [],
        );
        const said = {
          ...rules.decide(object),
          condition: holds(condition, object),
          named: holds(named, object),
          asksTags: tagLeaves(named).length > 0,
        };
        const told = { seed, texts, request, object };
        expect({ ...told, said }).toEqual({
          ...told,
          said: {
            ...expected,
            condition: expected.isPermitted,
            named: expected.isPermitted,
            asksTags: false,
          },
        });
        met[
          expected.isPermitted ? 'permitted' : expected.policies.length > 0 ? 'forbidden' : 'unmentioned'
        ] += 1;
      }
    }
    // Few are refused, and every outcome is met: else the law would say nothing.
    expect(refused.syntax + refused.translation).toBe(0);
    expect(Math.min(...Object.values(met))).toBeGreaterThan(20);
  });
});
