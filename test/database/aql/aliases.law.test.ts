import { describe, expect, it } from '@jest/globals';
import { useDatabase } from '../../support/database.js';
import { draws, seeds } from '../../support/laws.js';
import { differentialRun } from '../../support/aql/differential/run.js';
import { randomAliases } from '../../support/aql/differential/random-aliases.js';

useDatabase();

const SIZES = { small: 60, full: 5_000 };
const PAIRS = draws(SIZES);
const [SEED] = seeds(SIZES) as [number];

describe('queries over what templates have moved', () => {
  it(
    `are answered by pipelines as by the reference evaluator (seed ${SEED})`,
    async () => {
      const report = await differentialRun(PAIRS, SEED, { aliasesFor: randomAliases });
      expect(report.faults.join('\n')).toBe('');
      expect(report.compared).toBe(PAIRS);
      expect(report.tooLarge).toBeLessThanOrEqual(PAIRS * 0.01);
      // What sees no alias is answered as ever.
      expect(report.seen).toBeGreaterThan(PAIRS * 0.15);
    },
    60_000 + PAIRS * 200,
  );
});
