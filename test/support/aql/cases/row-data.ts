import type { ReferenceData } from '../../../../aql/evaluate/data.js';
import type { JsonObject } from '../../../../openehr/base/json.js';
import {
  cluster,
  coded,
  composition,
  dateTime,
  ehrStatus,
  element,
  entry,
  history,
  identified,
  nullElement,
  pointEvent,
  quantity,
  text,
  tree,
  value,
} from '../../hilltop/builders.js';
import { ARCHETYPES } from '../../hilltop/compositions.js';

const EHR = 'eeeeeeee-0000-4000-8000-000000000101';
const rate = (magnitude: number): JsonObject => element('at0008', 'Rate', quantity(magnitude, '/min'));

const interval = value('INTERVAL_EVENT', {
  ...pointEvent('at0006', '2021-03-01T09:00:00Z', [element('at0008', 'Rate', text('too fast to count'))]),
  _type: 'INTERVAL_EVENT',
  width: value('DV_DURATION', { value: 'PT1H' }),
  math_function: coded('maximum', 'openehr', '144'),
});

const events = [
  pointEvent('at0006', '2021-03-01T08:00:00Z', [rate(22), nullElement('at0008', 'Rate'), rate(82)]),
  interval,
  pointEvent('at0007', '2021-03-01T10:00:00Z', [element('at0004', 'Other', quantity(5, '/min'))]),
];

const problems = tree('at0001', [
  cluster('at0010', 'Finding', [element('at0011', 'Size', quantity(1, 'mm'))]),
  cluster('at0010', 'Finding', [nullElement('at0011', 'Size')]),
  cluster('at0010', 'Finding', [element('at0012', 'Colour', text('red'))]),
]);

const encounter = composition({
  archetypeId: ARCHETYPES.encounter,
  templateId: 'hill.vitals.v1',
  name: 'Rates',
  composer: 'Dr Vera',
  startTime: '2021-03-01T08:00:00Z',
  content: [
    entry(
      'OBSERVATION',
      { nodeId: ARCHETYPES.pulse, name: 'Pulse' },
      { data: history('2021-03-01T08:00:00Z', events) },
    ),
    entry('EVALUATION', { nodeId: ARCHETYPES.problem, name: 'Problem' }, { data: problems }),
  ],
  participations: [
    value('PARTICIPATION', { function: text('nurse'), performer: identified('Nina') }),
    value('PARTICIPATION', { function: text('witness'), performer: value('PARTY_SELF', {}) }),
  ],
});

export function version(object: string, type: 'EHR_STATUS' | 'COMPOSITION', data: JsonObject, hour: number) {
  const uid = `${object}::local.cdr::1`;
  const timeCommitted = new Date(Date.UTC(2021, 2, 1, hour));
  return {
    uid,
    ehrId: EHR,
    type,
    timeCommitted,
    commitAudit: value('AUDIT_DETAILS', {
      system_id: 'local.cdr',
      committer: identified('Hill Service'),
      time_committed: dateTime(timeCommitted.toISOString()),
      change_type: coded('creation', 'openehr', '249'),
    }),
    lifecycleState: coded('complete', 'openehr', '532'),
    contributionUid: `bbbbbbbb-0000-4000-8000-0000000001${hour}`,
    precedingVersionUid: null,
    data: { ...data, uid: { _type: 'OBJECT_VERSION_ID', value: uid } },
  };
}

/**
 * One EHR with what may be missing below a LOCATABLE that is there: an ELEMENT without value, one whose value is of another
 * class, an event without width, a CLUSTER without the ELEMENT asked for, a participation without name.
 */
export const ROW_DATA: ReferenceData = {
  ehrs: [{ ehrId: EHR, systemId: 'local.cdr', timeCreated: new Date('2021-03-01'), isQueryable: true }],
  versions: [
    version('aaaaaaaa-0000-4000-8000-000000000101', 'EHR_STATUS', ehrStatus({ isQueryable: true }), 10),
    version('cccccccc-0000-4000-8000-000000000101', 'COMPOSITION', encounter, 11),
  ],
};
