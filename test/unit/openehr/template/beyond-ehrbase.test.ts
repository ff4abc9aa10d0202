import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../openehr/base/json.js';
import { insistedOn, type AcceptedFinding } from '../../../../openehr/rm/lenient.js';
import { compileTemplate } from '../../../../openehr/template/compile.js';
import { exampleComposition } from '../../../../openehr/template/example/example.js';
import { validateAgainstTemplate } from '../../../../openehr/template/validate.js';
import { element, evaluation, node, primitive, template } from '../../../support/openehr/opt-builder.js';

const OPTIONS = { checkExtraNodes: true, checkContainerCardinality: true };

/** What is wrong with a value in an ELEMENT of this constraint, whose own example must be right. */
function findings(constraint: string, value: JsonObject) {
  const compiled = compileTemplate(template(evaluation(element('at0002', constraint), { at0002: 'Value' })));
  const composition = exampleComposition(compiled, { detailLevel: 'complete', type: 'input' });
  expect(validateAgainstTemplate(composition, compiled, OPTIONS)).toEqual([]);
  const [entry] = composition.content as JsonObject[];
  const [item] = (entry!.data as JsonObject)['items'] as JsonObject[];
  item!.value = value;
  return validateAgainstTemplate(composition, compiled, OPTIONS);
}

const duration = (pattern: string): string =>
  node('DV_DURATION', {
    inside: primitive('value', 'DURATION', 'C_DURATION', `<pattern>${pattern}</pattern>`),
  });
const identifier = (constraint: string): string =>
  node('DV_IDENTIFIER', { inside: primitive('type', 'STRING', 'C_STRING', constraint) });
const property = (code: string): string =>
  node('DV_QUANTITY', {
    xsiType: 'C_DV_QUANTITY',
    inside: `<property><terminology_id><value>openehr</value></terminology_id><code_string>${code}</code_string></property>`,
  });
const lasting = (value: string): JsonObject => ({ _type: 'DV_DURATION', value });
const identified = (type: string): JsonObject => ({ _type: 'DV_IDENTIFIER', id: '1', type });
const measured = (units: string): JsonObject => ({ _type: 'DV_QUANTITY', magnitude: 1, units });

/** Rules of the archetype model that EHRbase does not check. */
describe('a template that constrains', () => {
  it.each([
    ['units of a duration', duration('PTM'), lasting('P1Y'), 'The value P1Y must be of the pattern PTM'],
    [
      'units of a duration',
      duration('PMWDTHMS'),
      lasting('P1Y1D'),
      'The value P1Y1D must be of the pattern PMWDTHMS',
    ],
    ['units of a duration', duration('PYMD'), lasting('PT1M'), 'The value PT1M must be of the pattern PYMD'],
    [
      'texts of an identifier by a list',
      identifier('<list>XYZ</list>'),
      identified('A'),
      'The value "A" must be "XYZ"',
    ],
    [
      'texts of an identifier by a pattern',
      identifier('<pattern>X.*</pattern>'),
      identified('A'),
      'The value "A" must be "/X.*/"',
    ],
    ['a property', property('122'), measured('mg'), 'The value "mg" must be a unit of Length'],
  ])('%s refuses what breaks it, and lenient validation takes it', (_, constraint, value, message) => {
    const found = findings(constraint, value);
    expect(found.map((violation) => violation.message)).toEqual([message]);
    const accepted: AcceptedFinding[] = [];
    expect(insistedOn(found, accepted)).toEqual([]);
    expect(accepted.map((finding) => finding.message)).toEqual([message]);
  });

  it.each([
    ['units of a duration', duration('PTM'), lasting('PT90M')],
    ['units of a duration: zero has any unit', duration('PTM'), lasting('P0D')],
    ['units of a duration', duration('PYMWDTHMS'), lasting('P1Y2M3W4DT5H6M7S')],
    ['texts of an identifier', identifier('<list>XYZ</list>'), identified('XYZ')],
    ['a property', property('122'), measured('cm')],
    ['a property: a unit that no property has', property('122'), measured('{steps}')],
    ['a property that is not known', property('999'), measured('mg')],
  ])('%s takes what keeps it', (_, constraint, value) => {
    expect(findings(constraint, value)).toEqual([]);
  });
});
