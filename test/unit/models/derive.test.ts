import { describe, expect, it } from '@jest/globals';
import { wholeObject } from '../../../aql/result/result-set.js';
import type { JsonObject, JsonValue } from '../../../openehr/base/json.js';
import { deriveAqlDocument, type DerivationInput } from '../../../aql/index/derive.js';
import { NO_START } from '../../../aql/index/document.js';
import { HILLTOP, versionUid } from '../../support/hilltop/hilltop.js';
import { fixtureJson, fixtureNames } from '../../support/fixture.js';
import { ARCHETYPES } from '../../support/hilltop/compositions.js';

const files = fixtureNames('composition').filter((name) => !name.includes('invalid'));

const input: DerivationInput = {
  versionUid: 'cccccccc-0000-4000-8000-000000000001::local.cdr::1',
  ehrId: 'eeeeeeee-0000-4000-8000-000000000001',
  versionedObjectUid: 'cccccccc-0000-4000-8000-000000000001',
  version: 1,
  type: 'COMPOSITION',
  timeCommitted: new Date('2021-03-01T09:00:00Z'),
  contributionUid: 'bbbbbbbb-0000-4000-8000-000000000001',
  changeType: '249',
  lifecycleState: '532',
  isQueryable: true,
  leafIndex: 'all',
};

function dataOf(uid: string): JsonObject {
  const data = HILLTOP.versions.find((version) => version.uid === uid)?.data;
  if (data === undefined || data === null) throw new Error(`${uid} has no data`);
  return data;
}

describe('deriveAqlDocument', () => {
  it.each(files)('gives segments that make %s whole again', (name) => {
    const canonical = fixtureJson(`composition/${name}`);
    const { document } = deriveAqlDocument(input, canonical);
    const [root] = document.segs;
    expect(wholeObject(root?.o ?? null, document.segs)).toEqual(canonical);
  });

  it('cuts the tree at archetypes and numbers the segments depth first', () => {
    const { document } = deriveAqlDocument(input, dataOf(versionUid('C1', 1)));
    expect(document.segs.map(({ s, e, p, a, t, nm }) => [s, e, p, a, t, nm])).toEqual([
      [0, 6, -1, null, 'COMPOSITION', 'Vitals of H-1'],
      [1, 6, 0, 'content', 'SECTION', 'Vitals'],
      [2, 4, 1, 'items', 'OBSERVATION', 'Blood pressure'],
      [3, 4, 2, 'items', 'CLUSTER', 'Cuff A'],
      [4, 4, 3, 'items', 'CLUSTER', 'Sensor'],
      [5, 6, 1, 'items', 'SECTION', 'Repeat'],
      [6, 6, 5, 'items', 'OBSERVATION', 'Pulse'],
    ]);
    expect(document.segs[1]?.o['items']).toEqual([
      { seg: 2, archetype_node_id: ARCHETYPES.bloodPressure },
      { seg: 5, archetype_node_id: ARCHETYPES.repeat },
    ]);
  });

  it('keeps classes, archetypes and the template as keys', () => {
    const { document } = deriveAqlDocument(input, dataOf(versionUid('C1', 1)));
    expect(document.keys).toEqual(
      expect.arrayContaining([
        'COMPOSITION',
        'ELEMENT',
        'EVENT_CONTEXT',
        ARCHETYPES.device,
        'template:hill.vitals.v1',
      ]),
    );
    expect(new Set(document.keys).size).toBe(document.keys.length);
    expect(document.keys).not.toContain('at0004');
  });

  it('lets COMPOSITIONs without start time stand after all others', () => {
    const { context, ...persistent } = dataOf(versionUid('C2', 2));
    expect(context).toBeDefined();
    const started = deriveAqlDocument(input, { ...persistent, context: context ?? null });
    expect(started.document.start).toEqual(new Date('2021-03-02T09:30:00Z'));
    expect(deriveAqlDocument(input, persistent).document.start).toEqual(NO_START);
  });

  it('gives a typed leaf per value, event time and context time', () => {
    const { document } = deriveAqlDocument(input, dataOf(versionUid('C2', 2)));
    const systolic = '/data[at0001]/events[at0006]/data[at0003]/items[at0004]';
    expect(document.lv).toEqual(
      expect.arrayContaining([
        { k: `${ARCHETYPES.encounter}|/context/start_time|t`, v: Date.parse('2021-03-02T09:30:00Z') },
        {
          k: `${ARCHETYPES.bloodPressure}|/data[at0001]/events[at0006]/time|t`,
          v: Date.parse('2021-03-02T09:30:00Z'),
        },
        { k: `${ARCHETYPES.bloodPressure}|${systolic}|m`, v: 138 },
      ]),
    );
  });

  it('types the leaves of every kind of value', () => {
    const { document } = deriveAqlDocument(input, dataOf(versionUid('C3', 1)));
    const leaves = document.lv.map(({ k, v }) => [k.slice(k.indexOf('items[') + 6).replace(']', ''), v]);
    expect(leaves).toEqual(
      expect.arrayContaining([
        ['at0002|m', 2],
        ['at0003|m', 7],
        ['at0004|m', 0.25],
        ['at0005|p', 93_600],
        ['at0006|h', 37_800],
        ['at0007|d', Date.UTC(2020, 0, 1) / 86_400_000],
        ['at0008|t', Date.UTC(2020, 1, 1)],
        ['at0009|b', true],
        ['at0010|s', 'https://hill.example/a'],
        ['at0012|s', 'Headache'],
        ['at0012|c', 'at0100'],
      ]),
    );
  });

  it('leaves long texts and, when asked to, texts at all out of the leaves', () => {
    const long = structuredClone(dataOf(versionUid('C3', 1)));
    const text = JSON.stringify(long).replace('"percent"', JSON.stringify('x'.repeat(201)));
    const all = deriveAqlDocument(input, JSON.parse(text) as JsonObject).document.lv;
    expect(all.some(({ v }) => typeof v === 'string' && v.startsWith('xxx'))).toBe(false);
    const numeric = deriveAqlDocument({ ...input, leafIndex: 'numeric' }, long).document.lv;
    expect(numeric.every(({ v }) => typeof v === 'number')).toBe(true);
    expect(deriveAqlDocument({ ...input, leafIndex: 'none' }, long).document.lv).toEqual([]);
  });

  it('gives every ordered value its magnitude, which is never shown', () => {
    const { document } = deriveAqlDocument(input, dataOf(versionUid('C2', 2)));
    const magnitudes: JsonValue[] = [];
    const visit = (value: JsonValue | undefined): void => {
      if (Array.isArray(value)) value.forEach(visit);
      else if (typeof value === 'object' && value !== null) {
        if (value['_m'] !== undefined) magnitudes.push(value['_m']);
        Object.values(value).forEach(visit);
      }
    };
    document.segs.forEach(({ o }) => visit(o));
    expect(magnitudes).toEqual(expect.arrayContaining([138, 88, Date.parse('2021-03-02T09:30:00Z')]));
    expect(JSON.stringify(wholeObject(document.segs[0]?.o ?? null, document.segs))).not.toContain('"_m"');
  });

  it('names the places of inner nodes and of cut off segments as shapes', () => {
    const { shapes } = deriveAqlDocument(input, dataOf(versionUid('C1', 1)));
    expect(shapes).toEqual(
      expect.arrayContaining([
        `${ARCHETYPES.encounter}|EVENT_CONTEXT|context`,
        `${ARCHETYPES.bloodPressure}|HISTORY|data`,
        `${ARCHETYPES.bloodPressure}|ELEMENT|data.events.data.items`,
        `${ARCHETYPES.bloodPressure}|*|protocol.items`,
        `${ARCHETYPES.device}|*|items`,
      ]),
    );
    expect(new Set(shapes).size).toBe(shapes.length);
  });

  it('collects the references of a directory at any depth', () => {
    const directory = HILLTOP.versions.find(({ type }) => type === 'FOLDER');
    const { document } = deriveAqlDocument({ ...input, type: 'FOLDER' }, directory?.data ?? {});
    expect([...(document.refs ?? [])].sort()).toEqual([
      'cccccccc-0000-4000-8000-000000000001',
      'cccccccc-0000-4000-8000-000000000002',
    ]);
    expect(document.segs).toHaveLength(4);
  });

  it('makes equal objects equal in MongoDB: attributes are in one order', () => {
    const canonical = dataOf(versionUid('C2', 2));
    const turned = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return value.map(turned);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, member]) => [name, turned(member)]),
      );
    };
    const one = deriveAqlDocument(input, canonical).document.segs.map(({ o }) => o);
    const other = deriveAqlDocument(input, turned(canonical) as JsonObject).document.segs;
    const byName = new Map(other.map(({ nm, o }) => [nm, JSON.stringify(o)]));
    expect(JSON.stringify(one[1])).toBe(byName.get('Blood pressure'));
  });

  it('does not change what it is given', () => {
    const canonical = dataOf(versionUid('C3', 1));
    const before = JSON.stringify(canonical);
    deriveAqlDocument(input, canonical);
    expect(JSON.stringify(canonical)).toBe(before);
  });
});
