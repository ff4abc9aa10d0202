import { describe, expect, it } from '@jest/globals';
import { compileTemplate } from '../../../../openehr/template/compile.js';
import type { WebTemplateNode } from '../../../../openehr/template/web-template/web-template.js';
import {
  codedText,
  element,
  multiple,
  named,
  node,
  root,
  single,
  template,
} from '../../../support/openehr/opt-builder.js';

const ARCHETYPE = 'openEHR-EHR-EVALUATION.symptom.v1';
const TERMS = { at0001: 'Tree', at0002: 'Symptom', at0003: 'Presence', at0004: 'Present' };

/** The same archetype twice, told apart by names alone. */
function symptoms(after: string): WebTemplateNode {
  const presence = element('at0003', codedText('local', ['at0004']));
  const symptom = (name: string) => {
    const tree = node('ITEM_TREE', {
      id: 'at0001',
      inside: multiple('items', element('at0002', node('DV_TEXT')) + presence),
    });
    return root(ARCHETYPE, named(name) + single('data', tree), TERMS, '0..*');
  };
  return compileTemplate(template(symptom('Chest symptom') + symptom("Baker's cyst"), { after }))
    .filteredTree;
}

function found(tree: WebTemplateNode, name: string, id: string): WebTemplateNode {
  const entry = tree.children.find((child) => child.name === name)!;
  return entry.children.find((child) => child.id === id)!;
}

const path = (predicate: string, item: string) =>
  `/content[${ARCHETYPE}${predicate}]/data[at0001]/items[${item}]`;

const annotation = (predicate: string, text: string) =>
  `<annotations path="[openEHR-EHR-COMPOSITION.test.v1]${path(predicate, 'at0002').replaceAll('"', '&quot;')}"><items id="map">${text}</items></annotations>`;

const preset = (predicate: string) =>
  `<constraints><attributes><rm_attribute_name>value</rm_attribute_name><children><default_value xsi:type="DV_CODED_TEXT"><defining_code><code_string>at0004</code_string></defining_code></default_value></children><differential_path>${path(predicate, 'at0003')}</differential_path></attributes></constraints>`;

describe('what a template says of a path', () => {
  it.each([
    [" and name/value='Chest symptom'", 'Chest symptom', "Baker's cyst"],
    [", 'Chest symptom'", 'Chest symptom', "Baker's cyst"],
    [', "Baker\'s cyst"', "Baker's cyst", 'Chest symptom'],
    [", 'Baker\\'s cyst'", "Baker's cyst", 'Chest symptom'],
  ])('belongs to the node whose names are those of [id%s]', (predicate, named, other) => {
    const tree = symptoms(annotation(predicate, 'SNOMED CT') + preset(predicate));
    expect(found(tree, named, 'symptom').annotations).toEqual({ map: 'SNOMED CT' });
    expect(found(tree, other, 'symptom').annotations).toBeUndefined();
    expect(found(tree, named, 'presence').inputs[0]!.defaultValue).toBe('at0004');
    expect(found(tree, other, 'presence').inputs[0]!.defaultValue).toBeUndefined();
  });

  it('belongs to all nodes at the path where it names none', () => {
    const tree = symptoms(annotation('', 'SNOMED CT') + preset(''));
    for (const name of ['Chest symptom', "Baker's cyst"]) {
      expect(found(tree, name, 'symptom').annotations).toEqual({ map: 'SNOMED CT' });
      expect(found(tree, name, 'presence').inputs[0]!.defaultValue).toBe('at0004');
    }
  });

  it('is added up where several fit', () => {
    const tree = symptoms(annotation('', 'all') + annotation(", 'Chest symptom'", 'chest'));
    expect(found(tree, 'Chest symptom', 'symptom').annotations).toEqual({ map: 'chest' });
    expect(found(tree, "Baker's cyst", 'symptom').annotations).toEqual({ map: 'all' });
  });
});
