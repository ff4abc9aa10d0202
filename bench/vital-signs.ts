import type { ReferenceData, ReferenceEhr, ReferenceVersion } from '../aql/evaluate/data.js';
import { formatUtc } from '../openehr/base/iso8601.js';
import type { JsonObject } from '../openehr/base/json.js';
import {
  cluster,
  coded,
  composition,
  ehrStatus,
  element,
  entry,
  history,
  identified,
  pointEvent,
  quantity,
  section,
  text,
  tree,
  value,
} from '../test/support/hilltop/builders.js';
import { ARCHETYPES } from '../test/support/hilltop/compositions.js';

/** How much data is made; the same seed gives the same data. */
export interface VitalSignsPlan {
  readonly ehrs: number;
  readonly compositionsPerEhr: number;
  readonly seed: number;
  /** Number of the first EHR; data of different numbers can stand beside each other. */
  readonly firstEhr?: number;
}

/** The system id of the made-up versions. */
export const BENCH_SYSTEM_ID = 'bench.everchart';

/** Vital signs of many patients: blood pressures, pulses, temperatures, weights, some devices and sections. */
export function vitalSigns({ ehrs, compositionsPerEhr, seed, firstEhr = 0 }: VitalSignsPlan): ReferenceData {
  const random = seeded(seed);
  const all: ReferenceEhr[] = [];
  const versions: ReferenceVersion[] = [];
  for (let e = firstEhr; e < firstEhr + ehrs; e++) {
    const ehrId = uuid('e0', e);
    const created = new Date(Date.UTC(2024, 0, 1) + e * 60_000);
    all.push({ ehrId, systemId: BENCH_SYSTEM_ID, timeCreated: created, isQueryable: true });
    const status = ehrStatus({ subjectId: `P-${e}`, isQueryable: true });
    versions.push(
      version({ ehrId, versionedObjectUid: uuid('a0', e), type: 'EHR_STATUS', time: created, data: status }),
    );
    for (let c = 0; c < compositionsPerEhr; c++) {
      const time = new Date(created.getTime() + (c + 1) * 86_400_000 + Math.floor(random() * 3_600_000));
      const versionedObjectUid = uuid('c0', e * compositionsPerEhr + c);
      versions.push(
        version({ ehrId, versionedObjectUid, type: 'COMPOSITION', time, data: encounter(time, random) }),
      );
    }
  }
  return { ehrs: all, versions };
}

/** A laboratory report with many values in one OBSERVATION. */
export function laboratoryReport(values: number, time: Date, random: () => number): JsonObject {
  const results = Array.from({ length: values }, (_, i) =>
    cluster(`openEHR-EHR-CLUSTER.laboratory_test_analyte.v1`, `Analyte ${i}`, [
      element('at0024', 'Analyte name', coded(`Analyte ${i}`, 'LOINC', `${1000 + i}-1`)),
      element('at0001', 'Result', quantity(Math.round(random() * 10_000) / 100, 'mmol/l')),
      element('at0028', 'Specimen', text('Venous blood')),
    ]),
  );
  const at = time.toISOString();
  const data = history(at, [pointEvent('at0002', at, results)]);
  const test = entry(
    'OBSERVATION',
    { nodeId: 'openEHR-EHR-OBSERVATION.laboratory_test_result.v1', name: 'Laboratory' },
    { data },
  );
  return composition({
    archetypeId: ARCHETYPES.report,
    templateId: 'bench.laboratory.v1',
    name: 'Laboratory report',
    composer: 'Dr Lab',
    startTime: at,
    content: [test],
  });
}

/** Numbers from 0 to 1 that depend on the seed alone. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function encounter(time: Date, random: () => number): JsonObject {
  const at = time.toISOString();
  const later = (minutes: number): string => new Date(time.getTime() + minutes * 60_000).toISOString();
  const content: JsonObject[] = [
    simple('openEHR-EHR-OBSERVATION.body_temperature.v2', 'Temperature', [at, 36 + random() * 3, 'Cel']),
    simple(ARCHETYPES.pulse, 'Pulse', [at, Math.round(50 + random() * 70), '/min']),
    simple('openEHR-EHR-OBSERVATION.respiration.v2', 'Respiration', [
      at,
      Math.round(10 + random() * 15),
      '/min',
    ]),
  ];
  if (random() < 0.6)
    content.push(simple('openEHR-EHR-OBSERVATION.body_weight.v2', 'Weight', [at, 50 + random() * 60, 'kg']));
  if (random() < 0.48) {
    const times = random() < 0.2 ? [at, later(10), later(20)] : [at];
    content.push(bloodPressure(times, random));
  }
  const inSection = random() < 0.5;
  return composition({
    archetypeId: ARCHETYPES.encounter,
    templateId: 'bench.vital_signs.v1',
    name: 'Vital signs',
    composer: `Dr ${Math.floor(random() * 50)}`,
    startTime: at,
    content: inSection ? [section('Vitals', content, ARCHETYPES.vitals)] : content,
  });
}

function bloodPressure(times: readonly string[], random: () => number): JsonObject {
  const events = times.map((time) => {
    // Most people are near 125, very few above 175.
    const spread = (random() + random() + random() + random() - 2) * 28;
    const systolic = Math.round(125 + spread + (random() < 0.02 ? 35 : 0));
    return pointEvent('at0006', time, [
      element('at0004', 'Systolic', quantity(systolic, 'mm[Hg]')),
      element('at0005', 'Diastolic', quantity(Math.round(systolic * 0.62), 'mm[Hg]')),
      element('at0033', 'Comment', text('Measured at rest, after five minutes of sitting')),
    ]);
  });
  const device = cluster(ARCHETYPES.device, 'Device', [element('at0001', 'Device name', text('Cuff 3'))]);
  return entry(
    'OBSERVATION',
    { nodeId: ARCHETYPES.bloodPressure, name: 'Blood pressure' },
    {
      data: history(times[0] ?? '', events),
      protocol: tree('at0011', [
        element('at0014', 'Location', coded('Right arm', 'local', 'at0025')),
        ...(random() < 0.02 ? [device] : []),
      ]),
    },
  );
}

function simple(
  nodeId: string,
  name: string,
  [time, magnitude, unit]: readonly [string, number, string],
): JsonObject {
  const rounded = Math.round(magnitude * 10) / 10;
  const event = pointEvent('at0006', time, [
    element('at0004', name, quantity(rounded, unit)),
    element('at0005', 'Comment', text('No complaints, resting, room temperature')),
  ]);
  return entry(
    'OBSERVATION',
    { nodeId, name },
    {
      data: history(time, [event]),
      provider: identified('Ward 3'),
      protocol: tree('at0011', [element('at0014', 'Method', text('Automatic measurement'))]),
    },
  );
}

function version(parts: {
  readonly ehrId: string;
  readonly versionedObjectUid: string;
  readonly type: 'COMPOSITION' | 'EHR_STATUS';
  readonly time: Date;
  readonly data: JsonObject;
}): ReferenceVersion {
  const uid = `${parts.versionedObjectUid}::${BENCH_SYSTEM_ID}::1`;
  return {
    uid,
    ehrId: parts.ehrId,
    type: parts.type,
    timeCommitted: parts.time,
    commitAudit: value('AUDIT_DETAILS', {
      system_id: BENCH_SYSTEM_ID,
      committer: identified('Bench'),
      time_committed: value('DV_DATE_TIME', { value: formatUtc(parts.time) }),
      change_type: coded('creation', 'openehr', '249'),
    }),
    lifecycleState: coded('complete', 'openehr', '532'),
    contributionUid: parts.versionedObjectUid.replace(/^../, 'b0'),
    precedingVersionUid: null,
    data: { ...parts.data, uid: { _type: 'OBJECT_VERSION_ID', value: uid } },
  };
}

function uuid(prefix: string, number: number): string {
  return `${prefix}000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
}
