import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../../openehr/base/json.js';
import { violationAt, type Violation } from '../../../../../openehr/base/violation.js';
import { withFlatPaths, withFormPaths } from '../../../../../openehr/format/flat/violation-key.js';
import { writeFlat } from '../../../../../openehr/format/flat/write.js';
import { exampleComposition } from '../../../../../openehr/template/example/example.js';
import { templateNames } from '../../../../support/fixture.js';
import { mutatedCompositionsOf } from '../../../../support/openehr/template-compositions.js';
import { publicTemplate } from '../../../../support/openehr/templates.js';
import { read } from './support.js';

/** A violation at each object of a value. */
function everywhere(value: JsonValue, path = ''): Violation[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => everywhere(item, `${path}[${index}]`));
  if (!isJsonObject(value)) return [];
  const below = Object.entries(value).flatMap(([name, member]) =>
    everywhere(member ?? null, `${path}/${name}`),
  );
  return [violationAt(path === '' ? '/' : path, 'is wrong'), ...below];
}

describe.each(templateNames())('violations of a COMPOSITION of %s', (name) => {
  const template = publicTemplate(name);

  it('have the same keys in canonical content as in the FLAT body that gives this content', () => {
    const example = exampleComposition(template, { detailLevel: 'complete', type: 'input' });
    const flat = writeFlat(example, template);
    const composition = read(flat, template);
    const violations = everywhere(composition);
    const keys = (found: readonly Violation[]): object =>
      Object.fromEntries(found.map(({ path, flatPath }) => [path, flatPath]));
    expect(keys(withFormPaths(violations, composition, template))).toEqual(
      keys(withFlatPaths(violations, flat, template)),
    );
  });

  it('have keys, or none, whatever the content is', () => {
    fc.assert(
      fc.property(mutatedCompositionsOf(template), (composition: JsonObject) => {
        const violations = everywhere(composition);
        expect(withFormPaths(violations, composition, template)).toHaveLength(violations.length);
      }),
      { numRuns: name === 'Corona_Anamnese' ? 4 : 20 },
    );
  });
});
