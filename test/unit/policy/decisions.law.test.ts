import { describe, expect, it } from '@jest/globals';
import { holds, tagFits, type Condition } from '../../../policy/condition.js';
import { tagOf, type AccessObject } from '../../../policy/object.js';
import { PolicySet, type Decision } from '../../../policy/policy-set.js';
import { readPolicy, type PolicyFinding } from '../../../policy/read-policy.js';
import type { Policy } from '../../../policy/policy.js';
import { tagLeaves, withEhrsNamed, withoutImpliedTags } from '../../../policy/tags.js';
import { cedar } from '../../../policy/cedar.js';
import { MARK_KINDS, MARK_POLICY_JSON, withMarksNamed, type MarkKind } from '../../../policy/marks.js';
import { FALSE } from '../../../policy/condition.js';
import { inForce, markTexts } from '../../support/policy/mark-texts.js';
import { withCategories } from '../../support/policy/with-categories.js';
import { cedarDecision } from '../../support/policy/cedar-truth.js';
import {
  randomCategories,
  randomObject,
  randomPolicy,
  randomRequest,
} from '../../support/policy/random-policies.js';
import { seeds } from '../../support/laws.js';
import { Random } from '../../support/random.js';

const TYPES = { Ehr: 'ehr', Version: 'version' } as const;

/** Requests and objects that are decided by each set of policies. */
const DECISIONS = 8;

const OPEN = 'permit (principal, action, resource);';

function outcomeOf({ isPermitted, policies }: Pick<Decision, 'isPermitted' | 'policies'>) {
  if (isPermitted) return 'permitted';
  return policies.length > 0 ? 'forbidden' : 'unmentioned';
}

/** A condition that this object fits. */
function itself({ uid }: AccessObject): Condition {
  return { kind: 'uid', among: [uid] };
}

describe('the decision of policies', () => {
  it('is that of Cedar, by the same policies, whatever is asked', async () => {
    const refused: Record<PolicyFinding['kind'], number> = {
      syntax: 0,
      schema: 0,
      translation: 0,
      advice: 0,
    };
    const met = { permitted: 0, forbidden: 0, unmentioned: 0, barredByMarks: 0 };
    const marks = markTexts();
    for (const seed of seeds({ small: 60, full: 6_250 })) {
      const random = new Random(seed);
      const texts: Record<string, string> = {};
      const policies: Policy[] = [];
      for (const [index, text] of random.list(1, 5, () => randomPolicy(random)).entries()) {
        const { policy, findings } = await readPolicy(`p${index}`, text, randomCategories(random));
        if (policy === null) refused[findings[0]!.kind] += 1;
        else {
          texts[policy.id] = text;
          policies.push(policy);
        }
      }
      const mindsMarks = random.chance(0.6);
      const all = mindsMarks ? { ...texts, ...marks } : texts;
      const isOpen = mindsMarks && policies.length === 0;
      // As it is, and as it is once somebody has changed it.
      const maps = [randomCategories(random), randomCategories(random)] as const;
      const sets = maps.map((map) => new PolicySet(policies, mindsMarks, map));
      for (let i = 0; i < DECISIONS; i++) {
        const [map, set] = [maps[i % 2]!, sets[i % 2]!];
        const [request, object] = [randomRequest(random), randomObject(random)];
        const rules = set.rulesFor(request);
        const held = inForce(isOpen ? { ...all, open: OPEN } : all, request.isEmergency === true);
        const truth = await cedarDecision(held, request, withCategories(object, map));
        const expected = { ...truth, policies: truth.policies.filter((id) => id !== 'open') };
        const condition = rules.permitted[TYPES[object.type]];
        const kinds = object.attributes['marks'] as readonly MarkKind[];
        const markedAs = (kind: MarkKind): Condition => (kinds.includes(kind) ? itself(object) : FALSE);
        const named = withMarksNamed(
          withEhrsNamed(withoutImpliedTags(condition), (leaf) =>
            tagFits(leaf, tagOf(object, leaf.key)) ? [String(object.attributes['ehr_id']), 'another'] : [],
          ),
          markedAs,
        );
        const { isBarredByMarks, marks: by, ...decision } = rules.decide(object);
        const said = {
          isPermitted: decision.isPermitted,
          policies: [...decision.policies, ...by].sort(),
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
        if (isBarredByMarks) met.barredByMarks += 1;
        met[outcomeOf(expected)] += 1;
      }
    }
    // Few are refused, and every outcome is met: else the law would say nothing.
    expect(refused.syntax + refused.translation).toBe(0);
    expect(Math.min(...Object.values(met))).toBeGreaterThan(20);
  });
});

it('marks are the policies that the documentation has', async () => {
  const { policyToJson } = await cedar();
  const texts = markTexts();
  for (const kind of MARK_KINDS) {
    const read = policyToJson(texts[kind]);
    expect(read.type === 'success' ? read.json : read).toEqual(MARK_POLICY_JSON[kind]);
    const { findings } = await readPolicy(kind, texts[kind]);
    expect(findings).toEqual([]);
  }
});

it.each([
  ['permit', 'may pass', 'only'],
  ['forbid', 'only', 'may pass'],
  ['forbid', 'maypass', 'may pass'],
])('a %s with @emergency("%s") is refused, and told what it may say', async (effect, said, right) => {
  const text = `@id("x")\n@emergency("${said}") ${effect} (principal, action, resource);`;
  const { policy, findings } = await readPolicy('p', text);
  expect(policy).toBeNull();
  expect(findings).toEqual([
    {
      kind: 'schema',
      message: `of a ${effect} the annotation is @emergency("${right}")`,
      line: 2,
      column: 1,
    },
  ]);
});
