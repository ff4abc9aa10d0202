import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { WebTemplate } from '../../../packages/client/src/definitions.js';
import { changesOf, fieldText, mergedValues, type Side } from '../../../console/src/form/three-way.js';
import type { FlatValues } from '../../../console/src/form/values.js';
import { writeFlat } from '../../../openehr/format/flat/write.js';
import { exampleComposition } from '../../../openehr/template/example/example.js';
import { compileTemplate } from '../../../openehr/template/compile.js';
import { fixtureText } from '../../support/fixture.js';

const compiled = compileTemplate(fixtureText('opt/test_all_types.en.v1.opt'));
const template = JSON.parse(String(compiled.webTemplateText)) as WebTemplate;
const before = writeFlat(
  exampleComposition(compiled, { type: 'input', detailLevel: 'complete' }),
  compiled,
) as FlatValues;
const fields = changesOf({ template, before: {}, mine: {}, theirs: before });

/** What somebody makes of the document: some fields emptied, some said otherwise. */
const edits = fc.array(fc.tuple(fc.nat(fields.length - 1), fc.constantFrom('clear', 'x', 'y')), {
  maxLength: 12,
});

function edited(changes: readonly (readonly [number, string])[]): FlatValues {
  const values: Record<string, FlatValues[string]> = { ...before };
  for (const [index, text] of changes)
    for (const key of Object.keys(fields[index]!.theirs))
      if (text === 'clear') Reflect.deleteProperty(values, key);
      else values[key] = text;
  return values;
}

const at = (values: FlatValues, keys: readonly string[]): unknown[] => keys.map((key) => values[key]);

describe('a document that two people changed', () => {
  it('keeps of every field what the only one who changed it said, and of one that both changed what was chosen', () => {
    fc.assert(
      fc.property(edits, edits, fc.constantFrom<Side>('mine', 'theirs'), (left, right, side) => {
        const [mine, theirs] = [edited(left), edited(right)];
        const changes = changesOf({ template, before, mine, theirs });
        const contested = changes.filter(({ isContested }) => isContested).map(({ path }) => path);
        const merged = mergedValues(mine, changes, new Map(contested.map((path) => [path, side])));
        for (const { path, theirs: known } of fields) {
          const keys = Object.keys(known);
          const [was, is, became, made] = [before, mine, theirs, merged].map((values) => at(values, keys));
          const [hasMine, hasTheirs] = [String(is) !== String(was), String(became) !== String(was)];
          const both = hasMine && hasTheirs;
          expect([path, contested.includes(path)]).toEqual([path, both && String(is) !== String(became)]);
          expect([path, made]).toEqual([path, (both ? side === 'theirs' : hasTheirs) ? became : is]);
        }
      }),
    );
  });

  it('says nothing of which version it is, and shows a field in a line', () => {
    const { id } = template.tree;
    const one = { ...before, [`${id}/_uid`]: 'a::b::1' };
    const two = { ...before, [`${id}/_uid`]: 'a::b::2' };
    expect(changesOf({ template, before: one, mine: one, theirs: two })).toEqual([]);
    expect(fieldText({ 'a|magnitude': 12, 'a|unit': 'mg' })).toBe('12 mg');
    expect(fieldText({ 'a|code': 'at0011', 'a|value': 'Sitting', 'a|terminology': 'local' })).toBe('Sitting');
  });
});
