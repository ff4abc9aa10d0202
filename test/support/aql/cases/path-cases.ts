import { EHR, OBJECT, versionUid } from '../../hilltop/hilltop.js';
import { A, column, CURRENT, DIA, EV, invalid, O, P, SYS, type AqlCase } from './aql-case.js';

const ALL = 'VERSION v[ALL_VERSIONS]';
const REPORT = `ADMIN_ENTRY a[${A.allTypes}]`;

const FOLDER_PAIRS = [
  ['Hilltop', versionUid('C1', 1)],
  ['Hilltop', versionUid('C2', 2)],
  ['Episodes', versionUid('C1', 1)],
  ['Episodes', versionUid('C2', 2)],
  ['2021', versionUid('C2', 2)],
];

/** Groups 38 to 42: FOLDER. */
const folderCases: readonly AqlCase[] = [
  {
    group: 38,
    title: 'lists all folders',
    aql: 'SELECT f/name/value FROM FOLDER f',
    expect: { rows: column('Hilltop', 'Episodes', '2021', 'Empty') },
  },
  {
    group: 38,
    title: 'pairs folders with those above',
    aql: 'SELECT a/name/value, b/name/value FROM FOLDER a CONTAINS FOLDER b',
    expect: {
      rows: [
        ['Hilltop', 'Episodes'],
        ['Hilltop', '2021'],
        ['Hilltop', 'Empty'],
        ['Episodes', '2021'],
      ],
    },
  },
  {
    group: 39,
    title: 'finds referenced compositions once',
    aql: "SELECT c/uid/value FROM FOLDER f[name/value='Episodes'] CONTAINS COMPOSITION c",
    expect: { rows: column(versionUid('C1', 1), versionUid('C2', 2)) },
  },
  {
    group: 40,
    title: 'finds compositions of folders below',
    aql: 'SELECT f/name/value, c/uid/value FROM FOLDER f CONTAINS COMPOSITION c',
    expect: { rows: FOLDER_PAIRS },
  },
  {
    group: 40,
    title: 'finds observations through compositions',
    aql: 'SELECT f/name/value, c/uid/value FROM FOLDER f CONTAINS COMPOSITION c CONTAINS OBSERVATION o',
    expect: { count: 7 },
  },
  {
    group: 40,
    title: 'finds observations without naming the composition',
    aql: 'SELECT f/name/value, o/name/value FROM FOLDER f CONTAINS OBSERVATION o',
    expect: { count: 7 },
  },
  {
    group: 41,
    title: 'allows VERSION below FOLDER',
    aql: `SELECT f/name/value, c/uid/value FROM FOLDER f CONTAINS VERSION v CONTAINS COMPOSITION c CONTAINS ${O}`,
    expect: { rows: FOLDER_PAIRS },
  },
  {
    group: 41,
    title: 'reaches old versions below FOLDER',
    aql: `SELECT f/name/value, v/uid/value FROM FOLDER f[name/value='2021'] CONTAINS ${ALL} CONTAINS COMPOSITION c`,
    expect: {
      rows: [
        ['2021', versionUid('C2', 1)],
        ['2021', versionUid('C2', 2)],
      ],
    },
  },
  {
    group: 42,
    title: 'multiplies items',
    aql: 'SELECT f/name/value, f/items/id/value FROM FOLDER f',
    expect: {
      rows: [
        ['Hilltop', null],
        ['Episodes', OBJECT.C1],
        ['Episodes', OBJECT.C2],
        ['2021', versionUid('C2', 1)],
        ['Empty', null],
      ],
    },
  },
  {
    group: 42,
    title: 'multiplies folders',
    aql: 'SELECT f/name/value, f/folders/name/value FROM FOLDER f',
    expect: {
      rows: [
        ['Hilltop', 'Episodes'],
        ['Hilltop', 'Empty'],
        ['Episodes', '2021'],
        ['2021', null],
        ['Empty', null],
      ],
    },
  },
];

const S = (object: 'C1' | 'C2' | 'C6', version: number, systolic: number): [string, number] => [
  versionUid(object, version),
  systolic,
];

/** Groups 43 to 48: VERSION, as_of, version ids. */
const versionCases: readonly AqlCase[] = [
  {
    group: 43,
    title: 'ALL_VERSIONS gives superseded versions, never deletions',
    aql: `SELECT v/uid/value, ${SYS} FROM ${ALL} CONTAINS COMPOSITION c CONTAINS ${O}`,
    expect: { rows: [S('C1', 1, 150), S('C1', 1, 120), S('C2', 1, 180), S('C2', 2, 138), S('C6', 1, 170)] },
  },
  {
    group: 43,
    title: 'as_of sees the version of then',
    aql: `SELECT c/uid/value, ${SYS} FROM COMPOSITION c CONTAINS ${O}`,
    options: { asOf: '2021-03-04T00:00:00Z' },
    expect: { rows: [S('C1', 1, 150), S('C1', 1, 120), S('C2', 1, 180)] },
  },
  {
    group: 43,
    title: 'as_of counts the moment of the commit',
    aql: `SELECT c/uid/value, ${SYS} FROM COMPOSITION c CONTAINS ${O}`,
    options: { asOf: '2021-03-05T09:00:00Z' },
    expect: { rows: [S('C1', 1, 150), S('C1', 1, 120), S('C2', 2, 138)] },
  },
  {
    group: 43,
    title: 'as_of sees what was deleted later',
    aql: `SELECT c/uid/value, ${SYS} FROM COMPOSITION c CONTAINS ${O}`,
    options: { asOf: '2021-03-08T00:00:00Z' },
    expect: { rows: [S('C1', 1, 150), S('C1', 1, 120), S('C2', 2, 138), S('C6', 1, 170)] },
  },
  {
    group: 43,
    title: 'as_of after a deletion does not see it',
    aql: `SELECT c/uid/value, ${SYS} FROM COMPOSITION c CONTAINS ${O}`,
    options: { asOf: '2021-03-10T09:00:00Z' },
    expect: { rows: [S('C1', 1, 150), S('C1', 1, 120), S('C2', 2, 138)] },
  },
  {
    group: 43,
    title: 'as_of limits ALL_VERSIONS',
    aql: `SELECT v/uid/value FROM ${ALL} CONTAINS COMPOSITION c`,
    options: { asOf: '2021-03-02T10:00:00Z' },
    expect: { rows: column(versionUid('C1', 1), versionUid('C2', 1)) },
  },
  {
    group: 43,
    title: 'as_of knows no later EHR',
    aql: 'SELECT e/ehr_id/value, e/compositions/id/value FROM EHR e',
    options: { asOf: '2021-02-10T00:00:00Z' },
    expect: {
      rows: [
        [EHR.E1, null],
        [EHR.E2, null],
      ],
    },
  },
  {
    group: 44,
    title: 'VERSION is the latest version',
    aql: `SELECT v/uid/value FROM VERSION v CONTAINS COMPOSITION c CONTAINS ${O}`,
    expect: { rows: column(versionUid('C1', 1), versionUid('C2', 2)) },
  },
  {
    group: 44,
    title: 'LATEST_VERSION too',
    aql: `SELECT v/uid/value FROM VERSION v[LATEST_VERSION] CONTAINS COMPOSITION c CONTAINS ${O}`,
    expect: { rows: column(versionUid('C1', 1), versionUid('C2', 2)) },
  },
  {
    group: 45,
    title: 'a version id finds an old version',
    aql: `SELECT ${SYS} FROM VERSION v[uid/value='${versionUid('C2', 1)}'] CONTAINS ${O}`,
    expect: { rows: column(180) },
  },
  {
    group: 45,
    title: 'a time finds old versions',
    aql: `SELECT v/uid/value FROM VERSION v[commit_audit/time_committed < $t] CONTAINS COMPOSITION c`,
    parameters: { t: '2021-03-03T00:00:00Z' },
    expect: { rows: column(versionUid('C1', 1), versionUid('C2', 1)) },
  },
  {
    group: 45,
    title: 'conditions of a version can be joined',
    aql: `SELECT v/uid/value FROM VERSION v[commit_audit/time_committed/value > '2021-03-02' and commit_audit/time_committed <= '2021-03-05T09:00:00Z'] CONTAINS COMPOSITION c`,
    expect: {
      rows: column(versionUid('C2', 1), versionUid('C3', 1), versionUid('C4', 1), versionUid('C2', 2)),
    },
  },
  {
    group: 46,
    title: 'gives whole versions',
    aql: `SELECT v FROM VERSION v CONTAINS COMPOSITION c[${A.report}]`,
    expect: { count: 1 },
  },
  {
    group: 46,
    title: 'reads the attributes of a version',
    aql: `SELECT v/lifecycle_state/value, v/commit_audit/change_type/defining_code/code_string, v/commit_audit/committer/name, v/preceding_version_uid/value, v/contribution/id/value, v/commit_audit/system_id, v/commit_audit/time_committed/value, v/signature, v/data/name/value FROM ${ALL} CONTAINS COMPOSITION c WHERE c/name/value = 'Control'`,
    expect: {
      rows: [
        [
          'complete',
          '249',
          'Hill Service',
          null,
          'bbbbbbbb-0000-4000-8000-000000000006',
          'local.cdr',
          '2021-03-02T09:00:00.000000Z',
          null,
          'Control',
        ],
        [
          'complete',
          '251',
          'Hill Service',
          versionUid('C2', 1),
          'bbbbbbbb-0000-4000-8000-000000000009',
          'local.cdr',
          '2021-03-05T09:00:00.000000Z',
          null,
          'Control',
        ],
      ],
    },
  },
  ...(
    [
      ['a bare uuid', OBJECT.C2, 1],
      ['a bare uuid in capitals', OBJECT.C2.toUpperCase(), 1],
      ['a full id', versionUid('C2', 2), 1],
      ['an empty system', `${OBJECT.C2}::::2`, 1],
      ['an old version', versionUid('C2', 1), 0],
      ['an old version with empty system', `${OBJECT.C2}::::1`, 0],
    ] as const
  ).flatMap(([title, id, count]): AqlCase[] => [
    {
      group: 47,
      title: `${title} in WHERE`,
      aql: `SELECT c FROM COMPOSITION c WHERE c/uid/value = '${id}'`,
      expect: { count },
    },
    {
      group: 47,
      title: `${title} as predicate`,
      aql: `SELECT c FROM COMPOSITION c[uid/value = $id]`,
      parameters: { id },
      expect: { count },
    },
    {
      group: 47,
      title: `${title} in MATCHES`,
      aql: `SELECT c FROM COMPOSITION c WHERE c/uid/value MATCHES {$id}`,
      parameters: { id: [id] },
      expect: { count },
    },
    {
      group: 47,
      title: `not ${title}`,
      aql: `SELECT c FROM COMPOSITION c WHERE c/uid/value != '${id}'`,
      expect: { count: 5 - count },
    },
  ]),
  {
    group: 47,
    title: 'refuses another system',
    aql: `SELECT c FROM COMPOSITION c WHERE c/uid/value = '${OBJECT.C2}::other.cdr::2'`,
    expect: invalid('does not match this server'),
  },
  {
    group: 47,
    title: 'refuses garbage',
    aql: `SELECT c FROM COMPOSITION c WHERE c/uid/value = 'garbage'`,
    expect: invalid('is not a valid OBJECT_VERSION_ID/UID'),
  },
  {
    group: 47,
    title: 'refuses an id without number',
    aql: `SELECT c FROM COMPOSITION c[uid/value='${OBJECT.C2}::local.cdr::']`,
    expect: invalid('is not a valid OBJECT_VERSION_ID/UID'),
  },
  {
    group: 47,
    title: 'orders ids by uuid and number',
    aql: `SELECT v/uid/value FROM ${ALL} CONTAINS COMPOSITION c WHERE v/uid/value > '${versionUid('C2', 1)}' AND v/uid/value <= '${versionUid('C3', 1)}'`,
    expect: { rows: column(versionUid('C2', 2), versionUid('C3', 1)) },
  },
  {
    group: 48,
    title: 'OR directly below VERSION',
    aql: `SELECT v/uid/value, c/name/value, s/name/value FROM EHR e[ehr_id/value='${EHR.E2}'] CONTAINS VERSION v CONTAINS (COMPOSITION c OR EHR_STATUS s)`,
    expect: {
      rows: [
        [versionUid('S2', 1), null, 'EHR Status'],
        [versionUid('C4', 1), 'Problem list', null],
        [versionUid('C5', 1), 'Order', null],
      ],
    },
  },
  {
    group: 48,
    title: 'AND of two roots matches no version',
    aql: 'SELECT v FROM VERSION v CONTAINS (COMPOSITION c AND EHR_STATUS s)',
    expect: { rows: [] },
  },
  {
    group: 48,
    title: 'AND within one version',
    aql: `SELECT v/uid/value FROM VERSION v CONTAINS (${O} AND ${P})`,
    expect: { rows: column(versionUid('C1', 1)) },
  },
  {
    group: 48,
    title: 'NOT CONTAINS directly below VERSION',
    aql: `SELECT v/uid/value FROM VERSION v NOT CONTAINS ${O}`,
    expect: {
      rows: column(
        ...CURRENT.slice(2),
        versionUid('D1', 1),
        ...(['S1', 'S2', 'S3'] as const).map((name) => versionUid(name, 1)),
      ),
    },
  },
  {
    group: 48,
    title: 'IMPORTED_VERSION filters',
    aql: 'SELECT v FROM IMPORTED_VERSION v CONTAINS COMPOSITION c',
    expect: { rows: [] },
  },
  {
    group: 48,
    title: 'VERSION alone is refused',
    aql: 'SELECT v FROM EHR e CONTAINS VERSION v',
    expect: invalid('CONTAINS'),
  },
];

const ITEM = 'a/data[at0001]/items';

/** Groups 49 to 56: predicates and lists in paths. */
const predicateCases: readonly AqlCase[] = [
  ...[
    "[at0015 and name/value='a_b']",
    "[at0015,'a_b']",
    '[at0015, $n]',
    "[name/value='a_b']",
    "[archetype_node_id='at0015' AND name/value=$n]",
  ].map((predicate): AqlCase => ({
    group: 49,
    title: `finds the element by ${predicate}`,
    aql: `SELECT ${ITEM}${predicate}/value/value FROM ${REPORT}`,
    parameters: { n: 'a_b' },
    expect: { rows: column('underscore') },
  })),
  {
    group: 49,
    title: 'names of one code share the element',
    aql: `SELECT ${ITEM}[at0015,'a_b']/value/value, ${ITEM}[at0015,'a*b']/value/value FROM ${REPORT}`,
    expect: {
      rows: [
        ['underscore', null],
        [null, 'star'],
      ],
    },
  },
  {
    group: 50,
    title: 'finds a coded name',
    aql: `SELECT ${ITEM}[at0016, snomed_ct::24028007|Right|]/value/value FROM ${REPORT}`,
    expect: { rows: column('right side') },
  },
  {
    group: 50,
    title: 'finds a locally coded name',
    aql: `SELECT ${ITEM}[at0016, at0017]/value/value FROM ${REPORT}`,
    expect: { rows: column('left side') },
  },
  {
    group: 51,
    title: 'filters events by time',
    aql: `SELECT o/data[at0001]/events[at0006 and time/value > '2021-03-01T06:30:00Z']/data[at0003]/items[at0004]/value/magnitude FROM ${O}`,
    expect: { rows: column(120, 138) },
  },
  {
    group: 51,
    title: 'compares two values of one element',
    aql: `SELECT ${EV.replace(']/events[at0006]', ']/events[at0006 and time/value=time/value]')}/time/value FROM ${O}`,
    expect: { count: 3 },
  },
  {
    group: 52,
    title: 'filters by a regular expression',
    aql: `SELECT ${ITEM}[name/value matches {/a.b/}]/value/value FROM ${REPORT}`,
    expect: { rows: column('underscore', 'star') },
  },
  {
    group: 52,
    title: 'filters by alternatives',
    aql: `SELECT ${ITEM}[name/value='a_b' or name/value='100%']/value/value FROM ${REPORT}`,
    expect: { rows: column('percent', 'underscore') },
  },
  {
    group: 52,
    title: 'refuses a broken regular expression',
    aql: `SELECT ${ITEM}[name/value matches {/(/}]/value/value FROM ${REPORT}`,
    expect: invalid('regular expression'),
  },
  {
    group: 53,
    title: 'a predicate on the variable gives NULL',
    aql: `SELECT p[name/value='x']/data/origin/value, p/name/value FROM ${P}`,
    expect: { rows: [[null, 'Pulse']] },
  },
  {
    group: 53,
    title: 'a predicate on the variable filters in WHERE',
    aql: `SELECT x/name/value FROM OBSERVATION x WHERE EXISTS x[name/value='Pulse']/data`,
    expect: { rows: column('Pulse') },
  },
  {
    group: 54,
    title: 'multiplies lists below lists',
    aql: `SELECT c/context/participations/performer/name, c/context/participations/performer/identifiers/id FROM COMPOSITION c WHERE c/name/value = 'Control'`,
    expect: {
      rows: [
        ['Nina', 'N-1'],
        ['Nina', 'N-2'],
        ['Walt', 'W-1'],
        ['Walt', 'W-2'],
      ],
    },
  },
  {
    group: 54,
    title: 'filters participations',
    aql: `SELECT c/context/participations[function/value='witness']/performer/name FROM COMPOSITION c WHERE c/name/value = 'Control'`,
    expect: { rows: column('Walt') },
  },
  {
    group: 54,
    title: 'filters links',
    aql: `SELECT c/links[type/value='problem']/meaning/value FROM COMPOSITION c WHERE EXISTS c/links`,
    expect: { rows: column('follow up') },
  },
  {
    group: 55,
    title: 'multiplies mappings',
    aql: `SELECT ${ITEM}[at0012]/value/mappings/target/code_string FROM ${REPORT}`,
    expect: { rows: column('25064002', 'R51') },
  },
  {
    group: 55,
    title: 'reads the feeder audit',
    aql: `SELECT c/feeder_audit/originating_system_audit/system_id FROM COMPOSITION c[${A.report}]`,
    expect: { rows: column('old.hill') },
  },
  {
    group: 55,
    title: 'reads instruction details',
    aql: 'SELECT x/instruction_details/activity_id FROM ACTION x',
    expect: { rows: column('activities[at0001]') },
  },
  {
    group: 56,
    title: 'gives one row per content item',
    aql: `SELECT c/content FROM COMPOSITION c[${A.problemList}]`,
    expect: { count: 3 },
  },
  {
    group: 56,
    title: 'reads below a list',
    aql: `SELECT c/content/name/value FROM COMPOSITION c[${A.problemList}]`,
    expect: { rows: column('Problem A', 'Problem B', 'Problem C') },
  },
  {
    group: 56,
    title: 'pairs values of one content item',
    aql: `SELECT c/content/name/value, c/content/data/items/value/value FROM COMPOSITION c[${A.problemList}]`,
    expect: {
      rows: [
        ['Problem A', 'Asthma'],
        ['Problem B', 'Bronchitis'],
        ['Problem C', 'Cough'],
      ],
    },
  },
  {
    group: 56,
    title: 'crosses archetypes',
    aql: `SELECT c/content[${A.vitals}]/items[${A.bloodPressure}]/protocol[at0011]/items[${A.device}]/items[at0001]/value/value FROM COMPOSITION c[${A.encounter}] WHERE c/name/value = 'Vitals of H-1'`,
    expect: { rows: column('Cuff A') },
  },
  {
    group: 56,
    title: 'reads the type',
    aql: `SELECT c/_type, c/context/_type FROM COMPOSITION c[${A.report}]`,
    expect: { rows: [['COMPOSITION', 'EVENT_CONTEXT']] },
  },
  {
    group: 56,
    title: 'reads template and archetype ids',
    aql: `SELECT c/archetype_details/template_id/value, c/archetype_node_id FROM COMPOSITION c[${A.report}]`,
    expect: { rows: [['hill.report.v1', A.report]] },
  },
  {
    group: 56,
    title: 'keeps rows of paths that find nothing',
    aql: `SELECT ${SYS}, ${DIA}, o/state/name/value FROM ${O} WHERE ${SYS} = 120`,
    expect: { rows: [[120, null, null]] },
  },
];

/** Groups 38 to 56: folders, versions, predicates, lists. */
export const pathCases: readonly AqlCase[] = [...folderCases, ...versionCases, ...predicateCases];
