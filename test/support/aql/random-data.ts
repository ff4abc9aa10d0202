import type { ReferenceData, ReferenceEhr, ReferenceVersion } from '../../../aql/evaluate/data.js';
import type { RootType } from '../../../openehr/rm/root-type.js';
import { formatUtc } from '../../../openehr/base/iso8601.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import {
  cluster,
  coded,
  composition,
  dateTime,
  ehrStatus,
  element,
  entry,
  folder,
  history,
  identified,
  identifier,
  nullElement,
  objectRef,
  participation,
  pointEvent,
  quantity,
  section,
  text,
  tree,
  value,
} from '../hilltop/builders.js';
import { ARCHETYPES } from '../hilltop/compositions.js';
import type { Random } from '../random.js';

/** The system id of random data. */
export const RANDOM_SYSTEM_ID = 'local.cdr';

const NAMES = ['Left', 'Right', 'Systolic', 'a_b', '100%', 'Größe'];
const START = Date.UTC(2021, 0, 1);
const DAY = 86_400_000;

const uuid = (letter: string, number: number): string =>
  `${letter.repeat(8)}-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** A time of few possible ones; equal instants have equal text, so that MIN and MAX have one answer. */
function time(random: Random): string {
  const instant = new Date(START + random.below(40) * DAY + random.below(4) * 3_600_000);
  if (instant.getUTCDate() % 3 > 0) return instant.toISOString().replace('.000', '');
  const local = new Date(instant.getTime() + 2 * 3_600_000);
  return `${local.toISOString().slice(0, 19)}+02:00`;
}

function anyValue(random: Random): JsonObject {
  const number = random.below(6);
  return random.pick([
    () => quantity(number * 30 + 0.5 * random.below(2), 'mm[Hg]'),
    () => value('DV_COUNT', { magnitude: number }),
    () => value('DV_ORDINAL', { value: number, symbol: coded(`grade ${number}`, 'local', `at010${number}`) }),
    () => value('DV_PROPORTION', { numerator: number, denominator: 4, type: 0 }),
    () => value('DV_DURATION', { value: random.pick(['P1D', 'PT12H', 'P1M', '-P2D', 'PT36H']) }),
    () => value('DV_TIME', { value: random.pick(['10:30:00', '08:15', '23:59:59.5']) }),
    () => value('DV_DATE', { value: random.pick(['2020', '2020-02', '2021-01-15']) }),
    () => dateTime(time(random)),
    () => value('DV_BOOLEAN', { value: number > 2 }),
    () => text(random.pick(NAMES)),
    () =>
      coded(random.pick(NAMES), random.pick(['local', 'hill']), random.pick(['A', 'B', 'at0005']), {
        ...(random.chance(0.3)
          ? { mappings: [value('TERM_MAPPING', { match: '=', target: codePhraseOf(random) })] }
          : {}),
      }),
    () => value('DV_URI', { value: `https://hill.example/${number}` }),
  ])();
}

function codePhraseOf(random: Random): JsonObject {
  return value('CODE_PHRASE', {
    terminology_id: value('TERMINOLOGY_ID', { value: 'snomed_ct' }),
    code_string: random.pick(['1', '2', '3']),
  });
}

function nameOf(random: Random): string | JsonObject {
  if (random.chance(0.75)) return random.pick(NAMES);
  return coded(random.pick(NAMES), random.pick(['local', 'snomed_ct']), random.pick(['at0005', '123']));
}

function items(random: Random, depth: number): JsonObject[] {
  return random.list(1, 3, () => {
    const code = random.pick(['at0001', 'at0004', 'at0005']);
    if (random.chance(0.15)) return nullElement(code, random.pick(NAMES));
    if (depth > 0 && random.chance(0.25))
      return cluster(random.pick(['at0004', 'at0009']), nameOf(random), items(random, depth - 1));
    if (depth > 0 && random.chance(0.15)) return device(random, depth - 1);
    return element(
      code,
      nameOf(random),
      random.chance(0.6) ? quantity(60 + 10 * random.below(13), 'mm[Hg]') : anyValue(random),
    );
  });
}

function device(random: Random, depth: number): JsonObject {
  return cluster(ARCHETYPES.device, random.pick(NAMES), items(random, depth));
}

function observation(random: Random): JsonObject {
  const nodeId = random.pick([ARCHETYPES.bloodPressure, ARCHETYPES.bloodPressure, ARCHETYPES.pulse]);
  const events = random.list(1, 3, () => event(random));
  return entry(
    'OBSERVATION',
    { nodeId, name: random.pick(NAMES) },
    {
      data: history(time(random), events),
      protocol: random.chance(0.4)
        ? tree(
            'at0011',
            random.list(1, 2, () => device(random, 1)),
          )
        : undefined,
    },
  );
}

/** An event at a moment or over an interval: only the latter has a width and a function. */
function event(random: Random): JsonObject {
  const point = pointEvent(random.pick(['at0006', 'at0006', 'at0007']), time(random), items(random, 1));
  if (random.chance(0.6)) return point;
  return value('INTERVAL_EVENT', {
    ...point,
    _type: 'INTERVAL_EVENT',
    width: value('DV_DURATION', { value: random.pick(['PT1H', 'PT30M']) }),
    math_function: coded('maximum', 'openehr', '144'),
  });
}

function contentItem(random: Random, depth: number): JsonObject {
  if (depth > 0 && random.chance(0.35)) {
    const nodeId = random.pick([ARCHETYPES.vitals, ARCHETYPES.repeat]);
    return section(
      random.pick(NAMES),
      random.list(1, 2, () => contentItem(random, depth - 1)),
      nodeId,
    );
  }
  if (random.chance(0.6)) return observation(random);
  const [type, nodeId] = random.pick([
    ['EVALUATION', ARCHETYPES.problem],
    ['ADMIN_ENTRY', ARCHETYPES.allTypes],
  ] as const);
  return entry(type, { nodeId, name: random.pick(NAMES) }, { data: tree('at0001', items(random, 2)) });
}

function randomComposition(random: Random): JsonObject {
  const isLinked = random.chance(0.3);
  return composition({
    archetypeId: random.pick([ARCHETYPES.encounter, ARCHETYPES.encounter, ARCHETYPES.report]),
    templateId: random.pick(['hill.vitals.v1', 'hill.report.v1']),
    name: random.pick(NAMES),
    composer: random.pick(['Dr Vera', 'Dr Wu', 'Dr Xu']),
    startTime: time(random),
    content: random.list(1, 3, () => contentItem(random, 2)),
    ...(isLinked
      ? {
          links: random.list(1, 2, () =>
            value('LINK', {
              meaning: text(random.pick(NAMES)),
              type: text(random.pick(['problem', 'order'])),
              target: value('DV_EHR_URI', { value: 'ehr:/hill/1' }),
            }),
          ),
        }
      : {}),
    ...(random.chance(0.4)
      ? {
          participations: random.list(1, 2, () =>
            participation(
              random.pick(['nurse', 'witness']),
              random.pick(['Nina', 'Walt']),
              random.list(0, 2, () => random.pick(['N-1', 'W-1'])),
            ),
          ),
        }
      : {}),
  });
}

function randomFolder(random: Random, versionedObjectUids: readonly string[], depth: number): JsonObject {
  const reference = (): JsonObject => {
    const id =
      versionedObjectUids.length > 0 && random.chance(0.9) ? random.pick(versionedObjectUids) : uuid('f', 9);
    return random.chance(0.7)
      ? objectRef('HIER_OBJECT_ID', id, 'VERSIONED_COMPOSITION')
      : objectRef('OBJECT_VERSION_ID', `${id}::${RANDOM_SYSTEM_ID}::1`, 'COMPOSITION');
  };
  return folder(random.pick(NAMES), {
    ...(random.chance(0.7) ? { items: random.list(1, 3, reference) } : {}),
    ...(depth > 0 && random.chance(0.7)
      ? { folders: random.list(1, 2, () => randomFolder(random, versionedObjectUids, depth - 1)) }
      : {}),
    ...(random.chance(0.2) ? { details: tree('at0001', items(random, 0)) } : {}),
  });
}

/** Collects versions with ids and ever later times. */
class History {
  readonly versions: ReferenceVersion[] = [];
  private clock = START;
  private objects = 0;

  newObject(): string {
    this.objects++;
    return uuid('c', this.objects);
  }

  commit(ehrId: string, versionedObjectUid: string, type: RootType, data: JsonObject | null): void {
    this.clock += 3_600_000;
    const number = this.versions.filter(({ uid }) => uid.startsWith(versionedObjectUid)).length + 1;
    const uidOf = (version: number): string => `${versionedObjectUid}::${RANDOM_SYSTEM_ID}::${version}`;
    const timeCommitted = new Date(this.clock);
    const change = data === null ? '523' : number === 1 ? '249' : '251';
    const lifecycle = data === null ? '523' : '532';
    this.versions.push({
      uid: uidOf(number),
      ehrId,
      type,
      timeCommitted,
      commitAudit: value('AUDIT_DETAILS', {
        system_id: RANDOM_SYSTEM_ID,
        committer: identified('Random', [identifier('R-1')]),
        time_committed: dateTime(formatUtc(timeCommitted)),
        change_type: coded(`change ${change}`, 'openehr', change),
      }),
      lifecycleState: coded(`state ${lifecycle}`, 'openehr', lifecycle),
      contributionUid: uuid('b', this.versions.length + 1),
      precedingVersionUid: number === 1 ? null : uidOf(number - 1),
      data: data === null ? null : { ...data, uid: { _type: 'OBJECT_VERSION_ID', value: uidOf(number) } },
    });
  }
}

/** Random EHRs over the Hilltop archetypes: `size` is roughly the number of EHRs. */
export function randomData(random: Random, size: number): ReferenceData {
  const record = new History();
  const ehrs: ReferenceEhr[] = [];
  for (let number = 1; number <= size; number++) {
    const ehrId = uuid('e', number);
    const isQueryable = !random.chance(0.1);
    const otherDetails = random.chance(0.5) ? tree('at0000', items(random, 1)) : undefined;
    ehrs.push({ ehrId, systemId: RANDOM_SYSTEM_ID, timeCreated: new Date(START), isQueryable });
    record.commit(
      ehrId,
      record.newObject(),
      'EHR_STATUS',
      ehrStatus({ isQueryable, ...(otherDetails === undefined ? {} : { otherDetails }) }),
    );
    const versionedObjectUids = random.list(0, 3, () => record.newObject());
    for (const versionedObjectUid of versionedObjectUids) {
      record.commit(ehrId, versionedObjectUid, 'COMPOSITION', randomComposition(random));
      if (random.chance(0.3))
        record.commit(ehrId, versionedObjectUid, 'COMPOSITION', randomComposition(random));
      if (random.chance(0.15)) record.commit(ehrId, versionedObjectUid, 'COMPOSITION', null);
    }
    if (random.chance(0.5))
      record.commit(ehrId, record.newObject(), 'FOLDER', randomFolder(random, versionedObjectUids, 2));
  }
  return { ehrs, versions: record.versions };
}
