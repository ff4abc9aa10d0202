import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { WebTemplate } from '../../../packages/client/src/definitions.js';
import { durationOf, partsOfDuration } from '../../../console/src/form/duration.js';
import { contentOf, emptyForm, placeFindings } from '../../../console/src/form/form-content.js';
import { keysBeside, kindOf, placesOf } from '../../../console/src/form/form-tree.js';
import { isComplete, layoutOf } from '../../../console/src/form/form-layout.js';
import { breachOf } from '../../../console/src/form/part-check.js';
import { changeOf, keyOf, partsOf, type FormPart } from '../../../console/src/form/parts.js';
import { unknownContent } from '../../../console/src/form/unknown-content.js';
import { isGiven, withoutOccurrence, withValues, type FlatValues } from '../../../console/src/form/values.js';
import type { Json } from '../../../console/src/api/types.js';
import { readFlat } from '../../../openehr/format/flat/read.js';
import { writeFlat } from '../../../openehr/format/flat/write.js';
import { exampleComposition } from '../../../openehr/template/example/example.js';
import { compileTemplate } from '../../../openehr/template/compile.js';
import { fixtureText } from '../../support/fixture.js';

const NAMES = readdirSync(new URL('../../fixtures/openehr/opt/', import.meta.url))
  .filter((name) => name.endsWith('.opt'))
  .map((name) => name.replace(/\.opt$/, ''));

function compiled(name: string) {
  const template = compileTemplate(fixtureText(`opt/${name}.opt`));
  const web = JSON.parse(String(template.webTemplateText)) as WebTemplate;
  const example = exampleComposition(template, { type: 'input', detailLevel: 'complete' });
  return { template, web, example, flat: writeFlat(example, template) as FlatValues };
}

describe.each(NAMES)('the form of %s', (name) => {
  const { template, web, example, flat } = compiled(name);

  it('shows every value of the complete example, and sends what it was given', () => {
    // Names of sections and a step without a list, which the form lists at its end.
    const beside = keysBeside(web, flat).filter((key) => !/\/_name$|careflow_step\|/.test(key));
    expect(beside).toEqual([]);
    expect(contentOf(web, flat)).toEqual(flat);
  });

  it('knows at which of its places something is given', () => {
    const keys = Object.keys(flat);
    for (const path of placesOf(web, flat).keys()) {
      const below = keys.filter(
        (key) => key === path || key.startsWith(`${path}/`) || key.startsWith(`${path}|`),
      );
      expect([path, isGiven(flat, path)]).toEqual([path, below.length > 0]);
    }
  });

  it('knows what FLAT would lose, and nothing else', () => {
    const kept = readFlat({ ...flat }, template, { now: new Date(0) });
    const elements = (value: unknown): number => JSON.stringify(value).split('"ELEMENT"').length;
    expect(unknownContent(web, kept as Json)).toEqual([]);
    expect(unknownContent(web, example as Json).length > 0).toBe(elements(kept) < elements(example));
  });

  it('folds nothing away for good: each node stands first or aside, once, and what is required stands first', () => {
    for (const [path, node] of placesOf(web, flat)) {
      const { first, aside } = layoutOf(node);
      const shown = (node.children ?? []).filter((child) => kindOf(child) !== 'hidden');
      expect([path, new Set([...first, ...aside])]).toEqual([path, new Set(shown)]);
      expect([path, first.length + aside.length]).toEqual([path, shown.length]);
      const required = aside.filter(
        ({ min, inContext, id }) => min > 0 && inContext !== true && id !== 'offset',
      );
      if (node.rmType !== 'COMPOSITION') expect([path, required.map(({ id }) => id)]).toEqual([path, []]);
    }
    // What is around a whole document lacks nothing.
    for (const child of layoutOf(web.tree).aside)
      expect([child.id, isComplete(flat, `${web.tree.id}/${child.id}`, child)]).toEqual([child.id, true]);
  });

  it('says the same when every field is filled in anew from what it shows', () => {
    let values = flat;
    for (const [path, node] of placesOf(web, flat)) {
      if (kindOf(node) !== 'field') continue;
      for (const part of partsOf(node, 'en')) {
        const value = flat[keyOf(path, part.suffix)];
        if (value !== undefined) values = withValues(values, changeOf(path, part, value));
      }
    }
    const now = { now: new Date(0) };
    expect(writeFlat(readFlat({ ...values }, template, now), template)).toEqual(flat);
  });
});

describe('a form', () => {
  const { web } = compiled('test_all_types.en.v1');
  const count = 'test_all_types/test_all_types2:0/interval_count';

  it('begins with what was found: when, where and how are behind it', () => {
    const { web: pressure } = compiled('ehrbase_blood_pressure_simple.de.v0');
    const ids = (nodes: readonly { readonly id: string }[]) => nodes.map(({ id }) => id);
    const { first, aside } = layoutOf(pressure.tree);
    expect(ids(first)).toEqual(['blood_pressure_training_sample']);
    expect(ids(aside)).toEqual(['context', 'composer', 'territory']);
    const reading = layoutOf(first[0]!);
    expect(ids(reading.first).slice(0, 2)).toEqual(['systolic', 'diastolic']);
    // Required, though it is of the state.
    expect(ids(reading.first)).toContain('position');
    expect(ids(reading.aside)).toEqual([
      'offset',
      'tilt',
      'time',
      'cuff_size',
      'location_of_measurement',
      'korotkoff_sounds',
    ]);
    const root = pressure.tree.id;
    const context = pressure.tree.children!.find(({ id }) => id === 'composer')!;
    expect(isComplete({}, `${root}/composer`, context)).toBe(false);
    expect(isComplete({ [`${root}/composer|name`]: 'Ada' }, `${root}/composer`, context)).toBe(true);
  });

  it('sees what breaks a range or is no such time, before the server is asked', () => {
    const number: FormPart = {
      suffix: '',
      input: 'number',
      range: { min: 0, minOp: '>=', max: 1000, maxOp: '<' },
    };
    expect([-0.1, 0, 999.9, 1000].map((value) => breachOf(number, value))).toEqual([
      'range',
      null,
      null,
      'range',
    ]);
    expect(breachOf({ suffix: '', input: 'integer', range: { min: 5, minOp: '>' } }, 5)).toBe('range');
    expect(breachOf({ suffix: '', input: 'number' }, 1e9)).toBeNull();
    expect(breachOf(number, undefined)).toBeNull();
    const time = (input: 'date' | 'time' | 'datetime', text: string, pattern?: string) =>
      breachOf({ suffix: '', input, ...(pattern !== undefined && { pattern }) }, text);
    for (const [input, text, pattern] of [
      ['date', '2026'],
      ['date', '20260301'],
      ['date', '2026-03', 'yyyy-mm-??'],
      ['date', '2026-03', 'yyyy-??-XX'],
      ['time', '14:30'],
      ['datetime', '2026-11-23T14:30:00.5+01:00'],
      ['datetime', '2026-11-23', 'yyyy-mm-dd??:??:??'],
    ] as const)
      expect([text, pattern, time(input, text, pattern)]).toEqual([text, pattern, null]);
    for (const [input, text, pattern] of [
      ['date', 'soon'],
      ['date', '2026-02-30'],
      ['date', '2026-03-01T10:00'],
      ['date', '2026', 'yyyy-mm-??'],
      ['date', '2026-03-01', 'yyyy-mm-XX'],
      ['time', '2026-03-01'],
      ['datetime', '2026-11-23', 'yyyy-mm-ddTHH:MM:??'],
    ] as const)
      expect([text, pattern, time(input, text, pattern)]).toEqual([text, pattern, 'time']);
    const written = (text: string, pattern: string) =>
      breachOf({ suffix: '', input: 'lines', pattern }, text);
    expect([written('AB-12', '[A-Z]+-\\d{2}'), written('AB-123', '/[A-Z]+-\\d{2}/')]).toEqual([
      null,
      'pattern',
    ]);
    // What a browser might never be done with, or cannot read, is left to the server.
    for (const pattern of ['(a+)+', '(?<=a)b', '(a)\\1', 'a*a*a*a*a*', '[a-'])
      expect([pattern, written('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', pattern)]).toEqual([
        pattern,
        null,
      ]);
  });

  it('shows the one unit behind its number, and by itself only where it is another', () => {
    const { web: pressure } = compiled('ehrbase_blood_pressure_simple.de.v0');
    const node = [...placesOf(pressure, {}).values()].find(({ id }) => id === 'systolic')!;
    const [magnitude, unit] = partsOf(node, 'en');
    expect([magnitude?.unit, unit?.only]).toEqual(['mm[Hg]', 'mm[Hg]']);
    expect(changeOf('x', magnitude!, 120)).toEqual({ 'x|magnitude': 120, 'x|unit': 'mm[Hg]' });
    const several = [...placesOf(web, {}).values()].find(({ id }) => id === 'quantity')!;
    expect(partsOf(several, 'en').map(({ only }) => only)).toEqual([undefined, undefined]);
  });

  it('opens an interval at the end that is not given', () => {
    const one = { [`${count}/lower`]: 3 };
    expect(contentOf(web, one)).toEqual({ ...one, [`${count}|upper_unbounded`]: true });
    const both = { ...contentOf(web, one), [`${count}/upper`]: 5 };
    expect(contentOf(web, both)).toEqual({ ...one, [`${count}/upper`]: 5 });
  });

  it('takes one occurrence away and moves up those behind it', () => {
    const values = { 'a/b:0/c': 0, 'a/b:1/c': 1, 'a/b:2/c|unit': 'kg', 'a/b:10': 10, 'a/bb:1': 'other' };
    expect(withoutOccurrence(values, 'a/b', 1)).toEqual({
      'a/b:0/c': 0,
      'a/b:1/c|unit': 'kg',
      'a/b:9': 10,
      'a/bb:1': 'other',
    });
  });

  it('begins with what every document needs', () => {
    const values = emptyForm(web, { composer: 'Ada', territory: 'DE', now: '2026-01-05T07:12:00Z' });
    expect(values).toMatchObject({
      'test_all_types/language|code': 'en',
      'test_all_types/territory|code': 'DE',
      'test_all_types/composer|name': 'Ada',
      'test_all_types/context/start_time': '2026-01-05T07:12:00Z',
    });
  });

  it('puts a finding beside its field, whatever part and index it names, or at the top', () => {
    const quantity = 'test_all_types/test_all_types:0/quantity';
    const places = placesOf(web, {});
    const found = placeFindings(
      [
        { path: '/content[0]', flatPath: `${quantity}|unit`, message: 'no such unit' },
        { path: '/content[0]', flatPath: quantity.replace(':0', ''), message: 'missing' },
        { path: '/content[1]', flatPath: 'test_all_types/test_all_types2:0/nothing/here', message: 'above' },
        { path: '/composer', flatPath: 'ctx/composer_name', message: 'who?' },
        { path: '/territory', message: 'where?' },
        { path: '/content[9]', message: 'which?' },
        { path: '/', flatPath: 'test_all_types', message: 'whole' },
      ],
      places,
    );
    expect(found).toEqual(
      new Map([
        [quantity, ['no such unit', 'missing']],
        ['test_all_types/test_all_types2:0', ['above']],
        ['test_all_types/composer', ['who?']],
        ['test_all_types/territory', ['where?']],
        ['', ['/content[9]: which?', 'whole']],
      ]),
    );
  });

  it('sets the only unit with the magnitude, and clears what said the same of the former code', () => {
    const places = [...placesOf(web, {})];
    const part = (id: string, suffix: string) => {
      const [path, node] = places.find(([, each]) => each.id === id)!;
      return { path, part: partsOf(node, 'en').find((each) => each.suffix === suffix)! };
    };
    const ordinal = part('ordinal', 'code');
    expect(changeOf(ordinal.path, ordinal.part, 'at0015')).toEqual({
      [ordinal.path]: undefined,
      [`${ordinal.path}|value`]: undefined,
      [`${ordinal.path}|ordinal`]: undefined,
      [`${ordinal.path}|terminology`]: undefined,
      [`${ordinal.path}|code`]: 'at0015',
    });
    const coded = part('coded_text_terminology', 'code');
    expect(changeOf(coded.path, coded.part, '123')).toMatchObject({
      [`${coded.path}|terminology`]: 'SNOMED-CT',
    });
  });
});

describe('a duration', () => {
  it.each(['P1Y3M2W4DT2H14M15.5S', 'PT1H', 'P3D', 'PT0S'])('%s is its parts', (text) => {
    expect(durationOf(partsOfDuration(text)!)).toBe(text);
  });

  it('that has no such parts stays text', () => {
    expect(partsOfDuration('-P2M')).toBeNull();
    expect(partsOfDuration('soon')).toBeNull();
    expect(durationOf({})).toBe('');
  });
});
