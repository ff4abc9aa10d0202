import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../../../openehr/base/json.js';
import { readFlatOver } from '../../../../../openehr/format/flat/carry-over.js';
import { writeFlat } from '../../../../../openehr/format/flat/write.js';
import { fixtureJson, templateNames } from '../../../../support/fixture.js';
import { compositionsOf } from '../../../../support/openehr/template-compositions.js';
import { publicTemplate } from '../../../../support/openehr/templates.js';

const NOW = new Date('2026-01-02T03:04:05Z');
const without = (object: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
const withoutUid = (composition: JsonObject): JsonObject => without(composition, 'uid');

/** The form of a composition as it is sent back: with changes, without the uid of the version. */
function sent(composition: JsonObject, name: string, changes: JsonObject = {}): JsonObject {
  const template = publicTemplate(name);
  const flat = writeFlat(composition, template);
  const form = without(flat, `${template.filteredTree.id}/_uid`);
  return readFlatOver({ ...form, ...changes }, composition, { template, now: NOW });
}

/** Every place at which two values differ. */
function differences(left: JsonValue | undefined, right: JsonValue | undefined, path = ''): string[] {
  if (JSON.stringify(left) === JSON.stringify(right)) return [];
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return [path];
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])];
  return names.flatMap((name) =>
    differences((left as JsonObject)[name], (right as JsonObject)[name], `${path}/${name}`),
  );
}

describe('a form that is sent back', () => {
  it.each(templateNames())('without a change changes nothing of any composition of %s', (name) => {
    fc.assert(
      fc.property(compositionsOf(publicTemplate(name)), (composition) => {
        expect(sent(composition, name)).toEqual(withoutUid(composition));
      }),
      { numRuns: name === 'Corona_Anamnese' ? 2 : 10 },
    );
  });

  /** What FLAT has no words for, at every place where it may stand. */
  const rich = (): JsonObject => {
    const composition = fixtureJson('composition/minimal_evaluation.en.v1.json');
    return JSON.parse(JSON.stringify(composition), (_, value: unknown) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
      const object = value as JsonObject;
      if (object._type === 'PARTY_IDENTIFIED')
        return {
          ...object,
          external_ref: {
            _type: 'PARTY_REF',
            id: { _type: 'GENERIC_ID', value: 'x', scheme: 'y' },
            namespace: 'n',
            type: 'ORGANISATION',
          },
        };
      if (object._type === 'ELEMENT')
        return {
          ...object,
          uid: { _type: 'HIER_OBJECT_ID', value: '6b1a1a3e-7a52-4b0e-9c45-0d6a6a3f2b10' },
          name: {
            _type: 'DV_TEXT',
            ...(object.name as object),
            hyperlink: { _type: 'DV_URI', value: 'https://a.example' },
          },
        };
      return object;
    }) as JsonObject;
  };

  it('keeps all that FLAT cannot say beside the one value that was changed', () => {
    const before = rich();
    const name = 'minimal_evaluation.en.v1';
    const flat = writeFlat(before, publicTemplate(name));
    const key = Object.keys(flat).find((each) => each.endsWith('|magnitude'))!;
    const after = sent(before, name, { [key]: 77 });
    const changed = differences(withoutUid(before), after);
    expect(changed).toHaveLength(1);
    expect(changed[0]).toMatch(/\/value\/magnitude$/);
    expect(JSON.stringify(after)).toContain('https://a.example');
  });

  it('takes nothing of an old value to a new one', () => {
    const name = 'minimal_evaluation.en.v1';
    const before = JSON.parse(JSON.stringify(rich()), (_, value: unknown) =>
      (value as JsonObject | null)?._type === 'DV_QUANTITY'
        ? {
            ...(value as object),
            normal_status: {
              _type: 'CODE_PHRASE',
              terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr_normal_statuses' },
              code_string: 'HH',
            },
          }
        : value,
    ) as JsonObject;
    const flat = writeFlat(before, publicTemplate(name));
    const key = Object.keys(flat).find((each) => each.endsWith('|magnitude'))!;
    const cleared = Object.fromEntries(
      Object.keys(flat)
        .filter((each) => each.includes('normal_status'))
        .map((each) => [each, '']),
    );
    const after = sent(before, name, { [key]: 1, ...cleared });
    expect(JSON.stringify(after)).not.toContain('"HH"');
  });

  it('invents no context where a persistent composition has none', () => {
    const name = 'persistent_minimal.en.v1';
    const before = without(fixtureJson(`composition/${name}.json`), 'context');
    expect(sent(before, name)).toEqual(withoutUid(before));
    expect(sent(before, name)).not.toHaveProperty('context');
  });

  it('finds again what stands behind a member that was taken out', () => {
    const name = 'ehrbase_multi_occurrence.de.v1';
    const base = fixtureJson(`composition/${name}.json`);
    const [entry] = base.content as JsonObject[];
    const numbered = (index: number): JsonObject =>
      JSON.parse(JSON.stringify(entry), (key, value: unknown) =>
        key === 'magnitude' ? 37 + index : value,
      ) as JsonObject;
    const uid = (value: string) => ({ _type: 'HIER_OBJECT_ID', value });
    const before: JsonObject = {
      ...base,
      content: [0, 1, 2].map((index) => ({
        ...numbered(index),
        uid: uid(`6b1a1a3e-7a52-4b0e-9c45-0d6a6a3f2b1${index}`),
      })),
    };
    const template = publicTemplate(name);
    const shorter = writeFlat(
      { ...before, content: [(before.content as JsonObject[])[0]!, (before.content as JsonObject[])[2]!] },
      template,
    );
    const after = readFlatOver(shorter, before, { template, now: NOW });
    expect((after.content as JsonObject[]).map((each) => (each.uid as JsonObject).value)).toEqual([
      '6b1a1a3e-7a52-4b0e-9c45-0d6a6a3f2b10',
      '6b1a1a3e-7a52-4b0e-9c45-0d6a6a3f2b12',
    ]);
  });
});
