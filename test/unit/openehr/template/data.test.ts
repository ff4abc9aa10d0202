import { deserialize, serialize } from 'node:v8';
import { expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../openehr/base/json.js';
import { exampleComposition } from '../../../../openehr/template/example/example.js';
import { readTemplate, withMatcher, type TemplateData } from '../../../../openehr/template/compile.js';
import { webTemplateJson } from '../../../../openehr/template/web-template/web-template.js';
import { fixtureText, templateNames } from '../../../support/fixture.js';
import { validate } from '../../../support/openehr/stages.js';

it.each(templateNames())('a template is whole after its way between threads: %s', (name) => {
  const data = readTemplate(fixtureText(`opt/${name}.opt`));
  const [here, there] = [withMatcher(data), withMatcher(deserialize(serialize(data)) as TemplateData)];
  const written = webTemplateJson(there.opt, there.filteredTree);
  expect(JSON.stringify(written)).toBe(here.webTemplateText.toString());
  const example: JsonObject = exampleComposition(there, { detailLevel: 'complete', type: 'input' });
  expect(validate(example, () => there)).toEqual({ status: 201, violations: [] });
  // Nothing of it fits where another archetype is asked for.
  const other = JSON.parse(JSON.stringify(example).replaceAll('"at00', '"at99')) as JsonObject;
  expect(validate(other, () => there)).toEqual(validate(other, () => here));
});
