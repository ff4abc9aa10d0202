import type { ReferenceData, ReferenceEhr, ReferenceVersion } from '../../../../aql/evaluate/data.js';
import type { RootType } from '../../../../openehr/rm/root-type.js';
import { formatUtc } from '../../../../openehr/base/iso8601.js';
import type { JsonObject } from '../../../../openehr/base/json.js';
import {
  cluster,
  coded,
  codePhrase,
  composition,
  dateTime,
  ehrStatus,
  element,
  entry,
  folder,
  history,
  identified,
  nullElement,
  objectRef,
  participation,
  quantity,
  section,
  text,
  tree,
  value,
} from '../../hilltop/builders.js';
import { ARCHETYPES } from '../../hilltop/compositions.js';
import type { Random } from '../../random.js';

/** Names, texts, codes and times are few, so that random conditions often hold. */
export const POOL = {
  names: ['Left', 'Right', 'Left arm', 'Rest*'],
  texts: ['alpha', 'beta', 'Beta 100%', 'a*b', ''],
  codes: ['at0100', 'at0101', '25064002'],
  terminologies: ['local', 'snomed_ct'],
  times: ['2021-03-01T08:00:00Z', '2021-03-01T09:00:00+02:00', '2021-03-02T08:00:00.123Z', '2021-04'],
  dates: ['2021-03-01', '2020', '2021-02'],
  durations: ['P1D', 'PT26H', '-P1M', 'P2Y'],
  clockTimes: ['10:00:00', '10:30', '23:59:59.5'],
} as const;

const SYSTEM = 'local.cdr';
const uuid = (letter: string, number: number): string =>
  `${letter.repeat(8)}-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** Ids of the EHRs of random data. */
export const RANDOM_EHRS: readonly string[] = [1, 2, 3].map((number) => uuid('e', number));

/** A small CDR: three EHRs (one maybe not queryable), their statuses, directories and compositions with versions. */
export function randomData(random: Random): ReferenceData {
  const ehrs: ReferenceEhr[] = [];
  const versions: ReferenceVersion[] = [];
  const clock = { hour: 0 };
  const commit = (parts: Omit<CommitParts, 'hour'>): void => {
    versions.push(versionOf({ ...parts, hour: ++clock.hour, contribution: versions.length }));
  };
  RANDOM_EHRS.forEach((ehrId, index) => {
    const isQueryable = index < 2 || random.chance(0.7);
    ehrs.push({ ehrId, systemId: SYSTEM, timeCreated: timeOf(clock.hour + 1), isQueryable });
    const details = random.chance(0.6) ? tree('at0000', randomItems(random, 1)) : undefined;
    commit({
      ehrId,
      versionedObjectUid: uuid('a', index),
      version: 1,
      type: 'EHR_STATUS',
      data: ehrStatus({
        isQueryable,
        ...(random.chance(0.7) ? { subjectId: `S-${index}` } : {}),
        ...(details === undefined ? {} : { otherDetails: details }),
      }),
    });
    const objects = random.list(0, 4, (number) => uuid('c', index * 10 + number));
    for (const versionedObjectUid of objects)
      for (let version = 1; version <= (random.chance(0.3) ? 2 : 1); version++) {
        const isDeletion = version === 2 && random.chance(0.4);
        commit({
          ehrId,
          versionedObjectUid,
          version,
          type: 'COMPOSITION',
          data: isDeletion ? null : randomComposition(random),
        });
      }
    if (random.chance(0.6))
      commit({
        ehrId,
        versionedObjectUid: uuid('d', index),
        version: 1,
        type: 'FOLDER',
        data: randomFolder(random, objects, 2),
      });
  });
  return { ehrs, versions };
}

function timeOf(hour: number): Date {
  return new Date(Date.UTC(2021, 0, 1) + hour * 3_600_000);
}

interface CommitParts {
  readonly ehrId: string;
  readonly versionedObjectUid: string;
  readonly version: number;
  readonly type: RootType;
  readonly data: JsonObject | null;
  readonly hour: number;
}

function versionOf(parts: CommitParts & { readonly contribution: number }): ReferenceVersion {
  const { versionedObjectUid, version, data } = parts;
  const uid = `${versionedObjectUid}::${SYSTEM}::${version}`;
  const time = timeOf(parts.hour);
  const [change, code] =
    data === null ? ['deleted', '523'] : version === 1 ? ['creation', '249'] : ['modification', '251'];
  const [state, stateCode] = data === null ? ['deleted', '523'] : ['complete', '532'];
  return {
    uid,
    ehrId: parts.ehrId,
    type: parts.type,
    timeCommitted: time,
    commitAudit: value('AUDIT_DETAILS', {
      system_id: SYSTEM,
      committer: identified('Dr Random'),
      time_committed: dateTime(formatUtc(time)),
      change_type: coded(change, 'openehr', code),
    }),
    lifecycleState: coded(state, 'openehr', stateCode),
    contributionUid: uuid('b', parts.contribution),
    precedingVersionUid: version === 1 ? null : `${versionedObjectUid}::${SYSTEM}::${version - 1}`,
    data: data === null ? null : { ...data, uid: { _type: 'OBJECT_VERSION_ID', value: uid } },
  };
}

function randomFolder(random: Random, objects: readonly string[], depth: number): JsonObject {
  const items = objects
    .filter(() => random.chance(0.4))
    .map((id) =>
      random.chance(0.5)
        ? objectRef('HIER_OBJECT_ID', id, 'VERSIONED_COMPOSITION')
        : objectRef('OBJECT_VERSION_ID', `${id}::${SYSTEM}::1`, 'COMPOSITION'),
    );
  const folders = depth === 0 ? [] : random.list(0, 2, () => randomFolder(random, objects, depth - 1));
  return folder(random.pick(['Episodes', 'Left', 'Archive']), {
    ...(items.length > 0 ? { items } : {}),
    ...(folders.length > 0 ? { folders } : {}),
    ...(random.chance(0.2) ? { details: tree('at0001', randomItems(random, 0)) } : {}),
  });
}

function randomComposition(random: Random): JsonObject {
  return composition({
    archetypeId: random.pick([ARCHETYPES.encounter, ARCHETYPES.report]),
    templateId: random.pick(['t.one', 't.two']),
    name: random.pick(POOL.names),
    composer: random.pick(['Dr A', 'Dr B']),
    startTime: random.pick(POOL.times),
    content: random.list(0, 3, () => randomContent(random, 2)),
    ...(random.chance(0.3)
      ? {
          participations: random.list(1, 2, (i) => participation('nurse', `N${i}`, ['1', '2'].slice(i))),
        }
      : {}),
    ...(random.chance(0.3) ? { links: random.list(1, 2, () => randomLink(random)) } : {}),
    ...(random.chance(0.3) ? { otherContext: tree('at0001', randomItems(random, 1)) } : {}),
    ...(random.chance(0.2)
      ? {
          feederAudit: value('FEEDER_AUDIT', {
            originating_system_audit: value('FEEDER_AUDIT_DETAILS', { system_id: random.pick(POOL.texts) }),
          }),
        }
      : {}),
  });
}

function randomLink(random: Random): JsonObject {
  return value('LINK', {
    meaning: text(random.pick(POOL.texts)),
    type: text(random.pick(['problem', 'x'])),
    target: value('DV_EHR_URI', { value: 'ehr:/1' }),
  });
}

function randomContent(random: Random, depth: number): JsonObject {
  if (depth > 0 && random.chance(0.3)) {
    const items = random.list(1, 2, () => randomContent(random, depth - 1));
    return section(random.pick(POOL.names), items, random.pick([ARCHETYPES.vitals, ARCHETYPES.repeat]));
  }
  const name = random.pick(POOL.names);
  switch (random.whole(0, 4)) {
    case 0:
    case 1:
      return observation(random, random.pick([ARCHETYPES.bloodPressure, ARCHETYPES.pulse]), name);
    case 2:
      return entry(
        'EVALUATION',
        { nodeId: ARCHETYPES.problem, name },
        {
          data: tree('at0001', randomItems(random, 2)),
          ...(random.chance(0.3) ? { links: [randomLink(random)] } : {}),
        },
      );
    case 3:
      return entry(
        'ADMIN_ENTRY',
        { nodeId: ARCHETYPES.allTypes, name },
        { data: tree('at0001', randomItems(random, 2)) },
      );
    default:
      return instruction(random, name);
  }
}

function instruction(random: Random, name: string): JsonObject {
  const activities = random.list(1, 2, () =>
    value('ACTIVITY', {
      name: text(random.pick(POOL.names)),
      archetype_node_id: 'at0001',
      description: tree('at0002', randomItems(random, 1)),
      action_archetype_id: '/.*/',
    }),
  );
  return entry(
    'INSTRUCTION',
    { nodeId: ARCHETYPES.order, name },
    { narrative: text(random.pick(POOL.texts)), activities },
  );
}

function observation(random: Random, nodeId: string, name: string): JsonObject {
  const events = random.list(0, 3, () => event(random));
  return entry(
    'OBSERVATION',
    { nodeId, name },
    {
      data: history('2021-03-01T08:00:00Z', events),
      protocol: random.chance(0.4) ? tree('at0011', randomItems(random, 1)) : undefined,
    },
  );
}

function event(random: Random): JsonObject {
  const attributes = {
    name: text(random.pick(POOL.names)),
    archetype_node_id: random.pick(['at0006', 'at0006', 'at0007']),
    time: dateTime(random.pick(POOL.times)),
    data: tree('at0003', readings(random)),
    ...(random.chance(0.3) ? { state: tree('at0010', randomItems(random, 0)) } : {}),
  };
  if (random.chance(0.5)) return value('POINT_EVENT', attributes);
  return value('INTERVAL_EVENT', {
    ...attributes,
    width: value('DV_DURATION', { value: random.pick(['PT1H', 'PT30M', 'P1D']) }),
    math_function: random.pick([coded('maximum', 'openehr', '144'), coded('mean', 'openehr', '146')]),
  });
}

function readings(random: Random): JsonObject[] {
  const items: JsonObject[] = [];
  if (random.chance(0.8))
    items.push(element('at0004', 'Systolic', quantity(random.whole(1, 4) * 50, 'mm[Hg]')));
  if (random.chance(0.25)) items.push(nullElement('at0004', 'Systolic'));
  if (random.chance(0.6))
    items.push(element('at0005', 'Diastolic', quantity(random.whole(1, 4) * 25.5, 'mm[Hg]')));
  if (random.chance(0.4)) items.push(element('at0008', random.pick(POOL.names), randomValue(random)));
  if (random.chance(0.3)) items.push(element('at0008', random.pick(POOL.names), randomValue(random)));
  return items;
}

function randomItems(random: Random, depth: number): JsonObject[] {
  return random.list(0, 3, () => {
    const name = random.pick(POOL.names);
    if (depth > 0 && random.chance(0.25))
      return cluster(ARCHETYPES.device, name, randomItems(random, depth - 1));
    if (depth > 0 && random.chance(0.2)) return cluster('at0009', name, randomItems(random, depth - 1));
    if (random.chance(0.15)) return nullElement(random.pick(['at0001', 'at0002', 'at0004']), name);
    const nodeName = random.chance(0.2)
      ? coded(name, random.pick(POOL.terminologies), random.pick(POOL.codes))
      : name;
    return element(random.pick(['at0001', 'at0002', 'at0004']), nodeName, randomValue(random));
  });
}

function randomValue(random: Random): JsonObject {
  const makers: readonly (() => JsonObject)[] = [
    () => text(random.pick(POOL.texts)),
    () => text(random.pick(POOL.texts), { mappings: [mapping(random), mapping(random)] }),
    () => coded(random.pick(POOL.texts), random.pick(POOL.terminologies), random.pick(POOL.codes)),
    () => quantity(random.whole(-2, 5) / 2, 'mg'),
    () => value('DV_COUNT', { magnitude: random.whole(0, 3) }),
    () =>
      value('DV_ORDINAL', {
        value: random.whole(0, 3),
        symbol: coded('x', 'local', random.pick(POOL.codes)),
      }),
    () => value('DV_PROPORTION', { numerator: random.whole(0, 3), denominator: 2, type: 0 }),
    () => value('DV_DURATION', { value: random.pick(POOL.durations) }),
    () => value('DV_DATE', { value: random.pick(POOL.dates) }),
    () => value('DV_TIME', { value: random.pick(POOL.clockTimes) }),
    () => dateTime(random.pick(POOL.times)),
    () => value('DV_BOOLEAN', { value: random.chance(0.5) }),
    () => value('DV_URI', { value: 'https://hill.example/a' }),
    () => value('DV_IDENTIFIER', { id: random.pick(POOL.texts), type: 'x' }),
  ];
  return random.pick(makers)();
}

function mapping(random: Random): JsonObject {
  return value('TERM_MAPPING', { match: '=', target: codePhrase('snomed_ct', random.pick(POOL.codes)) });
}
