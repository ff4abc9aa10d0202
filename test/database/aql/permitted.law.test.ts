import { expect, it } from '@jest/globals';
import type { ReferenceData } from '../../../aql/evaluate/data.js';
import { SmartGrants } from '../../../policy/smart-grants.js';
import { prepareCase } from '../../support/aql/cases/prepare.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';
import { randomCasesOverOneData, type RandomCase } from '../../support/aql/random.js';
import { RANDOM_SYSTEM_ID } from '../../support/aql/random-data.js';
import { useDatabase } from '../../support/database.js';
import { draws, seeds } from '../../support/laws.js';
import {
  besidePermitted,
  comparedUnder,
  namedPermitted,
  templatesOf,
  withDrawnFacts,
  type Compared,
  type Drawn,
} from '../../support/policy/permitted-draws.js';
import { randomScope } from '../../support/policy/smart-reading.js';
import { Random } from '../../support/random.js';

useDatabase();

const SIZES = { small: 50, full: 50_000 };
const PAIRS = draws(SIZES);
const [SEED] = seeds(SIZES) as [number];
const PER_DATA = 25;

async function compared(random: RandomCase, data: ReferenceData, drawn: Drawn): Promise<Compared> {
  const { ehrId, asOf, subsumption } = random;
  const options = ehrId === null ? {} : { ehrId };
  const aqlCase = { group: 86, title: '', aql: random.aql, options, expect: { count: 0 } };
  const { fault, isOther } = await comparedUnder(drawn, data, prepareCase(aqlCase, RANDOM_SYSTEM_ID), {
    ...{ systemId: RANDOM_SYSTEM_ID, ehrId, asOf, subsumption, now: new Date(0) },
    hasCommitters: random.seed % 2 === 0,
  });
  return { fault: fault === null ? null : `seed ${random.seed}\n  ${random.aql}\n  ${fault}`, isOther };
}

/** What scopes permit that name the templates which there are, or some of them; mostly of one patient. */
function scopedPermitted(random: Random, data: ReferenceData): Drawn {
  const templates = [...templatesOf(data), 'of_nothing_here'];
  const words = random.list(1, 3, () => {
    const scope = randomScope(random, templates).replace(/^(?:user|system)\//, (other) =>
      random.chance(0.7) ? 'patient/' : other,
    );
    return random.chance(0.7) ? scope.replace(/\.[a-z]*$/, '.s') : scope;
  });
  const subject = { sub: 'ada', roles: [], scopes: words, ehr: random.pick(data.ehrs).ehrId };
  const grants = SmartGrants.of(words) ?? SmartGrants.nothing;
  return { permitted: grants.permitted({ subject, action: 'query' }, { kind: 'ad hoc' }) };
}

it.each([
  ['policies', namedPermitted, 0.2],
  ['tags and marks that too many have', besidePermitted, 0.2],
  ['scopes', scopedPermitted, 0.2],
] as const)(
  'a query under %s is answered as over what is permitted alone',
  async (_, permittedOf, othersAtLeast) => {
    const faults: string[] = [];
    let others = 0;
    for (let round = 0; round * PER_DATA < PAIRS; round++) {
      const cases = randomCasesOverOneData(SEED + round, 3, Math.min(PER_DATA, PAIRS - round * PER_DATA));
      const data = withDrawnFacts(new Random(SEED + round), cases[0]!.data);
      await loadReferenceData(data);
      for (const random of cases) {
        const permitted = permittedOf(new Random(random.seed ^ 0xacce55), data, RANDOM_SYSTEM_ID);
        const { fault, isOther } = await compared(random, data, permitted);
        if (fault !== null) faults.push(fault);
        if (isOther) others += 1;
      }
    }
    expect(faults.join('\n\n')).toBe('');
    expect(others).toBeGreaterThan(PAIRS * othersAtLeast);
  },
  60_000 + PAIRS * 400,
);
