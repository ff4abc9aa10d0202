import type { JsonObject } from '../../../openehr/base/json.js';
import {
  cluster,
  coded,
  codePhrase,
  composition,
  dateTime,
  element,
  entry,
  history,
  identified,
  nullElement,
  objectRef,
  participation,
  pointEvent,
  quantity,
  section,
  text,
  tree,
  value,
} from './builders.js';

/** Archetypes of the fixture. */
export const ARCHETYPES = {
  encounter: 'openEHR-EHR-COMPOSITION.encounter.v1',
  report: 'openEHR-EHR-COMPOSITION.report.v1',
  problemList: 'openEHR-EHR-COMPOSITION.problem_list.v1',
  vitals: 'openEHR-EHR-SECTION.vitals.v1',
  repeat: 'openEHR-EHR-SECTION.repeat.v1',
  bloodPressure: 'openEHR-EHR-OBSERVATION.blood_pressure.v2',
  pulse: 'openEHR-EHR-OBSERVATION.pulse.v2',
  device: 'openEHR-EHR-CLUSTER.device.v1',
  allTypes: 'openEHR-EHR-ADMIN_ENTRY.all_types.v1',
  problem: 'openEHR-EHR-EVALUATION.problem-diagnosis.v1',
  order: 'openEHR-EHR-INSTRUCTION.order.v1',
  action: 'openEHR-EHR-ACTION.order.v1',
} as const;

interface Reading {
  readonly time: string;
  readonly systolic: number;
  readonly diastolic?: number;
}

function bloodPressure(readings: readonly Reading[], device?: JsonObject): JsonObject {
  const events = readings.map(({ time, systolic, diastolic }) =>
    pointEvent('at0006', time, [
      element('at0004', 'Systolic', quantity(systolic, 'mm[Hg]')),
      ...(diastolic === undefined ? [] : [element('at0005', 'Diastolic', quantity(diastolic, 'mm[Hg]'))]),
    ]),
  );
  return entry(
    'OBSERVATION',
    { nodeId: ARCHETYPES.bloodPressure, name: 'Blood pressure' },
    {
      data: history(readings[0]?.time ?? '', events),
      protocol: device === undefined ? undefined : tree('at0011', [device]),
    },
  );
}

function pulse(time: string, rate: number): JsonObject {
  const event = pointEvent('at0006', time, [element('at0004', 'Rate', quantity(rate, '/min'))]);
  return entry('OBSERVATION', { nodeId: ARCHETYPES.pulse, name: 'Pulse' }, { data: history(time, [event]) });
}

const sensor = cluster(ARCHETYPES.device, 'Sensor', [element('at0001', 'Device name', text('Sensor 7'))]);
const cuff = cluster(ARCHETYPES.device, 'Cuff A', [element('at0001', 'Device name', text('Cuff A')), sensor]);

/** C1: encounter with nested sections, two blood pressure events, a pulse and two nested devices. */
export function encounterWithSections(): JsonObject {
  const readings = [
    { time: '2021-03-01T08:00:00+02:00', systolic: 150, diastolic: 95 },
    { time: '2021-03-01T07:00:00Z', systolic: 120 },
  ];
  const repeat = section('Repeat', [pulse('2021-03-01T08:05:00+02:00', 61)], ARCHETYPES.repeat);
  return composition({
    archetypeId: ARCHETYPES.encounter,
    templateId: 'hill.vitals.v1',
    name: 'Vitals of H-1',
    composer: 'Dr Vera',
    startTime: '2021-03-01T08:00:00+02:00',
    content: [section('Vitals', [bloodPressure(readings, cuff), repeat], ARCHETYPES.vitals)],
  });
}

/** C2: encounter with one blood pressure, two participations with two identifiers each, one link. */
export function encounterWithParticipations(systolic: number, diastolic: number): JsonObject {
  return composition({
    archetypeId: ARCHETYPES.encounter,
    templateId: 'hill.vitals.v1',
    name: 'Control',
    composer: 'Dr Wu',
    startTime: '2021-03-02T09:30:00Z',
    content: [bloodPressure([{ time: '2021-03-02T09:30:00Z', systolic, diastolic }])],
    participations: [
      participation('nurse', 'Nina', ['N-1', 'N-2']),
      participation('witness', 'Walt', ['W-1', 'W-2']),
    ],
    links: [
      value('LINK', {
        meaning: text('follow up'),
        type: text('problem'),
        target: value('DV_EHR_URI', { value: 'ehr:/hill/1' }),
      }),
    ],
  });
}

/** C3: report with every kind of data value, an empty element and names full of LIKE signs. */
export function report(): JsonObject {
  const mapped = coded('Headache', 'local', 'at0100', {
    mappings: [
      value('TERM_MAPPING', { match: '=', target: codePhrase('snomed_ct', '25064002') }),
      value('TERM_MAPPING', { match: '>', target: codePhrase('icd10', 'R51') }),
    ],
  });
  const items = [
    element(
      'at0002',
      'Ordinal',
      value('DV_ORDINAL', { value: 2, symbol: coded('moderate', 'local', 'at0102') }),
    ),
    element('at0003', 'Count', value('DV_COUNT', { magnitude: 7 })),
    element('at0004', 'Proportion', value('DV_PROPORTION', { numerator: 1, denominator: 4, type: 0 })),
    element('at0005', 'Duration', value('DV_DURATION', { value: 'P1DT2H' })),
    element('at0006', 'Time', value('DV_TIME', { value: '10:30:00' })),
    element('at0007', 'Year', value('DV_DATE', { value: '2020' })),
    element('at0008', 'Month', dateTime('2020-02')),
    element('at0009', 'Flag', value('DV_BOOLEAN', { value: true })),
    element('at0010', 'Address', value('DV_URI', { value: 'https://hill.example/a' })),
    element(
      'at0011',
      'Image',
      value('DV_MULTIMEDIA', {
        media_type: codePhrase('IANA_media-types', 'image/png'),
        data: 'UE5H',
        size: 3,
      }),
    ),
    element('at0012', 'Symptom', mapped),
    element(
      'at0013',
      'Range',
      value('DV_INTERVAL', {
        lower: quantity(1, 'mg'),
        upper: quantity(2, 'mg'),
        lower_included: true,
        upper_included: true,
        lower_unbounded: false,
        upper_unbounded: false,
      }),
    ),
    nullElement('at0014', 'Unknown'),
    element('at0015', '100%', text('percent')),
    element('at0015', 'a_b', text('underscore')),
    element('at0015', 'a*b', text('star')),
    element('at0015', 'what?', text('question')),
    element('at0015', "it's", text('quote')),
    element('at0015', 'back\\slash', text('backslash')),
    element('at0016', coded('Left', 'local', 'at0017'), text('left side')),
    element('at0016', coded('Right', 'snomed_ct', '24028007'), text('right side')),
  ];
  return composition({
    archetypeId: ARCHETYPES.report,
    templateId: 'hill.report.v1',
    name: 'Report',
    composer: 'Dr Vera',
    startTime: '2021-03-03T10:00:00Z',
    content: [
      entry(
        'ADMIN_ENTRY',
        { nodeId: ARCHETYPES.allTypes, name: 'All types' },
        { data: tree('at0001', items) },
      ),
    ],
    feederAudit: value('FEEDER_AUDIT', {
      originating_system_audit: value('FEEDER_AUDIT_DETAILS', {
        system_id: 'old.hill',
        time: dateTime('2021-03-03T09:00:00Z'),
      }),
    }),
  });
}

/** C4: problem list; the problems have code A, code B and no code. */
export function problemList(): JsonObject {
  const problem = (name: string, dataValue: JsonObject): JsonObject =>
    entry(
      'EVALUATION',
      { nodeId: ARCHETYPES.problem, name },
      { data: tree('at0001', [element('at0002', 'Problem', dataValue)]) },
    );
  return composition({
    archetypeId: ARCHETYPES.problemList,
    templateId: 'hill.problems.v1',
    name: 'Problem list',
    composer: 'Dr Xu',
    startTime: '2021-03-04T10:00:00Z',
    content: [
      problem('Problem A', coded('Asthma', 'hill', 'A')),
      problem('Problem B', coded('Bronchitis', 'hill', 'B')),
      problem('Problem C', text('Cough')),
    ],
  });
}

/** C5: an INSTRUCTION with one activity and an ACTION that carries it out. */
export function orderAndAction(): JsonObject {
  const instruction = entry(
    'INSTRUCTION',
    { nodeId: ARCHETYPES.order, name: 'Order' },
    {
      narrative: text('Take twice a day'),
      activities: [
        value('ACTIVITY', {
          name: text('Dose'),
          archetype_node_id: 'at0001',
          description: tree('at0002', [element('at0003', 'Drug', text('Salbutamol'))]),
          action_archetype_id: '/openEHR-EHR-ACTION\\.order\\.v1/',
        }),
      ],
    },
  );
  const action = entry(
    'ACTION',
    { nodeId: ARCHETYPES.action, name: 'Given' },
    {
      time: dateTime('2021-03-06T11:00:00Z'),
      description: tree('at0001', [element('at0002', 'Drug', text('Salbutamol'))]),
      ism_transition: value('ISM_TRANSITION', { current_state: coded('completed', 'openehr', '532') }),
      instruction_details: value('INSTRUCTION_DETAILS', {
        instruction_id: {
          ...objectRef('HIER_OBJECT_ID', '0a0a0a0a-0000-4000-8000-00000000000a', 'INSTRUCTION'),
          _type: 'LOCATABLE_REF',
        },
        activity_id: 'activities[at0001]',
      }),
    },
  );
  return composition({
    archetypeId: ARCHETYPES.encounter,
    templateId: 'hill.order.v1',
    name: 'Order',
    composer: 'Dr Wu',
    startTime: '2021-03-06T10:00:00Z',
    content: [instruction, action],
  });
}

/** C6 (deleted later) and C7 (of a not queryable EHR): a single blood pressure. */
export function simpleEncounter(systolic: number, diastolic: number, startTime: string): JsonObject {
  return composition({
    archetypeId: ARCHETYPES.encounter,
    templateId: 'hill.vitals.v1',
    name: 'Short visit',
    composer: 'Dr Wu',
    startTime,
    content: [bloodPressure([{ time: startTime, systolic, diastolic }])],
  });
}

/** Who commits. */
export const committer = identified('Hill Service');
