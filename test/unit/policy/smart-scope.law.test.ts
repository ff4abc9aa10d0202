import { expect, it } from '@jest/globals';
import { holds } from '../../../policy/condition.js';
import type { AccessObject, AttributeValue } from '../../../policy/object.js';
import type { Request } from '../../../policy/known.js';
import { PolicySet, type RuleSource } from '../../../policy/policy-set.js';
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
const SIZES = { small: 75, full: 12_500 };

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

interface Drawn {
  readonly words: readonly string[];
  readonly grants: SmartGrants;
  readonly policies: PolicySet | null;
  readonly subject: Subject;
}

async function drawn(random: Random): Promise<Drawn | null> {
  const words = random.list(1, 4, () => randomScope(random, random.chance(0.7) ? TEMPLATES : QUERIES));
  const grants = SmartGrants.of(words);
  const text = random.chance(0.3) ? 'permit (principal, action, resource);' : randomPolicy(random);
  const { policy } = await readPolicy('p', text);
  const own = random.chance(0.8) ? random.pick(EHRS) : undefined;
  const subject = { sub: 'ada', roles: [], scopes: words, ...(own !== undefined && { ehr: own }) };
  const policies = policy === null ? null : new PolicySet([policy]);
  return grants === null ? null : { words, grants, policies, subject };
}

/** Whether rules permit an object, decided and as a condition. */
function said(source: RuleSource, request: Request, object: AccessObject): readonly boolean[] {
  const rules = source.rulesFor(request);
  const condition = rules.permitted[object.type === 'Ehr' ? 'ehr' : 'version'];
  return [rules.decide(object).isPermitted, holds(condition, object)];
}

it('what scopes grant is what a plain reading of them grants, alone and beside policies', async () => {
  const met = { granted: 0, refused: 0, refusedByPolicy: 0 };
  for (const seed of seeds(SIZES)) {
    const random = new Random(seed);
    const draw = await drawn(random);
    if (draw === null) continue;
    const { words, grants, policies, subject } = draw;
    for (let count = 0; count < 8; count += 1) {
      const [action, query, object] = [random.pick(ACTIONS), randomQuery(random), randomObject(random)];
      const request = { subject, action };
      const expected = isGranted(words, { own: subject.ehr, action, query }, object);
      const told = { seed, words, own: subject.ehr, action, query, object };
      const alone = said(new ScopedRules(grants, query, null, { mindsMarks: true }), request, object);
      expect({ ...told, alone }).toEqual({ ...told, alone: [expected, expected] });
      met[expected ? 'granted' : 'refused'] += 1;
      if (policies === null) continue;
      const byPolicy = policies.rulesFor(request).decide(object).isPermitted;
      const beside = said(new ScopedRules(grants, query, policies, { mindsMarks: true }), request, object);
      const both = expected && byPolicy;
      expect({ ...told, byPolicy, beside }).toEqual({ ...told, byPolicy, beside: [both, both] });
      if (expected && !byPolicy) met.refusedByPolicy += 1;
    }
  }
  expect(Math.min(met.granted, met.refused, met.refusedByPolicy)).toBeGreaterThan(draws(SIZES) * 0.1);
});
