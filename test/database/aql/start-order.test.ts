import { beforeAll, expect, it } from '@jest/globals';
import { prepareCase } from '../../support/aql/cases/prepare.js';
import { pipelineRows } from '../../support/aql/pipeline.js';
import { useDatabase } from '../../support/database.js';
import { HILLTOP, SYSTEM_ID } from '../../support/hilltop/hilltop.js';
import { loadReferenceData } from '../../support/aql/load-reference.js';

useDatabase();

/** HILLTOP, in which every third COMPOSITION has lost its start time. */
const WITH_GAPS = {
  ...HILLTOP,
  versions: HILLTOP.versions.map((version, index) => {
    if (version.data === null || version.type !== 'COMPOSITION' || index % 3 !== 0) return version;
    const { context, ...data } = version.data;
    return { ...version, data: context === undefined ? version.data : data };
  }),
};

beforeAll(() => loadReferenceData(WITH_GAPS));

it.each(['', 'DESC'])(
  'ORDER BY start time %s: the index gives the order that a sort gives',
  async (direction) => {
    const aql = `SELECT c/context/start_time/value FROM COMPOSITION c ORDER BY c/context/start_time ${direction} LIMIT 50`;
    const { scope, page } = prepareCase({ group: 0, title: '', aql, expect: { count: 0 } }, SYSTEM_ID);
    const rows = await pipelineRows(scope, page, { systemId: SYSTEM_ID });
    expect(rows).toEqual(await pipelineRows(scope, page, { systemId: SYSTEM_ID, isCurrent: false }));
    const [first, last] = [rows[0]?.[0], rows[rows.length - 1]?.[0]];
    expect(direction === '' ? last : first).toBeNull();
    expect(direction === '' ? first : last).toEqual(expect.any(String));
  },
);
