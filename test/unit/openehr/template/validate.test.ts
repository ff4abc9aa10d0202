import { violationText, type Violation } from '../../../../openehr/base/violation.js';
import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../openehr/base/json.js';
import { compileTemplate } from '../../../../openehr/template/compile.js';
import { validateRm } from '../../../../openehr/rm/invariants/validate.js';
import { exampleComposition } from '../../../../openehr/template/example/example.js';
import {
  validateAgainstTemplate,
  type TemplateValidationOptions,
  type ValueSetCode,
} from '../../../../openehr/template/validate.js';
import {
  codedText,
  element,
  evaluation,
  multiple,
  named,
  node,
  primitive,
  root,
  single,
  template,
} from '../../../support/openehr/opt-builder.js';

const OPTIONS = { checkExtraNodes: true, checkContainerCardinality: false };
const PLACE = '/content[0]/data/items[0]';

type Items = Record<string, unknown>[];

function bounds(lower: string, upper: string): string {
  return `<lower_included>true</lower_included><upper_included>true</upper_included><lower_unbounded>false</lower_unbounded><upper_unbounded>false</upper_unbounded><lower>${lower}</lower><upper>${upper}</upper>`;
}

/** The findings after a change to the complete example of a template with this content. */
function findings(
  content: string,
  change: (items: Items, composition: JsonObject) => void,
  options: Partial<TemplateValidationOptions> = {},
): string[] {
  return violations(content, change, options).map(violationText);
}

function violations(
  content: string,
  change: (items: Items, composition: JsonObject) => void,
  options: Partial<TemplateValidationOptions> = {},
): Violation[] {
  const compiled = compileTemplate(template(content));
  const composition = exampleComposition(compiled, { detailLevel: 'complete', type: 'input' });
  expect(validateAgainstTemplate(composition, compiled, OPTIONS)).toEqual([]);
  const [entry] = composition.content as JsonObject[];
  const items = (entry!.data as JsonObject)['items'] as Items;
  change(items, composition);
  return validateAgainstTemplate(composition, compiled, { ...OPTIONS, ...options });
}

describe('an ELEMENT that the template leaves open', () => {
  it.each<[string, JsonObject]>([
    ['DV_PARAGRAPH', { items: [{ _type: 'DV_TEXT', value: 'a' }] }],
    ['DV_INTERVAL', { lower: { _type: 'DV_COUNT', magnitude: 1 }, lower_included: true }],
    ['DV_SCALE', { value: 1.5, symbol: { _type: 'DV_CODED_TEXT', value: 'a' } }],
    [
      'DV_PERIODIC_TIME_SPECIFICATION',
      { value: { _type: 'DV_PARSABLE', value: 'x', formalism: 'HL7:PIVL' } },
    ],
    ['DV_QUANTITY', { magnitude: 1, units: 'mm' }],
  ])('takes a %s, as any DATA_VALUE', (_type, value) => {
    const found = findings(evaluation(element('at0002', ''), { at0002: 'Value' }), (items) => {
      items[0]!['value'] = { _type, ...value };
    });
    expect(found).toEqual([]);
  });

  it('insists on the types where the template names some', () => {
    const named = element('at0002', node('DV_TEXT') + node('DV_COUNT'));
    const found = findings(evaluation(named, { at0002: 'Value' }), (items) => {
      items[0]!['value'] = { _type: 'DV_PARAGRAPH', items: [] };
    });
    expect(found).toEqual([
      expect.stringContaining('Object should be type DV_TEXT or DV_COUNT, but was DV_PARAGRAPH'),
    ]);
  });
});

describe('violations as data', () => {
  const content = evaluation(element('at0002', codedText('local', ['at0003', 'at0004'])), {
    at0002: 'Value',
    at0003: 'Left',
    at0004: 'Right',
  });
  const AQL = '/content[openEHR-EHR-EVALUATION.test.v1]/data[at0001]/items[at0002]';

  it('tell the kind, what was expected and what was found, and the path for AQL', () => {
    const found = violations(content, (items) => {
      items[0]!.value = coded('at0009', 'Left');
      items.push({ ...items[0], archetype_node_id: 'at0099', value: coded('at0003', 'Right') });
    });
    expect(found).toMatchObject([
      {
        path: `${PLACE}/value`,
        aqlPath: `${AQL}/value/defining_code`,
        code: 'code-not-listed',
        expected: ['at0003', 'at0004'],
        found: 'at0009',
      },
      {
        path: '/content[0]/data',
        aqlPath: AQL.replace(/\/items.*/, ''),
        code: 'not-in-template',
        found: 'at0099',
      },
    ]);
  });

  it('put nothing into the path for AQL that is no node id', () => {
    const [found] = violations(content, (items) => {
      items[0]!.archetype_node_id = "at0002]/x or 'y";
    });
    expect(found).toMatchObject({ code: 'not-in-template', aqlPath: AQL.replace(/\/items.*/, '') });
    expect(
      violations(content, (_, composition) => {
        composition.archetype_node_id = 'other';
      })[0],
    ).not.toHaveProperty('aqlPath');
  });

  it('count', () => {
    const found = violations(content, (items) => {
      for (let i = 0; i < 20; i += 1) items.push({ ...items[0] });
    });
    expect(found).toMatchObject([
      {
        path: '/content[0]/data/items',
        code: 'occurrences',
        expected: [{ lower: 0, node_id: 'at0002' }],
        found: 21,
      },
    ]);
  });
});

describe('very many violations', () => {
  it('are told up to a thousand', () => {
    const found = findings(evaluation(element('at0002', ''), { at0002: 'Value' }), (items) => {
      for (let i = 0; i < 3000; i += 1) items.push({ ...items[0], archetype_node_id: 'at0099' });
    });
    expect(found).toHaveLength(1001);
    expect(found.at(-1)).toBe('/: More than 1000 violations, the others are not listed');
  });
});

/** The findings when the one ELEMENT of an EVALUATION holds a value. */
function valueFindings(values: string, value: JsonObject, texts: Record<string, string> = {}): string[] {
  return findings(evaluation(element('at0002', values), { at0002: 'Value', ...texts }), (items) => {
    items[0]!.value = value;
  });
}

const coded = (code: string, value: string, terminology = 'local'): JsonObject => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: terminology },
    code_string: code,
  },
});

const locatable = (type: string, nodeId: string, name: string, rest: JsonObject = {}): JsonObject => ({
  _type: type,
  name: { _type: 'DV_TEXT', value: name },
  archetype_node_id: nodeId,
  ...rest,
});

const PROTOCOL = node('ITEM_TREE', { id: 'at0005' });
const ANOTHER = locatable('ITEM_TREE', 'at0009', 'X');
const VALUE = `${PLACE}/value`;
const CODES = { at0003: 'Left', at0004: 'Right' };

describe('coded text', () => {
  const value = codedText('local', Object.keys(CODES));

  it('must be coded', () => {
    expect(valueFindings(value, { _type: 'DV_TEXT', value: 'Left' }, CODES)).toEqual([
      `${VALUE}: Expected a DV_CODED_TEXT but got DV_TEXT`,
    ]);
  });

  it.each([
    [
      coded('at0003', 'Left', 'SNOMED-CT'),
      'terminology_id does not match. expected: local; found: SNOMED-CT',
      'defining_code/',
    ],
    [
      coded('at0005', 'Left'),
      'code_string does not match any option. found: at0005 (expected: at0003, at0004)',
      'defining_code/',
    ],
    [coded('at0003', 'Right'), 'value does not match. expected: Left; found: Right', ''],
  ])('%# must have terminology, code and text of the template', (found, text, attribute) => {
    expect(valueFindings(value, found, CODES)).toEqual([`${VALUE}: DV_CODED_TEXT/${attribute}${text}`]);
  });

  it('may have the label of any language of the template', () => {
    const after =
      '<component_ontologies archetype_id="openEHR-EHR-EVALUATION.test.v1"><term_definitions language="de"><items code="at0003"><items id="text">Links</items></items></term_definitions></component_ontologies>';
    const content = evaluation(element('at0002', value), { at0002: 'Value', ...CODES });
    const compiled = compileTemplate(template(content, { after, languages: ['en', 'de'] }));
    const composition = exampleComposition(compiled, { detailLevel: 'complete', type: 'input' });
    const text = JSON.stringify(composition).replace('"Left"', '"Links"');
    expect(validateAgainstTemplate(JSON.parse(text) as JsonObject, compiled, OPTIONS)).toEqual([]);
  });

  it('may be any text where free text is an alternative', () => {
    const either = value + node('DV_TEXT');
    expect(valueFindings(either, coded('x', 'Anything', 'ICD10'), CODES)).toEqual([]);
    expect(valueFindings(either, { _type: 'DV_TEXT', value: 'Anything' }, CODES)).toEqual([]);
  });

  it('of an external reference must have its terminology, and any code', () => {
    const reference = (uri: string) =>
      node('DV_CODED_TEXT', {
        inside: single(
          'defining_code',
          node('CODE_PHRASE', {
            xsiType: 'C_CODE_REFERENCE',
            inside: `<referenceSetUri>terminology:${uri}</referenceSetUri>`,
          }),
        ),
      });
    const codeSystem = reference('//fhir.hl7.org/CodeSystem?url=http://snomed.info/sct');
    expect(valueFindings(codeSystem, coded('1', 'x', 'http://snomed.info/sct'))).toEqual([]);
    expect(valueFindings(codeSystem, coded('1', 'x', 'local'))).toEqual([
      `${VALUE}: DV_CODED_TEXT/defining_code/terminology_id does not match. expected: http://snomed.info/sct; found: local`,
    ]);
    expect(
      valueFindings(reference('//fhir.hl7.org/ValueSet/$expand?url=http://x'), coded('1', 'x', 'any')),
    ).toEqual([]);
  });
});

describe('codes of value sets', () => {
  it('are listed for a terminology server', () => {
    const uri = 'terminology://fhir.hl7.org/ValueSet/$expand?url=http://example.org/vs';
    const inside = single(
      'defining_code',
      node('CODE_PHRASE', {
        xsiType: 'C_CODE_REFERENCE',
        inside: `<referenceSetUri>${uri}</referenceSetUri>`,
      }),
    );
    const content = evaluation(element('at0002', node('DV_CODED_TEXT', { inside })), { at0002: 'Value' });
    const valueSetCodes: ValueSetCode[] = [];
    const change = (items: Items) => (items[0]!.value = coded('1', 'x', 'http://loinc.org'));
    expect(findings(content, change, { valueSetCodes })).toEqual([]);
    expect(valueSetCodes).toEqual([
      {
        path: VALUE,
        aqlPath: '/content[openEHR-EHR-EVALUATION.test.v1]/data[at0001]/items[at0002]/value',
        valueSetUrl: 'http://example.org/vs',
        terminologyId: 'http://loinc.org',
        code: '1',
      },
    ]);
  });
});

describe('other values', () => {
  const integer = (item: string) =>
    node('DV_COUNT', { inside: primitive('magnitude', 'INTEGER', 'C_INTEGER', item) });
  const text = (item: string) => node('DV_TEXT', { inside: primitive('value', 'STRING', 'C_STRING', item) });
  const quantity = (list: string) => node('DV_QUANTITY', { xsiType: 'C_DV_QUANTITY', inside: list });
  const unit = (name: string, range = '', precision = '') =>
    `<list>${range}${precision}<units>${name}</units></list>`;
  const millimetres = unit(
    'mm',
    `<magnitude>${bounds('0', '100')}</magnitude>`,
    `<precision>${bounds('1', '1')}</precision>`,
  );
  const ordinal = node('DV_ORDINAL', {
    xsiType: 'C_DV_ORDINAL',
    inside:
      '<list><value>1</value><symbol><value/><defining_code><terminology_id><value>local</value></terminology_id><code_string>at0003</code_string></defining_code></symbol></list>',
  });
  const temporal = (type: string, item: string, parts: string) =>
    node(`DV_${type}`, { inside: primitive('value', type, item, parts) });
  const dv = (type: string, value: string | boolean): JsonObject => ({ _type: type, value });
  const inMm = (magnitude: number, rest: JsonObject = {}): JsonObject => ({
    _type: 'DV_QUANTITY',
    magnitude,
    units: 'mm',
    ...rest,
  });

  it.each([
    [quantity(millimetres), inMm(200), 'The value 200 must be at least 0 and at most 100'],
    [quantity(millimetres), inMm(20, { precision: 2 }), 'The value 2 must be equal to 1'],
    [quantity(unit('cm')), inMm(1), 'The value "mm" must be "cm"'],
    [quantity(unit('cm') + unit('m')), inMm(1), 'The value "mm" must be one of:\n -\t"cm"\n -\t"m"'],
    [ordinal, { _type: 'DV_ORDINAL', value: 3, symbol: coded('at0003', 'Left') }, 'The value 3 must be 1'],
    [
      integer(`<range>${bounds('1', '3')}</range>`),
      { _type: 'DV_COUNT', magnitude: 5 },
      'The value 5 must be at least 1 and at most 3',
    ],
    [
      integer('<list>3</list><list>4</list>'),
      { _type: 'DV_COUNT', magnitude: 5 },
      'The value 5 must be one of:\n -\t3\n -\t4',
    ],
    [text('<list>a</list>'), dv('DV_TEXT', 'b'), 'The value "b" must be "a"'],
    [text('<pattern>a+</pattern>'), dv('DV_TEXT', 'ab'), 'The value "ab" must be "/a+/"'],
    [
      node('DV_BOOLEAN', {
        inside: primitive(
          'value',
          'BOOLEAN',
          'C_BOOLEAN',
          '<true_valid>true</true_valid><false_valid>false</false_valid>',
        ),
      }),
      dv('DV_BOOLEAN', false),
      'The value false must be true',
    ],
    [
      node('DV_PROPORTION', { inside: primitive('type', 'INTEGER', 'C_INTEGER', '<list>2</list>') }),
      { _type: 'DV_PROPORTION', numerator: 1, denominator: 2, type: 0 },
      'The value 0 must be 2',
    ],
    [
      temporal('DATE', 'C_DATE', '<pattern>yyyy-mm-dd</pattern>'),
      dv('DV_DATE', '2021-10'),
      'The value 2021-10 must be yyyy-mm-dd',
    ],
    [
      temporal('DATE', 'C_DATE', '<pattern>yyyy-??-XX</pattern>'),
      dv('DV_DATE', '2021-10-01'),
      'The value 2021-10-01 must be yyyy-??-XX',
    ],
    [
      temporal('DATE_TIME', 'C_DATE_TIME', '<pattern>yyyy-mm-ddTHH:MM:SS</pattern>'),
      dv('DV_DATE_TIME', '2021-10-24T10:30-03:00'),
      'The value 2021-10-24T10:30-03:00 must be yyyy-mm-ddTHH:MM:SS',
    ],
    [
      temporal('DURATION', 'C_DURATION', `<range>${bounds('PT24H', 'PT48H')}</range>`),
      dv('DV_DURATION', 'PT15H'),
      'The value PT15H must be >= PT24H',
    ],
    [node('DV_COUNT'), dv('DV_BOOLEAN', true), 'Object should be type DV_COUNT, but was DV_BOOLEAN'],
    [
      node('DV_COUNT') + node('DV_QUANTITY'),
      dv('DV_BOOLEAN', true),
      'Object should be type DV_COUNT or DV_QUANTITY, but was DV_BOOLEAN',
    ],
  ])('%# are refused with what they must be', (values, value, expected) => {
    expect(valueFindings(values, value, CODES)).toEqual([`${VALUE}: ${expected}`]);
  });

  it.each([
    [
      temporal('DATE_TIME', 'C_DATE_TIME', '<pattern>yyyy-mm-ddTHH:??:??</pattern>'),
      dv('DV_DATE_TIME', '2021-10-24T10+02:00'),
    ],
    [temporal('DATE', 'C_DATE', '<pattern>yyyy-??-XX</pattern>'), dv('DV_DATE', '2021')],
    [temporal('TIME', 'C_TIME', '<pattern>HH:MM:XX</pattern>'), dv('DV_TIME', '10:30Z')],
    [node('DV_URI'), dv('DV_EHR_URI', 'ehr://a/b')],
    [quantity(unit('mm', `<magnitude>${bounds('0', '1')}</magnitude>`) + millimetres), inMm(20)],
    [text('<list>a</list><list_open>true</list_open>'), dv('DV_TEXT', 'b')],
  ])('%# are accepted', (values, value) => {
    expect(valueFindings(values, value)).toEqual([]);
  });

  it('are validated within an interval', () => {
    const interval = node('DV_INTERVAL<DV_QUANTITY>', {
      inside: single('lower', quantity(millimetres), '0..1') + single('upper', quantity(millimetres), '0..1'),
    });
    const value: JsonObject = { _type: 'DV_INTERVAL', lower: inMm(1), upper: inMm(101) };
    expect(valueFindings(interval, value)).toEqual([
      `${VALUE}/upper: The value 101 must be at least 0 and at most 100`,
    ]);
  });

  it('choose the alternative that fits', () => {
    const alternatives = node('DV_INTERVAL<DV_COUNT>') + node('DV_INTERVAL<DV_QUANTITY>');
    const value: JsonObject = { _type: 'DV_INTERVAL', lower: inMm(1), upper: inMm(2) };
    expect(valueFindings(alternatives, value)).toEqual([]);
  });
});

it('the encoding of an ENTRY is of the IANA character sets', () => {
  const compiled = compileTemplate(template(evaluation(element('at0002', ''), { at0002: 'Value' })));
  const encodingFindings = (terminology: string, code: string) => {
    const composition = exampleComposition(compiled, { detailLevel: 'complete', type: 'input' });
    const [entry] = composition.content as JsonObject[];
    entry!.encoding = coded(code, '', terminology).defining_code!;
    return validateRm(composition).map(violationText);
  };
  expect(encodingFindings('IANA_character-sets', 'UTF-8')).toEqual([]);
  expect(encodingFindings('IANA_character-sets', 'XYZ')[0]).toContain('Encoding_valid');
  expect(encodingFindings('openehr', 'UTF-8')[0]).toContain('Encoding_valid');
});

describe('a name that must be a DV_CODED_TEXT', () => {
  const given = (codes: readonly string[]) =>
    evaluation(
      node('ELEMENT', {
        id: 'at0002',
        inside: single('name', codedText('local', codes)) + single('value', node('DV_TEXT'), '0..1'),
      }),
      { at0002: 'Side', at0005: 'Left' },
    );
  const withName = (codes: readonly string[], name: JsonObject) =>
    findings(given(codes), (items) => {
      items[0]!.name = name;
    });

  it.each([[['at0005']], [['at0099']], [[]]])('is one in the example, codes %j', (codes) => {
    expect(findings(given(codes), () => undefined)).toEqual([]);
  });

  it('is checked', () => {
    expect(withName(['at0005'], coded('at0005', 'Left'))).toEqual([]);
    const plain = withName(['at0005'], { _type: 'DV_TEXT', value: 'Left' });
    expect(plain).toEqual([expect.stringContaining('Expected a DV_CODED_TEXT but got DV_TEXT')]);
    const other = withName(['at0005'], coded('at0006', 'Left'));
    expect(other).toEqual([expect.stringContaining('code_string does not match any option. found: at0006')]);
  });
});

describe('occurrences', () => {
  const content = evaluation(
    element('at0002', node('DV_TEXT'), '1..1') + element('at0003', node('DV_TEXT'), '0..2'),
    { at0002: 'One', at0003: 'Two' },
    '0..3',
  );

  it('are counted per node, all findings at once', () => {
    const found = findings(content, (items) => items.splice(0, 2, items[1]!, items[1]!, items[1]!));
    expect(found).toEqual([
      '/content[0]/data/items: Attribute has 0 occurrences, but must be 1..1 (at0002 One)',
      '/content[0]/data/items: Attribute has 3 occurrences, but must be 0..2 (at0003 Two)',
    ]);
  });

  it('are counted when the whole attribute is missing', () => {
    const found = findings(content, (_, composition) => {
      const [entry] = composition.content as JsonObject[];
      delete (entry!.data as JsonObject)['items'];
    });
    expect(found).toEqual([
      '/content[0]/data/items: Attribute has 0 occurrences, but must be 1..1 (at0002 One)',
    ]);
  });

  it('have no lower limits when lenient', () => {
    expect(findings(content, (items) => items.splice(0, 1), { lenient: true })).toEqual([]);
  });

  it('of a missing optional parent do not matter', () => {
    expect(findings(content, (_, composition) => Reflect.deleteProperty(composition, 'content'))).toEqual([]);
  });

  it('of the container are checked when asked for', () => {
    const grow = (items: Items) => items.push(items[1]!, items[1]!);
    expect(findings(content, grow)).toHaveLength(1);
    expect(findings(content, grow, { checkContainerCardinality: true })).toContain(
      '/content[0]/data/items: Attribute does not match cardinality 0..3 (found: 4)',
    );
  });

  it.each<[string, string, JsonObject | undefined, string[]]>([
    ['1..1', PROTOCOL, undefined, ['Attribute has 0 occurrences, but must be 1..1']],
    ['0..1', '', ANOTHER, []],
    ['0..0', '', ANOTHER, ['Attribute has 1 occurrences, but must be 0..0']],
  ])('of a single attribute follow its existence: %s of %j', (existence, inside, protocol, expected) => {
    const items = multiple('items', element('at0002', ''));
    const tree = single('data', node('ITEM_TREE', { id: 'at0001', inside: items }));
    const texts = { at0001: 'T', at0002: 'E', at0005: 'P' };
    const content = tree + single('protocol', inside, existence);
    const found = findings(root('openEHR-EHR-EVALUATION.test.v1', content, texts), (_, composition) => {
      const [entry] = composition.content as JsonObject[];
      delete entry!.protocol;
      if (protocol !== undefined) entry!.protocol = protocol;
    });
    expect(found).toEqual(expected.map((message) => `/content[0]/protocol: ${message}`));
  });

  it('tell siblings of one node id apart by their names', () => {
    const twin = (name: string) =>
      node('ELEMENT', {
        id: 'at0002',
        occurrences: '0..1',
        inside: named(name) + single('value', node('DV_TEXT')),
      });
    const twins = evaluation(twin('Left') + twin('Right'), { at0002: 'Side' });
    expect(findings(twins, (items) => items.push(structuredClone(items[0]!)))).toEqual([
      '/content[0]/data/items: Attribute has 2 occurrences, but must be 0..1 (at0002 Left)',
    ]);
  });
});

describe('objects that are not in the template', () => {
  const content = evaluation(element('at0002', node('DV_TEXT')), { at0002: 'One' });
  const stranger = locatable('CLUSTER', 'at0009', 'X', { items: [] });
  const text = 'RmObject with type:Cluster, nodeId:at0009,name:X; not in template (expected: at0002 One)';

  it('are findings of the object that holds them', () => {
    expect(findings(content, (items) => items.push(stranger))).toEqual([`/content[0]/data: ${text}`]);
  });

  it('are found below the place of the composition', () => {
    const rootPath = '/versions[1]/data';
    expect(findings(content, (items) => items.push(stranger), { rootPath })).toEqual([
      `${rootPath}/content[0]/data: ${text}`,
    ]);
  });

  it('are accepted when not checked', () => {
    expect(findings(content, (items) => items.push(stranger), { checkExtraNodes: false })).toEqual([]);
  });

  it('are found in attributes that the template does not mention', () => {
    const found = findings(content, (_, composition) => {
      (composition.content as JsonObject[])[0]!.protocol = locatable('ITEM_TREE', 'at0011', 'Tree');
    });
    expect(found).toEqual([
      '/content[0]: RmObject with type:ItemTree, nodeId:at0011,name:Tree; not in template (expected: nothing)',
    ]);
  });

  it('include those with another name than the template gives', () => {
    const given = node('ELEMENT', { id: 'at0002', inside: named('Left') + single('value', node('DV_TEXT')) });
    const found = findings(evaluation(given, { at0002: 'Side' }), (items) => {
      items[0]!.name = { _type: 'DV_TEXT', value: 'Right' };
    });
    expect(found).toEqual([
      '/content[0]/data: RmObject with type:Element, nodeId:at0002,name:Right; not in template (expected: at0002 Left)',
    ]);
  });

  it('do not exist below objects without constraints', () => {
    const open = evaluation(node('CLUSTER', { id: 'at0002' }), { at0002: 'Open' });
    expect(findings(open, (items) => (items[0]!.items = [stranger]))).toEqual([]);
  });

  it('include another class under a known node id', () => {
    const found = findings(content, (items) => (items[0]!._type = 'CLUSTER'));
    expect(found).toEqual([`${PLACE}: Object should be type ELEMENT, but was CLUSTER`]);
  });

  it('include another root archetype', () => {
    const found = findings(
      content,
      (_, composition) => (composition.archetype_node_id = 'openEHR-EHR-COMPOSITION.other.v1'),
    );
    expect(found[0]).toMatch(
      /^\/: RmObject with type:Composition, nodeId:openEHR-EHR-COMPOSITION\.other\.v1/,
    );
  });
});

describe('slots', () => {
  const assertion = (name: string, pattern: string) =>
    `<${name}><string_expression>archetype_id/value matches {/${pattern}/}</string_expression></${name}>`;
  const slot = (inside: string, occurrences = '0..*') =>
    evaluation(
      element('at0002', node('DV_TEXT')) +
        node('CLUSTER', { id: 'at0003', occurrences, xsiType: 'ARCHETYPE_SLOT', inside }),
      { at0002: 'One' },
    );
  const device = 'openEHR-EHR-CLUSTER\\.device\\.v1';
  const filler = (nodeId: string, type = 'CLUSTER') => locatable(type, nodeId, 'Filler');
  const isRefused = (content: string, nodeId: string, type?: string) =>
    findings(content, (items) => items.push(filler(nodeId, type))).length > 0;

  it.each([
    ['anything of its class without assertions', '', 'openEHR-EHR-CLUSTER.other.v1', false],
    ['only what is included', assertion('includes', device), 'openEHR-EHR-CLUSTER.other.v1', true],
    ['what is included', assertion('includes', device), 'openEHR-EHR-CLUSTER.device.v1', false],
    [
      'not what is excluded',
      assertion('includes', '.*') + assertion('excludes', device),
      'openEHR-EHR-CLUSTER.device.v1',
      true,
    ],
    [
      'what is included although all is excluded',
      assertion('includes', device) + assertion('excludes', '.*'),
      'openEHR-EHR-CLUSTER.device.v1',
      false,
    ],
    ['no other class', assertion('includes', '.*'), 'openEHR-EHR-OBSERVATION.device.v1', true],
    ['no at-codes', assertion('includes', '.*'), 'at0004', true],
  ])('take %s', (_, inside, archetypeId, refused) => {
    expect(isRefused(slot(inside), archetypeId)).toBe(refused);
  });

  it('count what fills them', () => {
    const found = findings(slot('', '1..1'), (items) => items.push(filler('openEHR-EHR-CLUSTER.other.v1')));
    expect(found).toEqual([
      '/content[0]/data/items: Attribute has 2 occurrences, but must be 1..1 (at0003 CLUSTER)',
    ]);
  });
});

describe('transitions', () => {
  const transition = (step: string, state: string) =>
    node('ISM_TRANSITION', {
      inside:
        single('current_state', codedText('openehr', [state])) +
        single('careflow_step', codedText('local', [step]), '0..1'),
    });
  const action = root(
    'openEHR-EHR-ACTION.test.v1',
    single('description', node('ITEM_TREE', { id: 'at0001' })) +
      single('ism_transition', transition('at0002', '528') + transition('at0003', '526')),
    { at0001: 'Tree', at0002: 'Cancel', at0003: 'Plan' },
  );

  function transitionFindings(change: (transition: JsonObject) => void): string[] {
    const compiled = compileTemplate(template(action));
    const composition = exampleComposition(compiled, { detailLevel: 'complete', type: 'input' });
    change((composition.content as JsonObject[])[0]!.ism_transition as JsonObject);
    return validateAgainstTemplate(composition, compiled, OPTIONS).map(violationText);
  }

  it('are valid in the example', () => {
    expect(transitionFindings(() => undefined)).toEqual([]);
  });

  it('must lead to the state', () => {
    const found = transitionFindings((object) => {
      object.transition = coded('166', 'cancel', 'openehr');
      object.careflow_step = coded('at0003', 'Plan');
      object.current_state = coded('526', 'planned', 'openehr');
    });
    expect(found).toEqual([
      '/content[0]/ism_transition: No valid transition found for ism transition[cancel/openehr/166] (expected current_state: 528, found: 526)',
    ]);
  });

  it('must have a state of the step', () => {
    const found = transitionFindings((object) => {
      object.transition = coded('166', 'cancel', 'openehr');
      object.careflow_step = coded('at0003', 'Plan');
      object.current_state = coded('528', 'cancelled', 'openehr');
    });
    expect(found).toEqual([
      '/content[0]/ism_transition: IsmTransition contains invalid current_state (expected: 526, found: 528)',
    ]);
  });
});
