import { describe, expect, it } from '@jest/globals';
import type { Json, JsonObject } from '../../../console/src/api/types.js';
import { changesOf, linesOf } from '../../../console/src/record/comparison/changes.js';
import { applied, editOf } from '../../../console/src/record/comparison/edit.js';
import { PLAIN_READER } from '../../../console/src/record/values/plain-reader.js';
import { fixtureJson } from '../../support/fixture.js';
import { draws, seeds } from '../../support/laws.js';
import { Random } from '../../support/random.js';

const clone = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const changes = (before: Json, after: Json) => changesOf(before, after, PLAIN_READER);
const lines = (before: Json, after: Json): string[] =>
  changes(before, after).map(({ kind, label, before: was, after: is, details }) =>
    [kind, label, was ?? '', is ?? '', ...details].join(' | '),
  );

const NAMES = [
  'test_all_types.en.v1',
  'test_all_types.en.v1.feeder-audit',
  'conformance-ehrbase.de.v0.max',
  'nested.en.v1',
  'ehrbase_multi_occurrence.de.v1',
];
const RECORDS = NAMES.map((name) => fixtureJson(`composition/${name}.json`) as JsonObject);

const at = (root: Json, path: readonly (string | number)[]): Json =>
  path.reduce<Json>((value, name) => (value as never)[name], root);
const isLeaf = (value: Json): boolean => typeof value !== 'object' || value === null;

/** Every place of a value that holds something. */
function placesOf(value: Json, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (value === null || typeof value !== 'object') return [path];
  const members: [string | number, Json | undefined][] = Array.isArray(value)
    ? value.map((each, index) => [index, each])
    : Object.entries(value);
  return [path, ...members.flatMap(([name, each]) => placesOf(each ?? null, [...path, name]))];
}

/** The value with something else at a place: a changed leaf, a member taken away, doubled or moved. */
function mutated(root: JsonObject, random: Random): JsonObject {
  const copy = clone(root);
  const places = placesOf(copy).filter((path) => path.length > 0 && path[0] !== 'uid');
  const path = places[Math.floor(random.next() * places.length)]!;
  const holder = at(copy, path.slice(0, -1));
  const last = path.at(-1)!;
  const value = (holder as never)[last] as Json;
  if (Array.isArray(holder)) {
    const [taken] = holder.splice(Number(last), 1);
    if (random.next() < 0.6) holder.splice(Math.floor(random.next() * (holder.length + 1)), 0, clone(taken!));
    if (random.next() < 0.4) holder.unshift(clone(taken!));
  } else if (value !== null && typeof value === 'object') Reflect.deleteProperty(holder as object, last);
  else
    (holder as JsonObject)[last] =
      typeof value === 'number' ? value + 1 : typeof value === 'boolean' ? !value : `${String(value)}x`;
  return copy;
}

describe('the comparison of two versions', () => {
  it('finds every single attribute that differs, wherever it is, and never shows two lines that look the same', () => {
    const leaves = RECORDS.flatMap((record) =>
      placesOf(record)
        .filter((path) => path[0] !== 'uid' && isLeaf(at(record, path)))
        .map((path) => ({ record, path })),
    );
    const step = Math.ceil(leaves.length / draws({ small: 120, full: leaves.length }));
    for (const { record, path } of leaves.filter((_, index) => index % step === 0)) {
      const after = clone(record);
      const holder = at(after, path.slice(0, -1)) as JsonObject;
      const value = at(record, path);
      holder[path.at(-1)!] = typeof value === 'number' ? value + 0.25 : `${JSON.stringify(value)} other`;
      const found = changes(record, after);
      expect([path, found.length > 0]).toEqual([path, true]);
      for (const { kind, before, after: is, details } of found)
        expect([path, kind !== 'changed' || before !== is || details.length > 0]).toEqual([path, true]);
    }
  });

  it('gives the other version when what is shown is applied to the one, and nothing for the same', () => {
    for (const seed of seeds({ small: 30, full: 5000 })) {
      const random = new Random(seed);
      const before = RECORDS[seed % RECORDS.length]!;
      let after = before;
      for (let step = Math.floor(random.next() * 4); step >= 0; step -= 1) after = mutated(after, random);
      const edit = editOf(before, after);
      expect({ seed, value: applied(edit, before) }).toEqual({ seed, value: after });
      const isSame = JSON.stringify(sorted(before)) === JSON.stringify(sorted(after));
      expect({ seed, isSame: edit === null }).toEqual({ seed, isSame });
      if (edit !== null) expect(linesOf(edit, [], PLAIN_READER).length).toBeGreaterThan(0);
      expect(changes(after, clone(after))).toEqual([]);
    }
  });

  it('takes the order of members, and the uid of a version, for no change', () => {
    for (const record of RECORDS) {
      const turned = Object.fromEntries(Object.entries(clone(record)).reverse());
      expect(changes(record, { ...turned, uid: { value: 'other::sys::2' } })).toEqual([]);
    }
  });
});

function sorted(value: Json | undefined): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)]),
  );
}

const named = (value: string) => ({ _type: 'DV_TEXT', value });
const element = (name: string, id: string, value: Json) => ({
  _type: 'ELEMENT',
  archetype_node_id: id,
  name: named(name),
  value,
});
const degrees = (magnitude: number, more = {}) => ({
  _type: 'DV_QUANTITY',
  magnitude,
  units: 'Cel',
  ...more,
});
const reading = (time: string, magnitude: number) => ({
  _type: 'POINT_EVENT',
  archetype_node_id: 'at0003',
  name: named('Reading'),
  time: { _type: 'DV_DATE_TIME', value: `2026-01-05T${time}:00Z` },
  data: {
    _type: 'ITEM_TREE',
    archetype_node_id: 'at0001',
    name: named('Tree'),
    items: [element('Temperature', 'at0004', degrees(magnitude))],
  },
});
const temperature = (...events: Json[]): JsonObject => ({
  _type: 'COMPOSITION',
  archetype_node_id: 'openEHR-EHR-COMPOSITION.a.v1',
  name: named('Ward round'),
  content: [
    {
      _type: 'OBSERVATION',
      archetype_node_id: 'openEHR-EHR-OBSERVATION.t.v1',
      name: named('Body temperature'),
      data: { _type: 'HISTORY', archetype_node_id: 'at0002', name: named('History'), events },
    },
  ],
});

describe('what changed, in words', () => {
  const before = temperature(reading('08:00', 38.2), reading('12:00', 39.3));

  it('is one line for a reading put in front of others', () => {
    const after = temperature(reading('06:00', 36.6), reading('08:00', 38.2), reading('12:00', 39.3));
    expect(lines(before, after)).toEqual([
      'added | Body temperature › Reading 5 Jan 2026, 06:00 UTC |  | 36.6 °C',
    ]);
    expect(lines(after, before)).toEqual([
      'removed | Body temperature › Reading 5 Jan 2026, 06:00 UTC | 36.6 °C | ',
    ]);
  });

  it('finds a reading again by its time when its value was corrected, and by its content when its time was', () => {
    expect(
      lines(before, temperature(reading('06:00', 36.6), reading('08:00', 38.4), reading('12:00', 39.3))),
    ).toEqual([
      'added | Body temperature › Reading 5 Jan 2026, 06:00 UTC |  | 36.6 °C',
      'changed | Body temperature › Reading 5 Jan 2026, 08:00 UTC › Temperature | 38.2 °C | 38.4 °C',
    ]);
    expect(lines(before, temperature(reading('08:30', 38.2), reading('12:00', 39.3)))).toEqual([
      'changed | Body temperature › Reading 5 Jan 2026, 08:00 UTC › time | 5 Jan 2026, 08:00 UTC | 5 Jan 2026, 08:30 UTC',
    ]);
  });

  it('says that only the order changed', () => {
    expect(lines(before, temperature(reading('12:00', 39.3), reading('08:00', 38.2)))).toEqual([
      'moved | Body temperature |  | ',
    ]);
  });

  it('says what no text shows: codes, flags, ranges', () => {
    const flagged = (status: string) =>
      temperature({
        ...reading('08:00', 38.2),
        data: element('Temperature', 'at0004', degrees(38.2, { normal_status: { code_string: status } })),
      });
    expect(lines(flagged('HH'), flagged('LL'))).toEqual([
      'changed | Body temperature › Reading 5 Jan 2026, 08:00 UTC › Temperature | 38.2 °C HH | 38.2 °C LL | normal status › code string: HH → LL',
    ]);
    const dated = (value: string) => temperature(element('Since', 'at9', { _type: 'DV_DATE_TIME', value }));
    expect(lines(dated('20190114T183649Z'), dated('2019-01-14T18:36:49Z'))).toEqual([
      'changed | Body temperature › Since | 14 Jan 2019, 18:36:49 UTC | 14 Jan 2019, 18:36:49 UTC | value: 20190114T183649Z → 2019-01-14T18:36:49Z',
    ]);
  });

  it('finds by its uid what was renamed, moved and changed at once', () => {
    const uid = { value: 'a1' };
    const old = temperature({ ...element('A', 'at1', degrees(1)), uid }, element('B', 'at1', degrees(2)));
    const now = temperature(element('B', 'at1', degrees(2)), { ...element('A new', 'at1', degrees(3)), uid });
    expect(lines(old, now)).toEqual([
      'changed | Body temperature › A › name | A | A new',
      'changed | Body temperature › A | 1 °C | 3 °C',
      'moved | Body temperature |  | ',
    ]);
  });
});
