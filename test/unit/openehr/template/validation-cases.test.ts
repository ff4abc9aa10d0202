import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../../../openehr/base/json.js';
import { readRm } from '../../../../openehr/rm/read.js';
import { validateAgainstTemplate } from '../../../../openehr/template/validate.js';
import { fixtureJson, templateNames } from '../../../support/fixture.js';
import { validate } from '../../../support/openehr/stages.js';
import { publicTemplate } from '../../../support/openehr/templates.js';

interface Edit {
  readonly path: string;
  readonly set?: JsonValue;
  readonly remove?: boolean;
}

interface Case {
  readonly template: string;
  readonly flat?: string;
  readonly edits?: readonly Edit[];
  readonly repeat?: { readonly path: string; readonly name: string; readonly count: number };
  readonly status: number;
  readonly message?: string;
}

const { cases } = fixtureJson('validation-cases.json') as unknown as { cases: readonly Case[] };
const names = templateNames();

function steps(path: string): string[] {
  return path.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
}

function edited(composition: JsonObject, { path, set, remove }: Edit): void {
  const names = steps(path);
  const last = names.pop()!;
  let target: Record<string, unknown> = composition;
  for (const name of names) target = target[name] as Record<string, unknown>;
  if (remove === true) Reflect.deleteProperty(target, last);
  else target[last] = set;
}

function repeated(composition: JsonObject, { path, name, count }: NonNullable<Case['repeat']>): void {
  const values = composition[path] as JsonObject[];
  const matches = (value: JsonObject) => (value.name as JsonObject)['value'] === name;
  const place = values.findIndex(matches);
  const copies = Array.from({ length: count }, () => structuredClone(values[place]!));
  const others = values.filter((value) => !matches(value));
  composition[path] = [...others.slice(0, place), ...copies, ...others.slice(place)];
}

function titleOf({ template, edits, repeat }: Case): string {
  const changes = repeat === undefined ? (edits ?? []) : repeat;
  return `${template} with ${JSON.stringify(changes)}`;
}

// The FLAT cases are those of format/flat.
describe('validation-cases.json', () => {
  it.each(
    cases.filter(({ flat }) => flat === undefined).map((item) => [item.status, titleOf(item), item] as const),
  )('answers %i to %s', (status, _, { template, edits, repeat, message }) => {
    const composition = fixtureJson(`composition/${template}.json`);
    for (const edit of edits ?? []) edited(composition, edit);
    if (repeat !== undefined) repeated(composition, repeat);
    const verdict = validate(composition, (id) => (names.includes(id) ? publicTemplate(id) : null));
    expect([verdict.status, verdict.violations]).toEqual([
      status,
      status === 201 ? [] : expect.arrayContaining([expect.stringContaining(message ?? ': ')]),
    ]);
  });
});

describe('the public compositions', () => {
  // Test_dv_proportion_open_constraint.v0 as it stands has a proportion of type 898; its cases set the type.
  const valid = [
    'Corona_Anamnese',
    'Test_dv_quantity_property_units_constrained_with_magnitude_range.v0',
    'alternative_types.en.v1',
    'cardinality_of_section',
    'conformance-ehrbase.de.v0.max',
    'conformance-ehrbase.de.v0.min',
    'ehrbase_blood_pressure_simple.de.v0',
    'ehrbase_multi_occurrence.de.v1',
    'minimal_action_2',
    'minimal_admin.en.v1',
    'minimal_evaluation.en.v1',
    'minimal_instruction.en.v1',
    'minimal_observation.en.v1',
    'nested.en.v1',
    'nested.en.v1.without-links',
    'persistent_minimal.en.v1',
    'test_all_types.en.v1',
  ];

  it.each(valid)('%s is valid', (name) => {
    expect(validate(fixtureJson(`composition/${name}.json`), publicTemplate)).toEqual({
      status: 201,
      violations: [],
    });
  });

  // Made to test partial values: they hold at-codes that no archetype of the template has.
  it.each(['datetimes', 'durations'])(
    'test_all_types.en.v1.%s only has nodes beyond the template',
    (name) => {
      const composition = fixtureJson(`composition/test_all_types.en.v1.${name}.json`);
      const { object } = readRm(composition, 'COMPOSITION');
      const template = publicTemplate('test_all_types.en.v1');
      const found = (checkExtraNodes: boolean) =>
        validateAgainstTemplate(object!, template, { checkExtraNodes, checkContainerCardinality: false });
      expect(found(false)).toEqual([]);
      expect(found(true).every(({ code }) => code === 'not-in-template')).toBe(true);
      expect(found(true).length).toBeGreaterThan(0);
    },
  );

  it('answers 422 to an unknown template', () => {
    expect(validate(fixtureJson('composition/nested.en.v1.json'), () => null)).toEqual({
      status: 422,
      violations: ["Template with template_id 'nested.en.v1' does not exist"],
    });
  });
});
