import { expect, it } from '@jest/globals';
import { categoryMap, type CategoryMap } from '../../../policy/categories.js';
import { PolicySet } from '../../../policy/policy-set.js';
import { readPolicy } from '../../../policy/read-policy.js';
import { seeds } from '../../support/laws.js';
import {
  randomCategories,
  randomObject,
  randomPolicy,
  randomRequest,
} from '../../support/policy/random-policies.js';
import { Random } from '../../support/random.js';

const PERMIT = 'permit (principal, action, resource);';

/** The text of a policy that asks for categories, if one is drawn soon. */
function randomAsking(random: Random): string {
  const drawn = Array.from({ length: 40 }, () => randomPolicy(random));
  return drawn.find((text) => text.includes('categories')) ?? drawn[0] ?? PERMIT;
}

/** A map without some of the categories of another one. */
function without(random: Random, map: CategoryMap): CategoryMap {
  return categoryMap([...map.values()].filter(() => random.chance(0.5)));
}

it('a policy that asks for a category which is not in the map permits no more, and forbids no less, than with it', async () => {
  const met = { others: 0, same: 0 };
  const { policy: open } = await readPolicy('open', PERMIT);
  for (const seed of seeds({ small: 150, full: 10_000 })) {
    const random = new Random(seed);
    const [text, whole] = [randomAsking(random), randomCategories(random)];
    const part = without(random, whole);
    const { policy } = await readPolicy('drawn', text);
    if (policy === null || open === null) continue;
    const policies = policy.effect === 'forbid' ? [policy, open] : [policy];
    const [before, after] = [whole, part].map((map) => new PolicySet(policies, false, map));
    for (let i = 0; i < 8; i += 1) {
      const [request, object] = [randomRequest(random), randomObject(random)];
      const was = before?.rulesFor(request).decide(object).isPermitted;
      const is = after?.rulesFor(request).decide(object).isPermitted;
      const told = { seed, text, request, object };
      // Of what is asked by its absence (`isEmpty`) the map decides, and not the name.
      if (!text.includes('isEmpty') && is === true) expect({ ...told, was }).toEqual({ ...told, was: true });
      met[was === is ? 'same' : 'others'] += 1;
    }
  }
  expect(Math.min(...Object.values(met))).toBeGreaterThan(0);
});
