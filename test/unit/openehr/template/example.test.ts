import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../openehr/base/json.js';
import { readRm } from '../../../../openehr/rm/read.js';
import { compileTemplate } from '../../../../openehr/template/compile.js';
import type { DetailLevel } from '../../../../openehr/template/example/example-value.js';
import { exampleComposition } from '../../../../openehr/template/example/example.js';
import { readFlat } from '../../../../openehr/format/flat/read.js';
import { writeFlat } from '../../../../openehr/format/flat/write.js';
import { textMatching } from '../../../../openehr/template/example/pattern-example.js';
import { templateNames } from '../../../support/fixture.js';
import { isValid } from '../../../support/openehr/changed-instances.js';
import { element, evaluation, node, primitive, template } from '../../../support/openehr/opt-builder.js';
import { validate } from '../../../support/openehr/stages.js';
import { TWIN_ID, TWINS } from '../../../support/openehr/twin-template.js';
import { publicTemplate } from '../../../support/openehr/templates.js';

const LEVELS: readonly DetailLevel[] = ['required', 'medium', 'complete'];
const all = templateNames().flatMap((name) => LEVELS.map((level) => [name, level] as const));
const example = (name: string, detailLevel: DetailLevel) =>
  exampleComposition(publicTemplate(name), { detailLevel, type: 'input' });

describe('exampleComposition', () => {
  it.each(all)('is valid for %s, %s', (name, level) => {
    const composition = example(name, level);
    expect(validate(composition, publicTemplate)).toEqual({ status: 201, violations: [] });
    expect(readRm(composition, 'COMPOSITION').object).toEqual(composition);
  });

  it.each(templateNames())('shows more of %s at each level', (name) => {
    const sizes = LEVELS.map((level) => JSON.stringify(example(name, level)).length);
    expect(sizes).toEqual([...sizes].sort((one, other) => one - other));
  });

  it('is the same every time', () => {
    expect(example('Corona_Anamnese', 'complete')).toEqual(example('Corona_Anamnese', 'complete'));
  });

  it('has a uid as output only', () => {
    const options = { detailLevel: 'required' } as const;
    const compiled = publicTemplate('minimal_admin.en.v1');
    expect(exampleComposition(compiled, { ...options, type: 'output' }).uid).toMatchObject({
      _type: 'OBJECT_VERSION_ID',
    });
    expect(exampleComposition(compiled, { ...options, type: 'input' }).uid).toBeUndefined();
  });

  it('is in the language of the template unless another one is asked for', () => {
    const language = (composition: JsonObject) => (composition.language as JsonObject)['code_string'];
    const compiled = publicTemplate('Corona_Anamnese');
    const options = { detailLevel: 'required', type: 'input' } as const;
    expect(language(exampleComposition(compiled, options))).toBe('de');
    expect(language(exampleComposition(compiled, { ...options, language: 'es' }))).toBe('es');
  });

  it('fills a container of which the template says how many objects it holds, and not which', () => {
    const compiled = compileTemplate(template(evaluation('', {}, '2..*')));
    const composition = exampleComposition(compiled, { detailLevel: 'complete', type: 'input' });
    expect(isValid(composition, compiled)).toBe(true);
  });

  it('keeps to ranges, patterns and lists', () => {
    const range = (lower: string, upper: string) =>
      `<range><lower_included>true</lower_included><upper_included>true</upper_included><lower_unbounded>false</lower_unbounded><upper_unbounded>false</upper_unbounded><lower>${lower}</lower><upper>${upper}</upper></range>`;
    const values = [
      node('DV_COUNT', { inside: primitive('magnitude', 'INTEGER', 'C_INTEGER', range('40', '50')) }),
      node('DV_TEXT', {
        inside: primitive('value', 'STRING', 'C_STRING', '<pattern>[A-Z]{3}-\\d+</pattern>'),
      }),
      node('DV_DURATION', { inside: primitive('value', 'DURATION', 'C_DURATION', range('PT24H', 'PT48H')) }),
      node('DV_DATE', { inside: primitive('value', 'DATE', 'C_DATE', '<pattern>yyyy-mm-XX</pattern>') }),
      node('DV_TIME', {
        inside: primitive('value', 'TIME', 'C_TIME', '<timezone_validity>1003</timezone_validity>'),
      }),
    ];
    const codes = values.map((_, index) => `at000${index + 2}`);
    const content = evaluation(
      values.map((value, index) => element(codes[index]!, value, '1..1')).join(''),
      Object.fromEntries(codes.map((code) => [code, code])),
    );
    const compiled = compileTemplate(template(content));
    const composition = exampleComposition(compiled, { detailLevel: 'medium', type: 'input' });
    expect(validate(composition, () => compiled)).toEqual({ status: 201, violations: [] });
    const text = JSON.stringify(composition);
    for (const value of ['"magnitude":45', '"AAA-1"', '"2022-02"', '"04:05:06"'])
      expect(text).toContain(value);
  });
});

describe('siblings of equal archetype and name', () => {
  const compiled = compileTemplate(TWINS);

  it.each(LEVELS)('give an example that is valid, %s', (detailLevel) => {
    const composition = exampleComposition(compiled, { detailLevel, type: 'input' });
    expect(validate(composition, () => compiled)).toEqual({ status: 201, violations: [] });
    const flat = writeFlat(composition, compiled);
    const again = readFlat(flat, compiled, { now: new Date() });
    expect(writeFlat(again, compiled)).toMatchObject(flat);
    expect(validate(again, () => compiled)).toEqual({ status: 201, violations: [] });
  });

  it('are counted together, and each must fit one of them', () => {
    const text = JSON.stringify(exampleComposition(compiled, { detailLevel: 'complete', type: 'input' }));
    const two = JSON.parse(text) as { content: { data: { items: JsonObject[] } }[] };
    const twins = two.content[0]!.data.items;
    expect(twins.map(({ archetype_node_id: id }) => id)).toEqual([TWIN_ID, TWIN_ID]);
    twins.push(...twins);
    expect(validate(two as unknown as JsonObject, () => compiled).violations).toEqual([
      expect.stringContaining('Attribute has 4 occurrences, but must be 2..2'),
    ]);
    twins.length = 2;
    (twins[1]!['items'] as JsonObject[])[0]!['archetype_node_id'] = 'at0009';
    expect(validate(two as unknown as JsonObject, () => compiled).violations).toEqual([
      expect.stringContaining('not in template'),
      expect.any(String),
    ]);
  });
});

describe('textMatching', () => {
  it.each([
    'openEHR-EHR-CLUSTER\\.device\\.v1',
    'openEHR-EHR-CLUSTER\\.symptom_sign(-[a-zA-Z0-9_]+)*\\.v1|openEHR-EHR-CLUSTER\\.issue\\.v0',
    '/[^ ]+/',
    '(a|b){2}c?\\d{3}',
    '.*',
    '(?:x|y)[\\w.]+$',
  ])('gives a text for %s', (pattern) => {
    const text = textMatching(pattern);
    expect(text).not.toBeNull();
    expect(text).toMatch(new RegExp(`^(?:${pattern.replaceAll(/^\/|\/$/g, '')})$`));
  });

  it.each(['a\\bb', '\\p{Greek}+'])('gives up on %s', (pattern) => {
    expect(textMatching(pattern)).toBeNull();
  });
});
