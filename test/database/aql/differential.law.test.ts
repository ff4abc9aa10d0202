import { describe, expect, it } from '@jest/globals';
import { useDatabase } from '../../support/database.js';
import { draws, seeds } from '../../support/laws.js';
import { differentialRun } from '../../support/aql/differential/run.js';

useDatabase();

const SIZES = { small: 100, full: 5_000 };
const PAIRS = draws(SIZES);
const [SEED] = seeds(SIZES) as [number];

describe('AQL test group 86: random data', () => {
  it(
    `answers ${PAIRS} random queries as the reference evaluator does (seed ${SEED})`,
    async () => {
      const report = await differentialRun(PAIRS, SEED);
      expect(report.faults.join('\n')).toBe('');
      expect(report.compared).toBe(PAIRS);
      expect(report.tooLarge).toBeLessThanOrEqual(PAIRS * 0.01);
      expect(report.withRows).toBeGreaterThan(PAIRS * 0.3);
    },
    60_000 + PAIRS * 200,
  );
});
