import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../../../../openehr/base/json.js';
import { compileTemplate, type CompiledTemplate } from '../../../../../openehr/template/compile.js';
import { exampleComposition } from '../../../../../openehr/template/example/example.js';
import { readRules } from '../../../../../openehr/template/upgrade/rules.js';
import { upgradeBy, type UpgradedComposition } from '../../../../../openehr/template/upgrade/upgrade.js';
import { isValid } from '../../../../support/openehr/changed-instances.js';
import {
  codedText,
  element,
  evaluation,
  multiple,
  node,
  template,
} from '../../../../support/openehr/opt-builder.js';
import { REVISIONS, secondRevision } from '../../../../support/openehr/revisions.js';
import { publicTemplate } from '../../../../support/openehr/templates.js';

const TERMS = {
  at0002: 'First',
  at0003: 'Second',
  at0004: 'Third',
  at0010: 'Red',
  at0011: 'Green',
  at0012: 'Blue',
  at0020: 'Group',
};
const TREE = '/content[openEHR-EHR-EVALUATION.test.v1]/data[at0001]';

const quantity = (unit: string): string =>
  node('DV_QUANTITY', { xsiType: 'C_DV_QUANTITY', inside: `<list><units>${unit}</units></list>` });
const cluster = (items: string): string =>
  node('CLUSTER', { id: 'at0020', occurrences: '0..*', inside: multiple('items', items, '1..*', '1..1') });
const compiled = (items: string): CompiledTemplate => compileTemplate(template(evaluation(items, TERMS)));

function upgraded(
  [before, after]: readonly [string, string],
  rules: readonly JsonValue[],
  change: (items: JsonObject[]) => void = () => undefined,
): UpgradedComposition & { items: JsonObject[]; isValid: boolean } {
  const [from, to] = [compiled(before), compiled(after)];
  const example = exampleComposition(from, { detailLevel: 'complete', type: 'input' });
  change(itemsOf(example));
  expect(isValid(example, from)).toBe(true);
  const asGiven = structuredClone(example);
  const result = upgradeBy(readRules({ rules: [...rules] }), from, to)(example);
  expect(example).toEqual(asGiven);
  return { ...result, items: itemsOf(result.composition), isValid: isValid(result.composition, to) };
}

const itemsOf = (composition: JsonObject): JsonObject[] => {
  const [entry] = composition['content'] as JsonObject[];
  return ((entry!['data'] as JsonObject)['items'] ?? []) as JsonObject[];
};

const valueOf = (items: readonly JsonObject[], id: string): JsonValue | undefined =>
  items.find((item) => item['archetype_node_id'] === id)?.['value'];

describe('rules of an upgrade', () => {
  it('move a node to another id, with the name that it has there', () => {
    const text = node('DV_TEXT');
    const {
      items,
      isValid: valid,
      changed,
    } = upgraded(
      [element('at0002', text) + element('at0004', text), element('at0003', text) + element('at0004', text)],
      [{ move: `${TREE}/items[at0002]`, to: `${TREE}/items[at0003]` }],
    );
    expect([valid, changed]).toEqual([true, [1]]);
    expect(valueOf(items, 'at0003')).toEqual({ _type: 'DV_TEXT', value: 'Example text' });
    expect(items.find((item) => item['archetype_node_id'] === 'at0003')?.['name']).toMatchObject({
      value: 'Second',
    });
    expect(valueOf(items, 'at0002')).toBeUndefined();
  });

  it('move a node into a cluster that is made for it, and out of one that goes with it', () => {
    const text = element('at0002', node('DV_TEXT'));
    const other = element('at0004', node('DV_COUNT'));
    const [inside, outside] = [
      cluster(text) + other,
      text + cluster(element('at0003', node('DV_TEXT'))) + other,
    ];
    const into = upgraded(
      [text + other, inside],
      [{ move: `${TREE}/items[at0002]`, to: `${TREE}/items[at0020]/items[at0002]` }],
    );
    expect([into.isValid, into.problems]).toEqual([true, []]);
    const out = upgraded(
      [inside, outside],
      [{ move: `${TREE}/items[at0020]/items[at0002]`, to: `${TREE}/items[at0002]` }],
    );
    expect([out.isValid, out.items.map((item) => item['archetype_node_id'])]).toEqual([
      true,
      ['at0004', 'at0002'],
    ]);
  });

  it('do not move a value to where one is', () => {
    const both = element('at0002', node('DV_TEXT')) + element('at0003', node('DV_TEXT'));
    const { problems } = upgraded(
      [both, both],
      [{ move: `${TREE}/items[at0002]/value`, to: `${TREE}/items[at0003]/value` }],
    );
    expect(problems).toEqual([
      {
        rule: 1,
        path: `${TREE}/items[at0002]/value`,
        reason: `${TREE}/items[at0003]/value is there already`,
      },
    ]);
  });

  it('map codes with their labels, and leave others alone', () => {
    const [before, after] = [
      ['at0010', 'at0011'],
      ['at0011', 'at0012'],
    ].map(
      (codes) =>
        element('at0002', codedText('local', codes)) + element('at0003', codedText('local', ['at0010'])),
    );
    const {
      items,
      isValid: valid,
      changed,
    } = upgraded([before!, after!], [{ map: `${TREE}/items[at0002]`, codes: { at0010: 'at0012' } }]);
    expect([valid, changed]).toEqual([true, [1]]);
    expect(valueOf(items, 'at0002')).toMatchObject({
      value: 'Blue',
      defining_code: { code_string: 'at0012' },
    });
    expect(valueOf(items, 'at0003')).toMatchObject({ value: 'Red' });
  });

  it('change a unit without an odd digit, and what is given in it besides', () => {
    const { items, isValid: valid } = upgraded(
      [element('at0002', quantity('Cel')), element('at0002', quantity('[degF]'))],
      [{ unit: `${TREE}/items[at0002]`, from: 'Cel', to: '[degF]', factor: 1.8, offset: 32 }],
      (found) => {
        const upper = { _type: 'DV_QUANTITY', magnitude: 37.5, units: 'Cel' };
        found[0]!['value'] = {
          ...{
            _type: 'DV_QUANTITY',
            magnitude: 37.1,
            units: 'Cel',
            accuracy: 0.5,
            accuracy_is_percent: false,
          },
          normal_range: { ...FLAGS, _type: 'DV_INTERVAL', upper },
        };
      },
    );
    expect(valid).toBe(true);
    expect(valueOf(items, 'at0002')).toMatchObject({
      ...{ magnitude: 98.78, units: '[degF]', accuracy: 0.9 },
      normal_range: { upper: { magnitude: 99.5, units: '[degF]' } },
    });
  });

  it('fill in a value where none is', () => {
    const [first, second] = [element('at0002', node('DV_TEXT')), element('at0003', node('DV_COUNT'), '1..1')];
    const rules = [{ default: `${TREE}/items[at0003]`, value: 7 }];
    const made = upgraded(
      [first + element('at0004', node('DV_TEXT')), first + second + element('at0004', node('DV_TEXT'))],
      rules,
    );
    expect([made.isValid, valueOf(made.items, 'at0003')]).toEqual([
      true,
      { _type: 'DV_COUNT', magnitude: 7 },
    ]);
    const kept = upgraded([first + second, first + second], rules);
    expect([kept.changed, valueOf(kept.items, 'at0003')]).toEqual([[0], { _type: 'DV_COUNT', magnitude: 1 }]);
    const empty = upgraded([first + second, first + second], rules, (found) => {
      delete found[1]!['value'];
      found[1]!['null_flavour'] = openehrText('253', 'unknown');
    });
    expect([empty.changed, valueOf(empty.items, 'at0003')]).toEqual([[0], undefined]);
  });

  it('split a text and join texts, there and back', () => {
    const text = (id: string): string => element(id, node('DV_TEXT'));
    const paths = ['at0003', 'at0004'].map((id) => `${TREE}/items[${id}]`);
    const [one, two] = [text('at0002'), text('at0003') + text('at0004')];
    const asOne = (found: JsonObject[]): void => {
      found[0]!['value'] = { _type: 'DV_TEXT', value: '12 mg daily' };
    };
    const apart = upgraded(
      [one, two],
      [{ split: `${TREE}/items[at0002]`, pattern: '(\\d+ \\w+) (.*)', into: paths }],
      asOne,
    );
    expect([apart.isValid, ...['at0003', 'at0004'].map((id) => valueOf(apart.items, id))]).toEqual([
      true,
      { _type: 'DV_TEXT', value: '12 mg' },
      { _type: 'DV_TEXT', value: 'daily' },
    ]);
    const together = upgraded([two, one], [{ join: paths, with: ', ', into: `${TREE}/items[at0002]` }]);
    expect([together.isValid, together.items.length, valueOf(together.items, 'at0002')]).toEqual([
      true,
      1,
      { _type: 'DV_TEXT', value: 'Example text, Example text' },
    ]);
  });

  it('name a text that cannot be split', () => {
    const one = element('at0002', node('DV_TEXT'));
    const { problems } = upgraded(
      [one, one + element('at0003', node('DV_TEXT'))],
      [{ split: `${TREE}/items[at0002]`, pattern: '\\d+', into: [`${TREE}/items[at0003]`] }],
    );
    expect(problems.map(({ reason }) => reason)).toEqual(['the text does not match the pattern']);
  });

  it('drop what is consented to, and what it leaves empty', () => {
    const other = element('at0004', node('DV_COUNT'));
    const { items, isValid: valid } = upgraded(
      [cluster(element('at0002', node('DV_TEXT'))) + other, other],
      [{ drop: `${TREE}/items[at0020]/items[at0002]`, consent: true }],
    );
    expect([valid, items.map((item) => item['archetype_node_id'])]).toEqual([true, ['at0004']]);
  });

  it('bring a node that a public template moved to its new path', () => {
    const revision = REVISIONS.find(({ says }) => says === 'a node moves into a cluster')!;
    const [before, after] = [publicTemplate(revision.template), secondRevision(revision)];
    const tree = '/content[openEHR-EHR-EVALUATION.test_all_types.v1]/data[at0001]';
    const rules = [{ move: `${tree}/items[at0009]`, to: `${tree}/items[at0006]/items[at0009]` }];
    const example = exampleComposition(before, { detailLevel: 'complete', type: 'input' });
    expect(isValid(example, after)).toBe(false);
    const { composition, problems } = upgradeBy(readRules({ rules }), before, after)(example);
    expect([problems, isValid(composition, after)]).toEqual([[], true]);
  });
});

const openehrText = (code: string, value: string): JsonObject => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: 'openehr' },
    code_string: code,
  },
});

const FLAGS = { lower_unbounded: true, upper_unbounded: false, lower_included: false, upper_included: true };

describe('a file of rules is refused', () => {
  it.each<[JsonValue, string]>([
    [[], 'rules of an upgrade are {"rules": […]}'],
    [{ rules: [1] }, 'rule 1: it is no object'],
    [{ rules: [{ rename: '/a' }] }, 'rule 1: it is none of move, map, unit, default, split, join, drop'],
    [{ rules: [{ move: '/a' }] }, 'rule 1: to of move is missing or malformed'],
    [{ rules: [{ move: '/a', to: '/b', unless: 1 }] }, 'rule 1: move knows no unless'],
    [{ rules: [{ drop: '/a' }] }, 'rule 1: drop loses data: it needs "consent": true'],
    [{ rules: [{ drop: '/a', consent: false }] }, 'rule 1: drop loses data: it needs "consent": true'],
  ])('%j', (file, message) => {
    expect(() => readRules(file)).toThrow(message);
  });

  it('for a path that the template does not have, and a value that is none of its node', () => {
    const before = compiled(element('at0002', node('DV_COUNT')));
    const prepare = (rule: JsonValue) => () => upgradeBy(readRules({ rules: [rule] }), before, before);
    expect(prepare({ drop: `${TREE}/items[at0009]`, consent: true })).toThrow(
      `rule 1: the template has no ${TREE}/items[at0009]`,
    );
    expect(prepare({ drop: 'content', consent: true })).toThrow('content is no path of a web template');
    expect(prepare({ default: `${TREE}/items[at0002]`, value: 'many' })).toThrow(
      `rule 1: "many" is no value of ${TREE}/items[at0002]/value (DV_COUNT)`,
    );
  });
});
