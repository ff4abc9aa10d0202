import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../console/src/api/types.js';
import { bannerQuery, elementsAt } from '../../../console/src/record/banner-path.js';
import { loadConfig } from '../../../src/settings/config.js';

const NAME = 'openEHR-EHR-CLUSTER.person_name.v1/items[at0001]';
const element = (nodeId: string, text?: string): JsonObject => ({
  archetype_node_id: nodeId,
  ...(text !== undefined && { value: { value: text } }),
});

describe('PATIENT_BANNER_PATHS', () => {
  it('finds ELEMENTs with a value at any depth, from the innermost archetype on', () => {
    const cluster = (items: JsonObject[]): JsonObject => ({
      archetype_node_id: 'openEHR-EHR-CLUSTER.person_name.v1',
      items,
    });
    const status: JsonObject = {
      other_details: {
        items: [
          cluster([element('at0001', 'Ada'), element('at0002', 'no')]),
          { items: [cluster([element('at0001', 'Lovelace'), element('at0001')])] },
          { archetype_node_id: 'openEHR-EHR-CLUSTER.other.v1', items: [element('at0001', 'no')] },
        ],
      },
    };
    expect(elementsAt(status, NAME)).toEqual([element('at0001', 'Ada'), element('at0001', 'Lovelace')]);
    const [list] = [
      elementsAt(
        {
          archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
          other_details: { items: [element('at0003', 'f')] },
        },
        'openEHR-EHR-EHR_STATUS.generic.v1/other_details/items[at0003]',
      ),
    ];
    expect(list).toEqual([element('at0003', 'f')]);
    expect(elementsAt(undefined, NAME)).toEqual([]);
  });

  it('asks documents for the newest', () => {
    expect(bannerQuery(NAME)).toBe(
      'SELECT n/items[at0001]/name/value AS name, n/items[at0001]/value AS value ' +
        'FROM EHR e CONTAINS VERSION v CONTAINS COMPOSITION c CONTAINS CLUSTER n[openEHR-EHR-CLUSTER.person_name.v1] ' +
        'WHERE EXISTS n/items[at0001]/value ORDER BY v/commit_audit/time_committed DESC LIMIT 1',
    );
    expect(bannerQuery('x')).toBeNull();
    expect(bannerQuery('openEHR-EHR-EHR_STATUS.generic.v1/other_details/items[at0002]')).toBeNull();
  });

  it.each([
    ['name', /name is no path to an ELEMENT/],
    [`${NAME}/value`, /is no path to an ELEMENT/],
    [`${NAME} OR 1=1`, /is no path to an ELEMENT/],
    [
      Array.from({ length: 7 }, (_, index) => NAME.replace('at0001', `at000${index}`)).join(','),
      /7 paths are more than 6/,
    ],
  ])('refuses %s', (value, problem) => {
    expect(() => loadConfig({ PATIENT_BANNER_PATHS: value })).toThrow(problem);
  });

  it('takes paths', () => {
    expect(loadConfig({ PATIENT_BANNER_PATHS: ` ${NAME} ` }).patientBannerPaths).toEqual([NAME]);
    expect(loadConfig({}).patientBannerPaths).toEqual([]);
  });
});
