import { violationText } from '../../../openehr/base/violation.js';
import { readRm } from '../../../openehr/rm/read.js';
import { missingCompositionAttributes, validateRm } from '../../../openehr/rm/invariants/validate.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import type { CompiledTemplate } from '../../../openehr/template/compile.js';
import { validateAgainstTemplate } from '../../../openehr/template/validate.js';

/** What a server with the default settings answers to a COMPOSITION. */
export interface Verdict {
  readonly status: 201 | 400 | 422;
  readonly violations: readonly string[];
}

/** Runs the stages of docs/spec/formats.md#validation-stages in their order. */
export function validate(
  composition: JsonObject,
  template: (templateId: string) => CompiledTemplate | null,
  lenient = false,
): Verdict {
  const { object, violations } = readRm(composition, 'COMPOSITION');
  if (object === null) return { status: 400, violations: violations.map(violationText) };
  const missing = missingCompositionAttributes(object);
  if (missing.length > 0) return { status: 400, violations: missing.map(violationText) };
  const details = object['archetype_details'] as { template_id: { value: string } };
  const templateId = details.template_id.value;
  const compiled = template(templateId);
  if (compiled === null)
    return { status: 422, violations: [`Template with template_id '${templateId}' does not exist`] };
  const options = { checkExtraNodes: true, checkContainerCardinality: false, lenient };
  const found = [...validateRm(object, { lenient }), ...validateAgainstTemplate(object, compiled, options)];
  return { status: found.length === 0 ? 201 : 422, violations: found.map(violationText) };
}
