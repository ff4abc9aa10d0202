/** Small operational templates for tests, as XML text. */

const interval = (name: string, text: string): string => {
  const [lower = '0', upper = '1'] = text.split('..');
  const unbounded = upper === '*';
  return `<${name}><lower_included>true</lower_included>${unbounded ? '' : '<upper_included>true</upper_included>'}<lower_unbounded>false</lower_unbounded><upper_unbounded>${unbounded}</upper_unbounded><lower>${lower}</lower>${unbounded ? '' : `<upper>${upper}</upper>`}</${name}>`;
};

interface NodeParts {
  readonly id?: string;
  readonly occurrences?: string;
  readonly inside?: string;
  readonly xsiType?: string;
}

/** A `children` element; C_COMPLEX_OBJECT unless told otherwise. */
export function node(rmType: string, parts: NodeParts = {}): string {
  const { id = '', occurrences = '1..1', inside = '', xsiType = 'C_COMPLEX_OBJECT' } = parts;
  const type = rmType.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<children xsi:type="${xsiType}"><rm_type_name>${type}</rm_type_name>${interval('occurrences', occurrences)}<node_id>${id}</node_id>${inside}</children>`;
}

/** A C_SINGLE_ATTRIBUTE. */
export function single(name: string, children: string, existence = '1..1'): string {
  return `<attributes xsi:type="C_SINGLE_ATTRIBUTE"><rm_attribute_name>${name}</rm_attribute_name>${interval('existence', existence)}${children}</attributes>`;
}

/** A C_MULTIPLE_ATTRIBUTE. */
export function multiple(name: string, children: string, cardinality = '0..*', existence = '0..1'): string {
  return `<attributes xsi:type="C_MULTIPLE_ATTRIBUTE"><rm_attribute_name>${name}</rm_attribute_name>${interval('existence', existence)}${children}<cardinality><is_ordered>false</is_ordered><is_unique>false</is_unique>${interval('interval', cardinality)}</cardinality></attributes>`;
}

/** An ELEMENT with these value alternatives. */
export function element(id: string, values: string, occurrences = '0..1'): string {
  return node('ELEMENT', { id, occurrences, inside: values === '' ? '' : single('value', values, '0..1') });
}

/** A primitive attribute. */
export function primitive(attribute: string, rmType: string, itemType: string, item: string): string {
  const inside = `<item xsi:type="${itemType}">${item}</item>`;
  return single(attribute, node(rmType, { xsiType: 'C_PRIMITIVE_OBJECT', inside }));
}

/** A DV_CODED_TEXT with a C_CODE_PHRASE. */
export function codedText(terminology: string, codes: readonly string[], extra = ''): string {
  const list = codes.map((code) => `<code_list>${code}</code_list>`).join('');
  const inside = `${extra}<terminology_id><value>${terminology}</value></terminology_id>${list}`;
  return node('DV_CODED_TEXT', {
    inside: single('defining_code', node('CODE_PHRASE', { xsiType: 'C_CODE_PHRASE', inside })),
  });
}

/** A name constraint by a list of texts. */
export function named(...names: string[]): string {
  const list = names.map((name) => `<list>${name}</list>`).join('');
  return single('name', node('DV_TEXT', { inside: primitive('value', 'STRING', 'C_STRING', list) }));
}

/** Terms `{at0001: 'Text'}` as term definitions; `{at0001: {text, description, …}}` for more items. */
export function terms(texts: Record<string, string | Record<string, string>>): string {
  return Object.entries(texts)
    .map(([code, term]) => {
      const items = typeof term === 'string' ? { text: term, description: `${term} described` } : term;
      const xml = Object.entries(items).map(([id, text]) => `<items id="${id}">${text}</items>`);
      return `<term_definitions code="${code}">${xml.join('')}</term_definitions>`;
    })
    .join('');
}

/** A C_ARCHETYPE_ROOT with its terms (`at0000` is its own). */
export function root(
  archetypeId: string,
  inside: string,
  texts: Parameters<typeof terms>[0],
  occurrences = '0..1',
): string {
  const rmType = archetypeId.split('.')[0]!.split('-')[2]!;
  const end = `<archetype_id><value>${archetypeId}</value></archetype_id>${terms({ at0000: rmType, ...texts })}`;
  return node(rmType, { id: 'at0000', occurrences, xsiType: 'C_ARCHETYPE_ROOT', inside: inside + end });
}

/** An EVALUATION whose ITEM_TREE `at0001` holds these items. */
export function evaluation(items: string, texts: Parameters<typeof terms>[0], cardinality = '0..*'): string {
  const tree = node('ITEM_TREE', { id: 'at0001', inside: multiple('items', items, cardinality) });
  return root('openEHR-EHR-EVALUATION.test.v1', single('data', tree), { at0001: 'Tree', ...texts });
}

interface TemplateParts {
  readonly id?: string;
  /** Elements after `definition`. */
  readonly after?: string;
  readonly language?: string;
  readonly languages?: readonly string[];
}

/** A template whose COMPOSITION holds this content. */
export function template(content: string, parts: TemplateParts = {}): string {
  const { id = 'test', after = '', language = 'en', languages = [language] } = parts;
  const code = (value: string) =>
    `<language><terminology_id><value>ISO_639-1</value></terminology_id><code_string>${value}</code_string></language>`;
  const details = languages
    .map((value) => `<details>${code(value)}<purpose>Test</purpose></details>`)
    .join('');
  const category = single('category', codedText('openehr', ['433']));
  return `<?xml version="1.0" encoding="utf-8"?>
<template xmlns="http://schemas.openehr.org/v1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${code(language)}<description><original_author id="Name">Somebody</original_author><lifecycle_state>Initial</lifecycle_state>${details}</description><uid><value>cb5aa21f-82d9-440d-908d-9fa4087263a9</value></uid><template_id><value>${id}</value></template_id><concept>${id}</concept><definition><rm_type_name>COMPOSITION</rm_type_name>${interval('occurrences', '1..1')}<node_id>at0000</node_id>${category}${multiple('content', content)}<archetype_id><value>openEHR-EHR-COMPOSITION.test.v1</value></archetype_id><template_id><value>${id}</value></template_id>${terms({ at0000: 'Test' })}</definition>${after}</template>`;
}
