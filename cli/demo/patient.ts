import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject, jsonObjectOf, type JsonValue } from '../../openehr/base/json.js';

/** One made-up patient: where the pressure starts and where it goes. Pressures in mm[Hg]. */
interface Patient {
  readonly systolic: number;
  readonly diastolic: number;
  readonly driftPerDay: number;
  readonly firstDay: number;
}

/** Code and rubric of the template. */
type CodedLabel = readonly [string, string];

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 0, 5, 7, 0, 0);
const CUFF_SIZES: readonly [CodedLabel, ...CodedLabel[]] = [
  ['at0015', 'Adult'],
  ['at0016', 'Large Adult'],
];

const bloodPressure = realComposition('ehrbase_blood_pressure_simple.de.v0');
const screening = realComposition('Corona_Anamnese');
const observations = realComposition('ehrbase_multi_occurrence.de.v1');

/**
 * The compositions of one made-up patient, oldest first: mostly blood pressures that follow a trend over
 * several days, now and then a screening (temperature as a point or as an interval event) or a third template.
 */
export function compositionsOfPatient(random: Random, count: number): JsonObject[] {
  const patient: Patient = {
    systolic: Math.round(128 + random.bell(15)),
    diastolic: Math.round(80 + random.bell(9)),
    driftPerDay: random.bell(0.35),
    firstDay: random.integer(0, 60),
  };
  return Array.from({ length: count }, (_, index) => compositionOf(patient, index, random));
}

function compositionOf(patient: Patient, index: number, random: Random): JsonObject {
  const day = patient.firstDay + index * 2 + random.integer(0, 1);
  const time = new Date(FIRST_DAY + day * DAY_MS + random.integer(0, 600) * 60_000);
  const kind: DemoTemplate =
    index % 10 === 4
      ? 'Corona_Anamnese'
      : index % 10 === 8
        ? 'ehrbase_multi_occurrence.de.v1'
        : 'ehrbase_blood_pressure_simple.de.v0';
  switch (kind) {
    case 'Corona_Anamnese':
      return screeningAt(time, random);
    case 'ehrbase_multi_occurrence.de.v1':
      return atTime(observations, time);
    case 'ehrbase_blood_pressure_simple.de.v0':
      return bloodPressureAt(patient, day - patient.firstDay, time, random);
  }
}

function bloodPressureAt(patient: Patient, day: number, time: Date, random: Random): JsonObject {
  const systolic = clamp(Math.round(patient.systolic + patient.driftPerDay * day + random.bell(7)), 70, 260);
  const diastolic = clamp(Math.round(patient.diastolic + random.bell(4)), 40, systolic - 15);
  const composition = atTime(bloodPressure, time);
  const values: Record<string, number> = {
    at0004: systolic,
    at0005: diastolic,
    at1006: Math.round((systolic + 2 * diastolic) / 3),
    at1007: systolic - diastolic,
  };
  const [code, label] = random.pick(CUFF_SIZES);
  visit(composition, (node) => {
    const value = node.value;
    if (node._type !== 'ELEMENT' || typeof node.archetype_node_id !== 'string' || !isJsonObject(value))
      return;
    const magnitude = values[node.archetype_node_id];
    if (magnitude !== undefined) value.magnitude = magnitude;
    if (node.archetype_node_id === 'at0013' && isJsonObject(value.defining_code)) {
      value.value = label;
      value.defining_code.code_string = code;
    }
  });
  return composition;
}

/** Temperature either at one moment or, as an INTERVAL_EVENT, the maximum of a day. */
function screeningAt(time: Date, random: Random): JsonObject {
  const composition = atTime(screening, time);
  const temperature = Math.round(clamp(36.9 + Math.abs(random.bell(0.9)), 35.5, 41) * 10) / 10;
  const overTheDay = random.next() < 0.4;
  visit(composition, (node) => {
    if (node.archetype_node_id !== 'openEHR-EHR-OBSERVATION.body_temperature.v2') return;
    visit(node, (part) => {
      if (part._type === 'DV_QUANTITY') part.magnitude = temperature;
      if (part._type === 'POINT_EVENT' && overTheDay) Object.assign(part, maximumOfADay());
    });
  });
  return composition;
}

function maximumOfADay(): JsonObject {
  return {
    _type: 'INTERVAL_EVENT',
    width: { _type: 'DV_DURATION', value: 'P1D' },
    math_function: {
      _type: 'DV_CODED_TEXT',
      value: 'maximum',
      defining_code: {
        _type: 'CODE_PHRASE',
        terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
        code_string: '144',
      },
    },
  };
}

/** A copy of a real composition whose every date and time is the given moment, in UTC. */
function atTime(source: JsonObject, time: Date): JsonObject {
  const composition = structuredClone(source);
  const text = time.toISOString();
  visit(composition, (node) => {
    for (const name of ['start_time', 'end_time', 'origin', 'time']) {
      const value = node[name];
      if (value !== undefined && isJsonObject(value) && typeof value.value === 'string') value.value = text;
    }
  });
  return composition;
}

function visit(value: JsonValue, act: (node: JsonObject) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, act);
  else if (isJsonObject(value)) {
    act(value);
    for (const item of Object.values(value)) visit(item, act);
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

/** Real templates that the demo uploads, by the base name of their files. */
export const DEMO_TEMPLATES = [
  'ehrbase_blood_pressure_simple.de.v0',
  'Corona_Anamnese',
  'ehrbase_multi_occurrence.de.v1',
] as const;

/** Name of one of the real templates. */
type DemoTemplate = (typeof DEMO_TEMPLATES)[number];

/** The OPT of a template, XML text. */
export function templateText(name: DemoTemplate): string {
  return dataFile(`${name}.opt`);
}

/** The real canonical composition of a template, without the uid of the system it came from. */
export function realComposition(name: DemoTemplate): JsonObject {
  const composition = jsonObjectOf(dataFile(`${name}.json`));
  delete composition.uid;
  return composition;
}

function dataFile(name: string): string {
  return readFileSync(new URL(`./data/${name}`, import.meta.url), 'utf8');
}

/** Numbers that look random and are the same for the same seed. */
interface Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** A whole number from `low` to `high`, both inclusive. */
  integer(low: number, high: number): number;
  /** Bell-shaped around 0 with the given standard deviation. */
  bell(deviation: number): number;
  pick<T>(values: readonly [T, ...T[]]): T;
}

/** A generator (mulberry32) for data that is made up, never for ids or secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    integer,
    bell: (deviation) => (next() + next() + next() + next() - 2) * Math.sqrt(3) * deviation,
    pick: (values) => values[integer(0, values.length - 1)] ?? values[0],
  };
}
