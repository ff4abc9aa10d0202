import { describe, expect, it } from '@jest/globals';
import { pathIn } from '../../../console/src/pages/query/editor/picked-path.js';
import { queryOf } from '../../../console/src/record/web-node.js';

const node = (rmType: string, aqlPath: string, nodeId?: string) => ({
  id: 'node',
  rmType,
  aqlPath,
  min: 0,
  max: 1,
  ...(nodeId !== undefined && { nodeId }),
});
const root = node('COMPOSITION', '', 'openEHR-EHR-COMPOSITION.encounter.v1');
const pressure = node(
  'DV_QUANTITY',
  "/content[openEHR-EHR-OBSERVATION.pressure.v1,'Blood']/data[at0001]/events[at0002]/data[at0003]/items[at0004,'Systolic']/value",
  'at0004',
);
const inside = 'data[at0001]/events[at0002]/data[at0003]/items[at0004]/value/magnitude';

describe('the path of a node that is picked for a query', () => {
  it('begins at the innermost archetype that the query names', () => {
    const contains = 'FROM EHR e CONTAINS COMPOSITION c[openEHR-EHR-COMPOSITION.encounter.v1]';
    const both = `SELECT 1 ${contains} contains observation  obs [ openEHR-EHR-OBSERVATION.pressure.v1]`;
    expect(pathIn(both, root, pressure)).toBe(`obs/${inside}`);
    expect(pathIn(`SELECT c ${contains}`, root, pressure)).toBe(
      `c/content[openEHR-EHR-OBSERVATION.pressure.v1]/${inside}`,
    );
  });

  it('is none where the query names no archetype above it', () => {
    expect(pathIn('SELECT c FROM EHR e CONTAINS COMPOSITION c', root, pressure)).toBeNull();
  });

  it('makes a query of its own that reads numbers and texts, not objects', () => {
    expect(queryOf(root, pressure)).toContain(`, x/${inside} AS value`);
    expect(queryOf(root, pressure)).toContain('CONTAINS OBSERVATION x[openEHR-EHR-OBSERVATION.pressure.v1]');
    expect(queryOf(root, pressure)).toContain(
      'SELECT e/ehr_id/value AS ehr, c/context/start_time/value AS time',
    );
    expect(queryOf(root, pressure)).toContain(`/units AS unit\n`);
    const started = node('DV_DATE_TIME', '/context/start_time');
    expect(queryOf(root, started)).toContain(', c/context/start_time/value AS value');
    expect(queryOf(root, root)).toContain(', c/name/value AS value\n');
  });
});
