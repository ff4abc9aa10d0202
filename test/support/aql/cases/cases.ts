import type { AqlCase } from './aql-case.js';
import { combinationCases } from './combination-cases.js';
import { containsCases } from './contains-cases.js';
import { ehrCases } from './ehr-cases.js';
import { featureCases } from './feature-cases.js';
import { languageAndVisibilityCases } from './language-cases.js';
import { pathCases } from './path-cases.js';
import { resultCases } from './result-cases.js';
import { valueCases } from './value-cases.js';

/** Where the groups are that are about HTTP answers and writes, or about random data. */
export const GROUPS_ELSEWHERE = {
  78: 'test/http/query/query.test.ts',
  83: 'test/http/query/query.test.ts',
  84: 'test/http/query/query-after-writes.test.ts',
  86: 'test/database/aql/differential.law.test.ts',
} as const;

/** The test groups of AQL and the rows of its feature table as data. */
export const aqlCases: readonly AqlCase[] = [
  ...ehrCases,
  ...containsCases,
  ...pathCases,
  ...valueCases,
  ...resultCases,
  ...languageAndVisibilityCases,
  ...combinationCases,
  ...featureCases,
];
