import { expect, it } from '@jest/globals';
import type { ReferenceData } from '../../../aql/evaluate/data.js';
import type { AqlCase } from '../../support/aql/cases/aql-case.js';
import { aqlCases } from '../../support/aql/cases/cases.js';
import { CASE_NOW, prepareCase } from '../../support/aql/cases/prepare.js';
import { rowCases } from '../../support/aql/cases/row-cases.js';
import { ROW_DATA } from '../../support/aql/cases/row-data.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';
import { useDatabase } from '../../support/database.js';
import { HILLTOP, SYSTEM_ID } from '../../support/hilltop/hilltop.js';
import { seeds } from '../../support/laws.js';
import {
  besidePermitted,
  comparedUnder,
  namedPermitted,
  withDrawnFacts,
} from '../../support/policy/permitted-draws.js';
import { Random } from '../../support/random.js';

useDatabase();

const SIZES = { small: 1, full: 200 };

/** Those that are answered; each with the data that it is about. */
const CASES: readonly (readonly [string, readonly AqlCase[], ReferenceData])[] = [
  ['where all is there', aqlCases, HILLTOP],
  ['where something is missing', rowCases, ROW_DATA],
];
const ANSWERED = (each: AqlCase): boolean => !('error' in each.expect);

it.each(CASES)(
  'every query of the groups %s is answered under policies as over what is permitted alone',
  async (name, all, reference) => {
    const cases = all.filter(ANSWERED);
    const faults: string[] = [];
    let others = 0;
    for (const seed of seeds(SIZES)) {
      const random = new Random(seed);
      const data = withDrawnFacts(random, reference);
      await loadReferenceData(data);
      for (const aqlCase of cases) {
        const { ehrId = null, asOf, subsumption = false } = aqlCase.options ?? {};
        const drawn = random.chance(0.7) ? namedPermitted : besidePermitted;
        const { fault, isOther } = await comparedUnder(
          drawn(random, data, SYSTEM_ID),
          data,
          prepareCase(aqlCase, SYSTEM_ID),
          {
            ...{ systemId: SYSTEM_ID, ehrId, subsumption, now: CASE_NOW },
            asOf: asOf === undefined ? null : new Date(asOf),
            hasCommitters: random.chance(0.5),
          },
        );
        if (fault !== null) faults.push(`seed ${seed}, ${aqlCase.title}\n  ${aqlCase.aql}\n  ${fault}`);
        if (isOther) others += 1;
      }
    }
    expect({ name, faults: faults.join('\n\n') }).toEqual({ name, faults: '' });
    expect(others).toBeGreaterThan(cases.length * 0.2);
  },
  3_600_000,
);
