import { describe, expect, it } from '@jest/globals';
import { CdrError } from '../../../../openehr/base/errors.js';
import type { ObjectConstraint } from '../../../../openehr/template/opt/constraint.js';
import { compileTemplate, parseOpt } from '../../../../openehr/template/compile.js';
import { fixtureText, templateNames } from '../../../support/fixture.js';
import {
  codedText,
  element,
  evaluation,
  multiple,
  node,
  primitive,
  root,
  single,
  template,
} from '../../../support/openehr/opt-builder.js';

const VALID = template(evaluation(element('at0002', node('DV_TEXT')), { at0002: 'Note' }));

function refused(text: string): CdrError {
  try {
    parseOpt(text);
  } catch (error) {
    if (error instanceof CdrError) {
      expect(error.code).toBe('invalid');
      return error;
    }
    throw error;
  }
  throw new Error('accepted');
}

const refusal = (text: string): string => refused(text).message;

/** The object at attribute and position steps below the definition. */
function at(text: string, ...steps: (readonly [string, number?])[]): ObjectConstraint {
  let found: ObjectConstraint = parseOpt(text).definition;
  for (const [name, index = 0] of steps) {
    const attribute = found.attributes.find((candidate) => candidate.name === name)!;
    found = attribute.children[index] as ObjectConstraint;
  }
  return found;
}

const ITEMS = [['content'], ['data']] as const;

describe('parseOpt', () => {
  it.each(templateNames())('reads %s', (name) => {
    const opt = parseOpt(fixtureText(`opt/${name}.opt`));
    expect(opt.templateId).toBe(name);
    expect(opt.definition.rmType).toBe('COMPOSITION');
    expect(opt.languages.length).toBeGreaterThan(0);
  });

  it('reads the elements around the definition', () => {
    const opt = parseOpt(VALID);
    expect(opt).toMatchObject({
      templateId: 'test',
      concept: 'test',
      uid: 'cb5aa21f-82d9-440d-908d-9fa4087263a9',
      defaultLanguage: 'en',
      languages: ['en'],
      description: { originalAuthor: { Name: 'Somebody' }, lifecycleState: 'Initial' },
    });
  });

  it('accepts a byte order mark, comments and any prefix of the namespaces', () => {
    const prefixed = VALID.replace('?>', '?><!-- made by hand -->')
      .replaceAll(/<(\/?)([a-z])/g, '<$1o:$2')
      .replace('xmlns=', 'xmlns:o=')
      .replaceAll('xsi:', 'x:')
      .replace('xmlns:xsi', 'xmlns:x')
      .replaceAll('="C_', '="o:C_');
    expect(parseOpt(`\ufeff${prefixed}`).templateId).toBe('test');
  });

  it('ignores node ids of classes that are not LOCATABLE', () => {
    const opt = template(
      evaluation(element('at0002', node('DV_TEXT', { id: 'at9999' })), { at0002: 'Note' }),
    );
    expect(at(opt, ...ITEMS, ['items'], ['value']).nodeId).toBe('');
  });

  it('gives an internal reference the attributes of its target and keeps its own occurrences', () => {
    const reference = node('CLUSTER', {
      id: 'at0003',
      occurrences: '0..5',
      xsiType: 'ARCHETYPE_INTERNAL_REF',
      inside: '<target_path>/data[at0001]/items[at0002]</target_path>',
    });
    const target = node('CLUSTER', {
      id: 'at0002',
      inside: multiple('items', element('at0004', node('DV_COUNT'))),
    });
    const texts = { at0002: 'Target', at0003: 'Reference', at0004: 'Count' };
    const found = at(template(evaluation(target + reference, texts)), ...ITEMS, ['items', 1]);
    expect(found.occurrences).toEqual({ min: 0, max: 5 });
    expect(found.nodeId).toBe('at0003');
    expect(found.attributes[0]!.children[0]!.nodeId).toBe('at0004');
  });

  it.each([
    ['has no target', '/data[at0001]/items[at0077]'],
    ['leads back to itself', '/data[at0001]'],
  ])('refuses an internal reference that %s', (reason, path) => {
    const reference = node('CLUSTER', {
      id: 'at0002',
      xsiType: 'ARCHETYPE_INTERNAL_REF',
      inside: `<target_path>${path}</target_path>`,
    });
    expect(refusal(template(evaluation(reference, { at0002: 'Reference' })))).toBe(
      `Invalid template: internal reference ${path} ${reason}`,
    );
  });

  it('stops internal references that multiply without end', () => {
    const level = (index: number) => {
      const target = `<target_path>/data[at0001]/items[at${1000 + index - 1}]</target_path>`;
      const reference = node('CLUSTER', { xsiType: 'ARCHETYPE_INTERNAL_REF', inside: target, id: 'at0002' });
      const inside = index === 0 ? element('at0002', node('DV_TEXT')) : reference.repeat(10);
      return node('CLUSTER', { id: `at${1000 + index}`, inside: multiple('items', inside) });
    };
    const levels = Array.from({ length: 20 }, (_, index) => level(index)).join('');
    const texts = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`at${1000 + index}`, 'Level']),
    );
    expect(refusal(template(evaluation(levels, { ...texts, at0002: 'Item' })))).toBe(
      'Invalid template: a template can have at most 10000 nodes, this one has far more',
    );
  });

  it('reads includes and excludes of a slot from expressions and texts', () => {
    const inside = `<includes><expression xsi:type="EXPR_BINARY_OPERATOR"><type>Boolean</type><operator>2007</operator><left_operand xsi:type="EXPR_LEAF"><type>String</type><item>archetype_id/value</item></left_operand><right_operand xsi:type="EXPR_LEAF"><type>C_STRING</type><item xsi:type="C_STRING"><pattern>openEHR-EHR-CLUSTER\\.device\\.v1</pattern></item></right_operand></expression></includes><excludes><string_expression>archetype_id/value matches {/.*/}</string_expression></excludes>`;
    const slot = node('CLUSTER', { id: 'at0002', xsiType: 'ARCHETYPE_SLOT', inside });
    expect(at(template(evaluation(slot, { at0002: 'Slot' })), ...ITEMS, ['items'])).toMatchObject({
      kind: 'slot',
      includes: [{ archetypeIdPattern: 'openEHR-EHR-CLUSTER\\.device\\.v1' }],
      excludes: [{ archetypeIdPattern: '.*' }],
    });
  });

  it('reads every primitive constraint', () => {
    const range =
      '<range><lower_included>false</lower_included><lower_unbounded>false</lower_unbounded><upper_unbounded>true</upper_unbounded><lower>1</lower></range>';
    const values = [
      node('DV_COUNT', { inside: primitive('magnitude', 'INTEGER', 'C_INTEGER', `<list>3</list>${range}`) }),
      node('DV_DURATION', { inside: primitive('value', 'DURATION', 'C_DURATION', '<pattern>PTM</pattern>') }),
      node('DV_DATE', {
        inside: primitive('value', 'DATE', 'C_DATE', '<timezone_validity>1002</timezone_validity>'),
      }),
      node('DV_BOOLEAN', {
        inside: primitive(
          'value',
          'BOOLEAN',
          'C_BOOLEAN',
          '<true_valid>true</true_valid><false_valid>false</false_valid><assumed_value>true</assumed_value>',
        ),
      }),
      node('DV_TEXT', {
        inside: primitive(
          'value',
          'STRING',
          'C_STRING',
          '<pattern>a+</pattern><list>b</list><list_open>true</list_open>',
        ),
      }),
    ].join('');
    const opt = template(evaluation(element('at0002', values), { at0002: 'Value' }));
    const items = at(opt, ...ITEMS, ['items']).attributes[0]!.children.map((value) => {
      const [attribute] = (value as ObjectConstraint).attributes;
      const [child] = attribute!.children;
      return child!.kind === 'primitive' ? child!.item : null;
    });
    expect(items).toEqual([
      {
        kind: 'integer',
        list: [3],
        range: { lower: 1, upper: null, lowerIncluded: false, upperIncluded: true },
        assumedValue: null,
      },
      { kind: 'duration', pattern: 'PTM', timezoneValidity: null, range: null, assumedValue: null },
      { kind: 'date', pattern: null, timezoneValidity: 1002, range: null, assumedValue: null },
      { kind: 'boolean', trueValid: true, falseValid: false, assumedValue: true },
      { kind: 'string', pattern: 'a+', list: ['b'], listOpen: true, assumedValue: null },
    ]);
  });

  it('reads term bindings, annotations, default values and terms of other languages', () => {
    const bindings =
      '<term_bindings terminology="LOINC"><items code="at0002"><value><terminology_id><value>LOINC</value></terminology_id><code_string>8480-6</code_string></value></items></term_bindings>';
    const after = `<component_ontologies archetype_id="openEHR-EHR-EVALUATION.test.v1"><term_definitions language="de"><items code="at0002"><items id="text">Notiz</items></items></term_definitions></component_ontologies><annotations path="[openEHR-EHR-COMPOSITION.test.v1]/content"><items id="hint">Mind this</items></annotations><constraints><attributes><rm_attribute_name>value</rm_attribute_name><children><default_value xsi:type="DV_TEXT"><value>None</value></default_value></children><differential_path>/content/data</differential_path></attributes></constraints>`;
    const entry = root('openEHR-EHR-EVALUATION.test.v1', bindings, { at0002: 'Note' });
    const opt = parseOpt(template(entry, { after }));
    const content = opt.definition.attributes.find(({ name }) => name === 'content')!
      .children[0] as ObjectConstraint;
    expect(content.archetype!.termBindings.get('LOINC')!.get('at0002')).toEqual({
      terminologyId: 'LOINC',
      code: '8480-6',
    });
    expect(opt.translations.get('openEHR-EHR-EVALUATION.test.v1')!.get('de')!.get('at0002')).toEqual({
      text: 'Notiz',
    });
    expect(opt.annotations).toEqual([
      { path: '[openEHR-EHR-COMPOSITION.test.v1]/content', items: { hint: 'Mind this' } },
    ]);
    expect(opt.defaults).toEqual([
      { path: '/content/data', attribute: 'value', rmType: 'DV_TEXT', attributes: { value: 'None' } },
    ]);
  });
});

describe('parseOpt refuses', () => {
  const without = (name: string) => VALID.replace(new RegExp(`<${name}>.*?</${name}>`, 's'), '');
  const beforeDefinition = (name: string, replacement: string) =>
    VALID.replace(new RegExp(`<${name}>.*?</${name}>(?=.*<definition>)`, 's'), replacement);
  const nil = (what: string) => `Supplied template has nil or empty ${what}`;

  it.each([
    ['an empty body', '', 'Required request body is missing'],
    ['no concept', without('concept'), nil('concept')],
    ['an empty concept', beforeDefinition('concept', '<concept> </concept>'), nil('concept')],
    ['no language', VALID.replace(/<language>.*?<\/language>/s, ''), nil('language')],
    ['no definition', VALID.replace(/<definition>.*<\/definition>/s, ''), nil('definition')],
    ['no description', VALID.replace(/<description>.*<\/description>/s, ''), nil('description')],
    ['no original_author', VALID.replace(/<original_author.*?<\/original_author>/s, ''), nil('description')],
    ['no lifecycle_state', without('lifecycle_state'), nil('description')],
    ['no details', VALID.replace(/<details>.*<\/details>/s, ''), nil('description')],
    ['no template_id', beforeDefinition('template_id', ''), nil('template id value')],
    [
      'a template_id without value',
      beforeDefinition('template_id', '<template_id/>'),
      nil('template id value'),
    ],
    [
      'a LOCATABLE node without term',
      VALID.replace('code="at0002"', 'code="at0007"'),
      'Invalid template: ELEMENT node at0002 has no term',
    ],
    [
      'an unknown RM class',
      VALID.replace('DV_TEXT', 'DV_TEXTS'),
      'Invalid template: unknown RM type DV_TEXTS',
    ],
  ])('%s', (_, text, message) => {
    expect(refusal(text)).toBe(message);
  });

  it.each([
    [
      'a binding of a constraint code that nothing defines',
      VALID.replace(
        '</definition>',
        '<term_bindings terminology="SNOMED-CT"><items code="ac0009"><value><terminology_id><value>SNOMED-CT</value></terminology_id><code_string>1</code_string></value></items></term_bindings></definition>',
      ),
      'the constraint code ac0009 is bound but not defined',
    ],
    [
      'a CLUSTER that may have no items but not many',
      template(
        evaluation(
          node('CLUSTER', { id: 'at0003', inside: multiple('items', element('at0002', ''), '0..3') }),
          { at0002: 'Note', at0003: 'Notes' },
        ),
      ),
      'cardinality 0..3 of CLUSTER.items, which has at least one member',
    ],
  ])('as a new one, but for use where it is stored: %s', (_, text, reason) => {
    expect(compileTemplate(text).opt.refusedAsNew).toEqual([reason]);
  });

  it.each([
    ['text that is not XML', 'template'],
    ['a truncated file', VALID.slice(0, 900)],
    ['another root', VALID.replace('<template ', '<templates ').replace(/template>$/, 'templates>')],
    ['another namespace', VALID.replace('schemas.openehr.org/v1', 'schemas.openehr.org/v2')],
    ['an element twice', VALID.replace('<concept>', '<concept>x</concept><concept>')],
    ['an unknown element', VALID.replace('<concept>', '<conceptual/><concept>')],
    ['an unknown xsi:type', VALID.replace('"C_COMPLEX_OBJECT"', '"C_COMPLICATED_OBJECT"')],
    [
      'an unknown primitive',
      template(
        evaluation(
          element('at0002', node('DV_TEXT', { inside: primitive('value', 'STRING', 'C_TEXT', '') })),
          { at0002: 'Note' },
        ),
      ),
    ],
    ['a document type', VALID.replace('<template', '<!DOCTYPE template [<!ENTITY a "b">]><template')],
  ])('%s as unreadable', (_, text) => {
    expect(refusal(text)).toMatch(/^Invalid template input content: /);
  });

  it.each([
    ['DV_TEXT', 'DV_TEXTS', 'value'],
    ['"C_SINGLE_ATTRIBUTE"', '"C_TRIPLE_ATTRIBUTE"', null],
  ])('with its place: %s as %s', (right, wrong, last) => {
    const place = VALID.lastIndexOf(right);
    const text = VALID.slice(0, place) + wrong + VALID.slice(place + right.length);
    const problems = refused(text).details.problems ?? [];
    expect(problems).toHaveLength(1);
    expect(problems[0]?.path).toMatch(/^\/content\[openEHR-EHR-[^\]]+\]\/data\[at\d+\]/);
    if (last !== null) expect(problems[0]?.path).toMatch(new RegExp(`/${last}$`));
  });

  it('XML that ends an element wrongly, with its line', () => {
    expect(refusal('<template>\n  <a>\n  </b>\n</template>')).toMatch(
      /<\/b> where <a> is open \(line 3, column 3\)$/,
    );
  });

  it('C_DV_STATE', () => {
    const state = node('DV_STATE', { xsiType: 'C_DV_STATE', inside: '<value/>' });
    expect(refusal(template(evaluation(element('at0002', state), { at0002: 'State' })))).toBe(
      'Invalid template: C_DV_STATE is not supported',
    );
  });

  it.each(['careflow_step', 'current_state'])('a transition without %s', (missing) => {
    const parts = ['careflow_step', 'current_state'].filter((name) => name !== missing);
    const inside = parts.map((name) => single(name, codedText('local', ['at0002']))).join('');
    const action = root(
      'openEHR-EHR-ACTION.test.v1',
      single('ism_transition', node('ISM_TRANSITION', { inside })),
      { at0002: 'Step' },
    );
    expect(refusal(template(action))).toBe(`Invalid template: ism_transition without ${missing}`);
  });

  it('names the first problem of several', () => {
    const text = without('concept')
      .replace('DV_TEXT', 'DV_TEXTS')
      .replace(/<definition>.*<\/definition>/s, '');
    expect(refusal(text)).toBe(nil('concept'));
  });
});
