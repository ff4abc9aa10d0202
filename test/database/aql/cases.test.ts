import { beforeAll, describe } from '@jest/globals';
import { aqlCases } from '../../support/aql/cases/cases.js';
import { prepareCase } from '../../support/aql/cases/prepare.js';
import { rowCases } from '../../support/aql/cases/row-cases.js';
import { ROW_DATA } from '../../support/aql/cases/row-data.js';
import { describeCases, type CaseRunner } from '../../support/aql/cases/run-cases.js';
import { pipelineRows } from '../../support/aql/pipeline.js';
import { useDatabase } from '../../support/database.js';
import { HILLTOP, SYSTEM_ID } from '../../support/hilltop/hilltop.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';

useDatabase();

/** Without the EHRs of rows: `test/http/query/every-case.long.test.ts` asks for them, since it records queries. */
const inPipeline: CaseRunner = async (aqlCase) => {
  const { scope, page } = prepareCase(aqlCase, SYSTEM_ID);
  const { asOf, subsumption = false } = aqlCase.options ?? {};
  const rows = await pipelineRows(scope, page, {
    systemId: SYSTEM_ID,
    subsumption,
    asOf: asOf === undefined ? null : new Date(asOf),
    notesEhrs: false,
  });
  return { columns: scope.columns, rows };
};

describe('where all is there', () => {
  beforeAll(() => loadReferenceData(HILLTOP));
  describeCases(aqlCases, inPipeline);
});

describe('where something is missing', () => {
  beforeAll(() => loadReferenceData(ROW_DATA));
  describeCases(rowCases, inPipeline);
});
