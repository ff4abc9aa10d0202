import { evaluateQuery } from '../../../aql/evaluate/evaluate.js';
import type { ReferenceData } from '../../../aql/evaluate/data.js';
import { aqlCases } from '../../support/aql/cases/cases.js';
import { rowCases } from '../../support/aql/cases/row-cases.js';
import { ROW_DATA } from '../../support/aql/cases/row-data.js';
import { CASE_NOW, prepareCase } from '../../support/aql/cases/prepare.js';
import { describeCases, type CaseRunner } from '../../support/aql/cases/run-cases.js';
import { HILLTOP, SYSTEM_ID } from '../../support/hilltop/hilltop.js';

const inEvaluator =
  (data: ReferenceData): CaseRunner =>
  (aqlCase) => {
    const { scope, page } = prepareCase(aqlCase, SYSTEM_ID);
    const { ehrId, asOf, subsumption } = aqlCase.options ?? {};
    return evaluateQuery(scope, data, {
      systemId: SYSTEM_ID,
      now: CASE_NOW,
      zoneOffsetMinutes: 120,
      page,
      ehrId: ehrId ?? null,
      asOf: asOf === undefined ? null : new Date(asOf),
      subsumption: subsumption ?? false,
    });
  };

describeCases(aqlCases, inEvaluator(HILLTOP));
describeCases(rowCases, inEvaluator(ROW_DATA));
