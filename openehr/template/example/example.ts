import type { JsonObject } from '../../base/json.js';
import type { CompiledTemplate } from '../opt/compile.js';
import { choicesFor, type DetailLevel, type ExampleChoices } from './example-choices.js';
import { exampleObject } from './example-object.js';
import { localeOf } from './sample.js';

/** What an example shall look like (ITS-REST: definition_template_adl1.4_example_get). */
export interface ExampleOptions {
  readonly detailLevel: DetailLevel;
  /** `output` has a `uid`, as a committed COMPOSITION has. */
  readonly type: 'input' | 'output';
  /** ISO 639-1; the default language of the template when missing. */
  readonly language?: string;
}

const EXAMPLE_UID = '00000000-0000-4000-8000-000000000001::example.org::1';

/** An example COMPOSITION in canonical JSON: valid against the reference model and the template. */
export function exampleComposition(template: CompiledTemplate, options: ExampleOptions): JsonObject {
  const language = options.language ?? template.defaultLanguage;
  const { _type, ...attributes } = composedBy(template, choicesFor(options.detailLevel), language);
  const uid = { _type: 'OBJECT_VERSION_ID', value: EXAMPLE_UID };
  return { _type: _type ?? 'COMPOSITION', ...(options.type === 'output' ? { uid } : {}), ...attributes };
}

/** A valid COMPOSITION of a template by other choices than those of the detail levels. */
export function composedBy(
  template: CompiledTemplate,
  choices: ExampleChoices,
  language = template.defaultLanguage,
): JsonObject {
  const context = { choices, locale: localeOf(language) };
  const composition = exampleObject(template.fullTree, context) ?? { _type: 'COMPOSITION' };
  const details = composition.archetype_details;
  composition.archetype_details = {
    ...(typeof details === 'object' && details !== null && !Array.isArray(details) ? details : {}),
    template_id: { _type: 'TEMPLATE_ID', value: template.templateId },
  };
  return composition;
}
