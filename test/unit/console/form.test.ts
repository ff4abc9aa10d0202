import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { WebTemplate } from '../../../packages/client/src/definitions.js';
import { durationOf, partsOfDuration } from '../../../console/src/form/duration.js';
import { contentOf, emptyForm, placeFindings } from '../../../console/src/form/form-content.js';
import { keysBeside, kindOf, placesOf } from '../../../console/src/form/form-tree.js';
import { changeOf, keyOf, partsOf } from '../../../console/src/form/parts.js';
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
