import { expect, it } from '@jest/globals';
import { holds } from '../../../policy/condition.js';
import type { AccessObject, AttributeValue } from '../../../policy/object.js';
import { PolicySet } from '../../../policy/policy-set.js';
import { readPolicy } from '../../../policy/read-policy.js';
import { ScopedRules } from '../../../policy/scoped-rules.js';
import { SmartGrants, type AskedQuery } from '../../../policy/smart-grants.js';
import type { Action, Subject } from '../../../policy/subject.js';
import { draws, seeds } from '../../support/laws.js';
import { randomPolicy } from '../../support/policy/random-policies.js';
import { isGranted, randomScope } from '../../support/policy/smart-reading.js';
import { Random } from '../../support/random.js';

const TEMPLATES = [
  'vital_signs.v1',
  'Vital Signs',
  'org::vital.v1',
  'org::unit::note',
  'a*b',
  'psychiatry:x',
  'v',
];
const QUERIES = ['vitals', 'org.openehr::vitals', 'org::a.b'];
const EHRS = ['e1', 'e2', 'e3'];
const ACTIONS: readonly Action[] = ['read', 'create', 'update', 'delete', 'query', 'export'];
const SIZES = { small: 150, full: 12_500 };

function randomObject(random: Random): AccessObject {
  const ehr_id = random.pick(EHRS);
  if (random.chance(0.2)) return { type: 'Ehr', uid: ehr_id, attributes: { ehr_id }, tags: {} };
  const kind = random.pick(['COMPOSITION', 'COMPOSITION', 'COMPOSITION', 'EHR_STATUS', 'FOLDER']);
  const attributes: Record<string, AttributeValue> = { ehr_id, kind, lifecycle_state: '532' };
  if (kind === 'COMPOSITION' && random.chance(0.95)) attributes['template_id'] = random.pick(TEMPLATES);
  return { type: 'Version', uid: `${random.pick(['u', 'v'])}::s::1`, attributes, tags: {} };
}

function randomQuery(random: Random): AskedQuery | null {
  if (random.chance(0.2)) return null;
  return random.chance(0.4) ? { kind: 'ad hoc' } : { kind: 'stored', name: random.pick(QUERIES) };
}

it('what scopes grant is what a plain reading of them grants, alone and beside policies', async () => {
  const met = { granted: 0, refused: 0, refusedByPolicy: 0 };
  for (const seed of seeds(SIZES)) {
    const random = new Random(seed);
    const words = random.list(1, 4, () => randomScope(random, random.chance(0.7) ? TEMPLATES : QUERIES));
    const grants = SmartGrants.of(words);
    if (grants === null) continue;
    const { policy } = await readPolicy(
      'p',
      random.chance(0.3) ? 'permit (principal, action, resource);' : randomPolicy(random),
    );
    const policies = policy === null ? null : new PolicySet([policy]);
    const own = random.chance(0.8) ? random.pick(EHRS) : undefined;
    const subject: Subject = { sub: 'ada', roles: [], scopes: words, ...(own !== undefined && { ehr: own }) };
    for (let count = 0; count < 8; count += 1) {
      const [action, query, object] = [random.pick(ACTIONS), randomQuery(random), randomObject(random)];
      const request = { subject, action };
      const expected = isGranted(words, { own, action, query }, object);
      const alone = new ScopedRules(grants, query, null).rulesFor(request);
      const beside = policies === null ? null : new ScopedRules(grants, query, policies).rulesFor(request);
      const byPolicy = policies?.rulesFor(request).decide(object).isPermitted ?? null;
      const place = object.type === 'Ehr' ? 'ehr' : 'version';
      expect({
        ...{ seed, words, own, action, query, object, byPolicy },
        decided: alone.decide(object).isPermitted,
        asCondition: holds(alone.permitted[place], object),
        beside: beside?.decide(object).isPermitted ?? null,
        besideAsCondition: beside === null ? null : holds(beside.permitted[place], object),
      }).toEqual({
        ...{ seed, words, own, action, query, object, byPolicy },
        decided: expected,
        asCondition: expected,
        beside: byPolicy === null ? null : expected && byPolicy,
        besideAsCondition: byPolicy === null ? null : expected && byPolicy,
      });
      met[expected ? 'granted' : 'refused'] += 1;
      if (expected && byPolicy === false) met.refusedByPolicy += 1;
    }
  }
  const few = draws(SIZES) * 0.1;
  expect(Math.min(met.granted, met.refused, met.refusedByPolicy)).toBeGreaterThan(few);
});
