import type { ReferenceData, ReferenceEhr, ReferenceVersion } from '../../../aql/evaluate/data.js';
import type { RootType } from '../../../openehr/rm/root-type.js';
import { formatUtc } from '../../../openehr/base/iso8601.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import { coded, dateTime, ehrStatus, element, folder, objectRef, text, tree, value } from './builders.js';
import {
  committer,
  encounterWithParticipations,
  encounterWithSections,
  orderAndAction,
  problemList,
  report,
  simpleEncounter,
} from './compositions.js';

const uuid = (letter: string, number: number): string =>
  `${letter.repeat(8)}-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** Ids of EHRs. */
export const EHR = { E1: uuid('e', 1), E2: uuid('e', 2), E3: uuid('e', 3), E4: uuid('e', 4) } as const;

/** Ids of versioned objects. */
export const OBJECT = {
  C1: uuid('c', 1),
  C2: uuid('c', 2),
  C3: uuid('c', 3),
  C4: uuid('c', 4),
  C5: uuid('c', 5),
  C6: uuid('c', 6),
  C7: uuid('c', 7),
  D1: uuid('d', 1),
  S1: uuid('a', 1),
  S2: uuid('a', 2),
  S3: uuid('a', 3),
  S4: uuid('a', 4),
} as const;

/** The system id of the fixture: databases that load it must be of this system. */
export const SYSTEM_ID = 'local.cdr';

/** The id of a version of a versioned object. */
export function versionUid(object: keyof typeof OBJECT, version: number): string {
  return `${OBJECT[object]}::${SYSTEM_ID}::${version}`;
}

const CHANGES = {
  249: ['creation', 'complete', '532'],
  251: ['modification', 'complete', '532'],
  523: ['deleted', 'deleted', '523'],
} as const;

/** One commit of the fixture. */
interface Commit {
  readonly ehr: keyof typeof EHR;
  readonly object: keyof typeof OBJECT;
  readonly version: number;
  readonly type: RootType;
  readonly time: string;
  readonly change: keyof typeof CHANGES;
  readonly data: JsonObject | null;
}

function versionOf(commit: Commit, index: number): ReferenceVersion {
  const timeCommitted = new Date(commit.time);
  const [change, lifecycle, lifecycleCode] = CHANGES[commit.change];
  const uid = versionUid(commit.object, commit.version);
  return {
    uid,
    ehrId: EHR[commit.ehr],
    type: commit.type,
    timeCommitted,
    commitAudit: value('AUDIT_DETAILS', {
      system_id: SYSTEM_ID,
      committer,
      time_committed: dateTime(formatUtc(timeCommitted)),
      change_type: coded(change, 'openehr', String(commit.change)),
    }),
    lifecycleState: coded(lifecycle, 'openehr', lifecycleCode),
    contributionUid: uuid('b', index + 1),
    precedingVersionUid: commit.version === 1 ? null : versionUid(commit.object, commit.version - 1),
    data: commit.data === null ? null : { ...commit.data, uid: { _type: 'OBJECT_VERSION_ID', value: uid } },
  };
}

function directory(): JsonObject {
  const byContainer = (id: string): JsonObject => objectRef('HIER_OBJECT_ID', id, 'VERSIONED_COMPOSITION');
  const byVersion = (id: string): JsonObject => objectRef('OBJECT_VERSION_ID', id, 'COMPOSITION');
  return folder('Hilltop', {
    folders: [
      folder('Episodes', {
        items: [byContainer(OBJECT.C1), byContainer(OBJECT.C2)],
        folders: [folder('2021', { items: [byVersion(versionUid('C2', 1))] })],
      }),
      folder('Empty', {}),
    ],
  });
}

const detailed = tree('at0000', [
  element('at0001', 'Insurance', value('DV_IDENTIFIER', { id: 'INS-1', type: 'insurance' })),
  element('at0013', 'Note', text('likes hills')),
]);

const ehr = (name: keyof typeof EHR, time: string, isQueryable = true): ReferenceEhr => ({
  ehrId: EHR[name],
  systemId: SYSTEM_ID,
  timeCreated: new Date(time),
  isQueryable,
});

const status = (
  name: keyof typeof EHR,
  object: keyof typeof OBJECT,
  time: string,
  data: JsonObject,
): Commit => ({
  ...{ ehr: name, object, version: 1, type: 'EHR_STATUS' as const, time, change: 249 as const, data },
});

const composition = (
  name: keyof typeof EHR,
  object: keyof typeof OBJECT,
  time: string,
  data: JsonObject,
): Commit => ({
  ...{ ehr: name, object, version: 1, type: 'COMPOSITION' as const, time, change: 249 as const, data },
});

const COMMITS: readonly Commit[] = [
  status(
    'E1',
    'S1',
    '2021-01-01T00:00:00Z',
    ehrStatus({ subjectId: 'H-1', isQueryable: true, otherDetails: detailed }),
  ),
  status('E2', 'S2', '2021-02-01T00:00:00Z', ehrStatus({ subjectId: 'H-2', isQueryable: true })),
  status('E3', 'S3', '2021-02-15T00:00:00Z', ehrStatus({ isQueryable: true })),
  status('E4', 'S4', '2021-02-20T00:00:00Z', ehrStatus({ subjectId: 'H-4', isQueryable: false })),
  composition('E1', 'C1', '2021-03-01T09:00:00Z', encounterWithSections()),
  composition('E1', 'C2', '2021-03-02T09:00:00Z', encounterWithParticipations(180, 100)),
  composition('E1', 'C3', '2021-03-03T11:00:00Z', report()),
  composition('E2', 'C4', '2021-03-04T11:00:00Z', problemList()),
  {
    ...{ ehr: 'E1', object: 'C2', version: 2, type: 'COMPOSITION', change: 251 },
    time: '2021-03-05T09:00:00Z',
    data: encounterWithParticipations(138, 88),
  },
  composition('E2', 'C5', '2021-03-06T11:00:00Z', orderAndAction()),
  {
    ...{ ehr: 'E1', object: 'D1', version: 1, type: 'FOLDER', change: 249 },
    time: '2021-03-06T12:00:00Z',
    data: directory(),
  },
  composition('E2', 'C6', '2021-03-07T09:00:00Z', simpleEncounter(170, 99, '2021-03-07T08:30:00Z')),
  composition('E4', 'C7', '2021-03-08T09:00:00Z', simpleEncounter(200, 120, '2021-03-08T08:30:00Z')),
  {
    ...{ ehr: 'E2', object: 'C6', version: 2, type: 'COMPOSITION', change: 523 },
    time: '2021-03-10T09:00:00Z',
    data: null,
  },
];

/**
 * The Hilltop fixture of the AQL tests: four EHRs with what each test group needs. The versions stand in the
 * order of their commits, so a database can be filled by walking through them.
 */
export const HILLTOP: ReferenceData = {
  ehrs: [
    ehr('E1', '2021-01-01T00:00:00Z'),
    ehr('E2', '2021-02-01T00:00:00Z'),
    ehr('E3', '2021-02-15T00:00:00Z'),
    ehr('E4', '2021-02-20T00:00:00Z', false),
  ],
  versions: COMMITS.map(versionOf),
};
