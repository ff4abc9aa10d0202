import type { AqlCase } from './aql-case.js';
import { combinationCases } from './combination-cases.js';
import { containsCases } from './contains-cases.js';
import { ehrCases } from './ehr-cases.js';
import { languageAndVisibilityCases } from './language-cases.js';
import { pathCases } from './path-cases.js';
import { resultCases } from './result-cases.js';
import { valueCases } from './value-cases.js';

/**
 * The test groups of AQL as data. Not here, since they are about HTTP answers, stored queries and writes:
 * 78 (meta), 83 (stored queries), 84 (after writes); 86 is the differential test.
 */
export const aqlCases: readonly AqlCase[] = [
  ...ehrCases,
  ...containsCases,
  ...pathCases,
  ...valueCases,
  ...resultCases,
  ...languageAndVisibilityCases,
  ...combinationCases,
];
