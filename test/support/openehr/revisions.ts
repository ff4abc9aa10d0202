import type { Change, DifferenceVerdict } from '../../../openehr/template/difference/change.js';
import type { CompiledTemplate } from '../../../openehr/template/compile.js';
import { element, node, terms } from './opt-builder.js';
import {
  archetypeIn,
  attributeIn,
  elementOf,
  elementsOf,
  fragment,
  insert,
  nodeIn,
  remove,
  revised,
  revisedText,
  setInterval,
  setText,
  textOf,
  walk,
  type OptElement,
} from './opt-tree.js';

/** A second revision of a public template, and what its difference is. */
interface Revision {
  readonly says: string;
  readonly template: string;
  readonly change: (template: OptElement) => void;
  readonly verdict: DifferenceVerdict;
  readonly changes: readonly Pick<Change, 'path' | 'kind' | 'what' | 'verdict'>[];
}

type Row = readonly [path: string, kind: Change['kind'], what: Change['what'], verdict: Change['verdict']];

const WORST_FIRST = ['breaking', 'unproven', 'minor'] as const;

/** The worst row is the whole of it. */
function revision(
  says: string,
  template: string,
  change: (template: OptElement) => void,
  ...rows: readonly [Row, ...Row[]]
): Revision {
  const changes = rows.map(([path, kind, what, verdict]) => ({ path, kind, what, verdict }));
  const worst = WORST_FIRST.find((each) => changes.some(({ verdict }) => verdict === each)) ?? 'text';
  return { says, template, change, verdict: worst === 'unproven' ? 'breaking' : worst, changes };
}

/** The second revision of the template. */
export function secondRevision({ template, change }: Revision): CompiledTemplate {
  return revised(template, change);
}

/** The OPT of the second revision of a template, by what it says. */
export function secondOpt(says: string): string {
  const found = REVISIONS.find((each) => each.says === says);
  if (found === undefined) throw new Error(`no revision in which ${says}`);
  return revisedText(found.template, found.change);
}

const EVALUATION = 'openEHR-EHR-EVALUATION.minimal.v1';
const ADMIN_ENTRY = 'openEHR-EHR-ADMIN_ENTRY.minimal.v1';
const ALL_TYPES = 'openEHR-EHR-EVALUATION.test_all_types.v1';
const ALL_VALUE =
  '/content[openEHR-EHR-OBSERVATION.test_all_types.v1]/data[at0001]/events[at0002]/data[at0003]/items[at0006]/value';
const ALL_ACTION =
  '/content[openEHR-EHR-SECTION.test_all_types.v1]/items[at0001]/items[at0002]/items[openEHR-EHR-ACTION.test_all_types.v1]';
const PRESSURE = 'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1';
const TEMPERATURE = 'openEHR-EHR-OBSERVATION.body_temperature.v2';
const NESTED = 'openEHR-EHR-CLUSTER.nested.v1';
const TEST = 'openEHR-EHR-OBSERVATION.test123.v0';

const only = (parent: OptElement, attribute: string): OptElement => {
  const [child] = elementsOf(attributeIn(parent, attribute), 'children');
  if (child === undefined) throw new Error(`nothing in ${attribute}`);
  return child;
};

/** What an archetype calls one of its codes. */
function setTerm(archetype: OptElement, code: string, text: string): void {
  for (const term of elementsOf(archetype, 'term_definitions'))
    for (const item of elementsOf(term, 'items'))
      if (term.attributes['code'] === code && item.attributes['id'] === 'text') item.children = [text];
}

/** One for each kind of change. */
export const REVISIONS: readonly Revision[] = [
  revision(
    'a node is added',
    'minimal_evaluation.en.v1',
    (template) => {
      const archetype = archetypeIn(template, EVALUATION);
      insert(nodeIn(archetype, 'at0002').holder, fragment(element('at0003', node('DV_TEXT'))));
      archetype.children.push(...fragment(terms({ at0003: 'Comment' })));
    },
    [`/content[${EVALUATION}]/data[at0001]/items[at0003]`, 'added', 'node', 'minor'],
  ),
  revision(
    'a node is removed',
    'nested.en.v1',
    (template) => {
      const { node: date, holder } = nodeIn(archetypeIn(template, NESTED), 'at0002');
      remove(holder, date);
    },
    [
      '/content[openEHR-EHR-SECTION.nested.v1]/items[openEHR-EHR-INSTRUCTION.nested.v1]/activities[at0001]' +
        `/description[openEHR-EHR-ITEM_TREE.nested.v1]/items[${NESTED}]/items[at0002]`,
      'removed',
      'node',
      'breaking',
    ],
  ),
  revision(
    'a node moves into a cluster',
    'test_all_types.en.v1',
    (template) => {
      const archetype = archetypeIn(template, ALL_TYPES);
      const { node: choice, holder } = nodeIn(archetype, 'at0009');
      remove(holder, choice);
      insert(attributeIn(nodeIn(archetype, 'at0006').node, 'items'), [choice]);
    },
    [`/content[${ALL_TYPES}]/data[at0001]/items[at0009]`, 'moved', 'node', 'breaking'],
  ),
  revision(
    'a node is renamed',
    'minimal_admin.en.v1',
    (template) => {
      setTerm(archetypeIn(template, ADMIN_ENTRY), 'at0002', 'Rank');
    },
    [`/content[${ADMIN_ENTRY}]/data[at0001]/items[at0002]`, 'renamed', 'name', 'text'],
  ),
  revision(
    'a node may stand there more often',
    'minimal_action_2',
    (template) => {
      const { node: proportion } = nodeIn(archetypeIn(template, 'openEHR-EHR-ACTION.minimal_2.v1'), 'at0002');
      setInterval(elementOf(proportion, 'occurrences'), '0..*');
    },
    [
      '/content[openEHR-EHR-ACTION.minimal_2.v1]/description[at0001]/items[at0002]',
      'widened',
      'occurrences',
      'minor',
    ],
  ),
  revision(
    'a range is narrowed',
    'Test_dv_quantity_property_units_constrained_with_magnitude_range.v0',
    (template) => {
      const { node: element } = nodeIn(archetypeIn(template, TEST), 'at0043');
      const unit = elementsOf(only(element, 'value'), 'list').find((each) => textOf(each, 'units') === 'cm');
      setInterval(elementOf(unit, 'magnitude'), '5.0..8.0');
    },
    [
      `/content[${TEST}]/data[at0001]/events[at0002]/data[at0003]/items[at0043]/value`,
      'narrowed',
      'magnitude',
      'breaking',
    ],
  ),
  revision(
    'a unit is replaced by another',
    'minimal_evaluation.en.v1',
    (template) => {
      const { node: element } = nodeIn(archetypeIn(template, EVALUATION), 'at0002');
      const unit = elementsOf(only(element, 'value'), 'list').find((each) => textOf(each, 'units') === 'gm');
      if (unit !== undefined) setText(unit, 'g', 'units');
    },
    [`/content[${EVALUATION}]/data[at0001]/items[at0002]/value`, 'changed', 'units', 'breaking'],
  ),
  revision(
    'a code list loses a code',
    'ehrbase_blood_pressure_simple.de.v0',
    (template) => {
      const { node: element } = nodeIn(archetypeIn(template, PRESSURE), 'at0008');
      const phrase = only(only(element, 'value'), 'defining_code');
      const code = elementsOf(phrase, 'code_list').find((each) => each.children[0] === 'at1014');
      if (code !== undefined) remove(phrase, code);
    },
    [
      `/content[${PRESSURE}]/data[at0001]/events[at0002]/state[at0007]/items[at0008]/value`,
      'narrowed',
      'codes',
      'breaking',
    ],
  ),
  revision(
    'a pattern of durations allows hours',
    'minimal_instruction.en.v1',
    (template) => {
      const archetype = archetypeIn(template, 'openEHR-EHR-INSTRUCTION.minimal.v1');
      const duration = only(nodeIn(archetype, 'at0003').node, 'value');
      setText(only(duration, 'value'), 'PTHM', 'item', 'pattern');
    },
    [
      '/content[openEHR-EHR-INSTRUCTION.minimal.v1]/activities[at0001]/description[at0002]/items[at0003]/value',
      'widened',
      'value',
      'minor',
    ],
  ),
  revision(
    'an alternative is gone',
    'alternative_types.en.v1',
    (template) => {
      const archetype = archetypeIn(template, 'openEHR-EHR-OBSERVATION.alternative_types.v1');
      const value = attributeIn(nodeIn(archetype, 'at0004').node, 'value');
      const count = elementsOf(value, 'children').find((each) => textOf(each, 'rm_type_name') === 'DV_COUNT');
      if (count !== undefined) remove(value, count);
    },
    [
      '/content[openEHR-EHR-OBSERVATION.alternative_types.v1]/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value',
      'removed',
      'alternative',
      'breaking',
    ],
  ),
  revision(
    'a slot is gone',
    'ehrbase_multi_occurrence.de.v1',
    (template) => {
      const { node: slot, holder } = nodeIn(archetypeIn(template, TEMPERATURE), 'at0057');
      remove(holder, slot);
    },
    [
      `/content[${TEMPERATURE}]/data[at0002]/events[at0003]/state[at0029]/items[at0057]`,
      'removed',
      'slot',
      'breaking',
    ],
  ),
  revision(
    'a slot has less room, beside one that takes the rest',
    'ehrbase_multi_occurrence.de.v1',
    (template) => {
      const { node: slot } = nodeIn(archetypeIn(template, TEMPERATURE), 'at0064');
      setInterval(elementOf(slot, 'occurrences'), '0..1');
    },
    [`/content[${TEMPERATURE}]/protocol[at0020]/items[at0064]`, 'narrowed', 'occurrences', 'minor'],
  ),
  revision(
    'a node is annotated',
    'persistent_minimal.en.v1',
    (template) => {
      template.children.push(
        ...fragment(
          '<annotations path="[openEHR-EHR-COMPOSITION.persistent_minimal.v1]/content[openEHR-EHR-OBSERVATION.minimal.v1]">' +
            '<items id="default.en.hint">Once a day</items></annotations>',
        ),
      );
    },
    ['/content[openEHR-EHR-OBSERVATION.minimal.v1]', 'added', 'annotations', 'text'],
  ),
  revision(
    'a precision is widened',
    'ehrbase_blood_pressure_simple.de.v0',
    (template) => {
      const { node: element } = nodeIn(archetypeIn(template, PRESSURE), 'at0004');
      const [unit] = elementsOf(only(element, 'value'), 'list');
      if (unit !== undefined) setInterval(elementOf(unit, 'precision'), '0..2');
    },
    [
      `/content[${PRESSURE}]/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value`,
      'widened',
      'precision',
      'minor',
    ],
  ),
  revision(
    'a slot takes by another pattern',
    'ehrbase_multi_occurrence.de.v1',
    (template) => {
      const { node: slot } = nodeIn(archetypeIn(template, TEMPERATURE), 'at0057');
      const pattern = ['includes', 'expression', 'right_operand', 'item', 'pattern'];
      setText(slot, 'openEHR-EHR-CLUSTER\\.(level_of_exertion|other)\\.v1', ...pattern);
    },
    [
      `/content[${TEMPERATURE}]/data[at0002]/events[at0003]/state[at0029]/items[at0057]`,
      'changed',
      'slot',
      'unproven',
    ],
    // Another slot stands beside it.
    [
      `/content[${TEMPERATURE}]/data[at0002]/events[at0003]/state[at0029]/items[at0057]`,
      'changed',
      'occurrences',
      'unproven',
    ],
  ),
  revision(
    'a container asks for more',
    'minimal_observation.en.v1',
    (template) => {
      const archetype = archetypeIn(template, 'openEHR-EHR-OBSERVATION.minimal.v1');
      const events = attributeIn(nodeIn(archetype, 'at0001').node, 'events');
      setInterval(elementOf(events, 'cardinality', 'interval'), '2..*');
    },
    [
      '/content[openEHR-EHR-OBSERVATION.minimal.v1]/data[at0001]/events',
      'narrowed',
      'cardinality',
      'breaking',
    ],
  ),
  revision(
    'a value must be there',
    'minimal_admin.en.v1',
    (template) => {
      const { node: element } = nodeIn(archetypeIn(template, ADMIN_ENTRY), 'at0002');
      setInterval(elementOf(attributeIn(element, 'value'), 'existence'), '1..1');
    },
    [`/content[${ADMIN_ENTRY}]/data[at0001]/items[at0002]/value`, 'narrowed', 'existence', 'breaking'],
  ),
  revision(
    'a code is called something else',
    'ehrbase_blood_pressure_simple.de.v0',
    (template) => {
      setTerm(archetypeIn(template, PRESSURE), 'at1014', 'On the left side');
    },
    [`/content[${PRESSURE}]`, 'changed', 'term', 'text'],
  ),
  revision(
    'a code list grows',
    'ehrbase_blood_pressure_simple.de.v0',
    (template) => {
      const { node: element } = nodeIn(archetypeIn(template, PRESSURE), 'at0008');
      only(only(element, 'value'), 'defining_code').children.push(
        ...fragment('<code_list>at1011</code_list>'),
      );
    },
    [
      `/content[${PRESSURE}]/data[at0001]/events[at0002]/state[at0007]/items[at0008]/value`,
      'widened',
      'codes',
      'minor',
    ],
  ),
  revision(
    'a node is bound to a code',
    'ehrbase_blood_pressure_simple.de.v0',
    (template) => {
      const code =
        '<terminology_id><value>SNOMED-CT</value></terminology_id><code_string>75367002</code_string>';
      archetypeIn(template, PRESSURE).children.push(
        ...fragment(
          `<term_bindings terminology="SNOMED-CT"><items code="at0000"><value>${code}</value></items></term_bindings>`,
        ),
      );
    },
    [`/content[${PRESSURE}]`, 'changed', 'binding', 'text'],
  ),
  revision(
    'a form begins with another code',
    'ehrbase_blood_pressure_simple.de.v0',
    (template) => {
      const { node: element } = nodeIn(archetypeIn(template, PRESSURE), 'at0008');
      setText(only(only(element, 'value'), 'defining_code'), 'at1000', 'assumed_value', 'code_string');
    },
    [
      `/content[${PRESSURE}]/data[at0001]/events[at0002]/state[at0007]/items[at0008]/value`,
      'changed',
      'default',
      'text',
    ],
  ),
  revision(
    'codes come from a value set',
    'test_all_types.en.v1',
    (template) => {
      for (const { element: each } of walk(template))
        if (textOf(each, 'referenceSetUri') !== '')
          setText(
            each,
            'terminology://fhir.hl7.org/ValueSet/$expand?url=http://example.org/positions',
            'referenceSetUri',
          );
    },
    [ALL_VALUE, 'widened', 'codes', 'minor'],
    [ALL_VALUE, 'narrowed', 'value_set', 'unproven'],
  ),
  revision(
    'a step leads to another state',
    'test_all_types.en.v1',
    (template) => {
      const { node: transition } = nodeIn(
        archetypeIn(template, 'openEHR-EHR-ACTION.test_all_types.v1'),
        'at0003',
      );
      const state = only(only(transition, 'current_state'), 'defining_code');
      setText(state, '245', 'code_list');
    },
    [`${ALL_ACTION}/ism_transition`, 'changed', 'transitions', 'breaking'],
    [`${ALL_ACTION}/ism_transition/current_state`, 'narrowed', 'codes', 'breaking'],
  ),
];
