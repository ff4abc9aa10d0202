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

const inPipeline =
  (notesEhrs: boolean): CaseRunner =>
  async (aqlCase) => {
    const { scope, page } = prepareCase(aqlCase, SYSTEM_ID);
    const { asOf, subsumption = false } = aqlCase.options ?? {};
    const rows = await pipelineRows(scope, page, {
      systemId: SYSTEM_ID,
      subsumption,
      asOf: asOf === undefined ? null : new Date(asOf),
      notesEhrs,
    });
    return { columns: scope.columns, rows };
  };

describe.each([false, true])('with rows that tell their EHRs: %s', (notesEhrs) => {
  beforeAll(() => loadReferenceData(HILLTOP));
  describeCases(aqlCases, inPipeline(notesEhrs));
});

describe('where something is missing', () => {
  beforeAll(() => loadReferenceData(ROW_DATA));
  describeCases(rowCases, inPipeline(false));
});
