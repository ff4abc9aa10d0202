import type { JsonObject, JsonValue } from '../../../openehr/base/json.js';
import { codedText, element, evaluation, node, template } from './opt-builder.js';

const TERMS = {
  at0002: 'First',
  at0003: 'Second',
  at0004: 'Third',
  at0010: 'Red',
  at0011: 'Green',
  at0012: 'Blue',
};
const TREE = '/content[openEHR-EHR-EVALUATION.test.v1]/data[at0001]';
/** Path of a node in these templates. */
export const itemPath = (id: string): string => `${TREE}/items[${id}]`;

const BLUE = {
  _type: 'DV_CODED_TEXT',
  value: 'Blue',
  defining_code: {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: 'local' },
    code_string: 'at0012',
  },
};
const text = (id: string): string => element(id, node('DV_TEXT'));
const colours = (...codes: readonly string[]): string => element('at0002', codedText('local', codes));
const quantity = (unit: string): string =>
  element(
    'at0002',
    node('DV_QUANTITY', { xsiType: 'C_DV_QUANTITY', inside: `<list><units>${unit}</units></list>` }),
  );
const count = (id: string, occurrences = '0..1'): string => element(id, node('DV_COUNT'), occurrences);

/** A rule of each kind, revisions of a template that need it, and what it makes of the example of the first. */
interface RuleCase {
  readonly kind: string;
  /** Nodes of the EVALUATION. */
  readonly before: string;
  readonly after: string;
  readonly rule: JsonObject;
  /** Values by node id, of all nodes that there are then. */
  readonly values: Readonly<Record<string, JsonObject>>;
}

/** The OPT whose EVALUATION has these nodes. */
export function optOf(items: string, id = 'test'): string {
  return template(evaluation(items, TERMS), { id });
}

/** One for each kind of rule. */
export const RULE_CASES: readonly RuleCase[] = [
  {
    kind: 'move',
    before: text('at0002'),
    after: text('at0003'),
    rule: { move: itemPath('at0002'), to: itemPath('at0003') },
    values: { at0003: { value: 'Example text' } },
  },
  {
    kind: 'map',
    before: colours('at0010', 'at0011'),
    after: colours('at0011', 'at0012'),
    rule: { map: itemPath('at0002'), codes: { at0010: 'at0012' } },
    values: { at0002: BLUE },
  },
  {
    kind: 'unit',
    before: quantity('Cel'),
    after: quantity('[degF]'),
    rule: { unit: itemPath('at0002'), from: 'Cel', to: '[degF]', factor: 1.8, offset: 32 },
    values: { at0002: { magnitude: 33.8, units: '[degF]' } },
  },
  {
    kind: 'default',
    before: text('at0002'),
    after: text('at0002') + count('at0003', '1..1'),
    rule: { default: itemPath('at0003'), value: 7 },
    values: { at0002: { value: 'Example text' }, at0003: { _type: 'DV_COUNT', magnitude: 7 } },
  },
  {
    kind: 'split',
    before: text('at0002'),
    after: text('at0003') + text('at0004'),
    rule: {
      split: itemPath('at0002'),
      pattern: '(\\w+) (.*)',
      into: [itemPath('at0003'), itemPath('at0004')],
    },
    values: { at0003: { value: 'Example' }, at0004: { value: 'text' } },
  },
  {
    kind: 'join',
    before: text('at0003') + text('at0004'),
    after: text('at0002'),
    rule: { join: [itemPath('at0003'), itemPath('at0004')], with: ', ', into: itemPath('at0002') },
    values: { at0002: { value: 'Example text, Example text' } },
  },
  {
    kind: 'drop',
    before: text('at0002') + count('at0004'),
    after: count('at0004'),
    rule: { drop: itemPath('at0002'), consent: true },
    values: { at0004: { magnitude: 1 } },
  },
];

/** A node of such a COMPOSITION. */
interface Item {
  readonly archetype_node_id: string;
  readonly value: JsonObject;
}

/** The nodes of a COMPOSITION of these templates. */
export function itemsIn(composition: JsonObject): Item[] {
  const [entry] = composition['content'] as unknown as { data: { items?: Item[] } }[];
  return entry?.data.items ?? [];
}

/** Their values by node id. */
export function valuesIn(composition: JsonObject): Record<string, JsonValue> {
  return Object.fromEntries(itemsIn(composition).map(({ archetype_node_id: id, value }) => [id, value]));
}
