import { CdrError } from '../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.js';
import type { RootType } from '../models/layout.js';
import { templateInUse, type TemplateInUse } from '../models/template.js';
import { readRm } from '../rm/read.js';
import { missingCompositionAttributes, validateRm } from '../rm/validate.js';
import { validateAgainstTemplate, type ValueSetCode } from '../template/validate.js';
import { isLenient, type LifecycleState } from './codes.js';
import type { ChangeContext } from './context.js';
import { templateNotFound } from './refusal.js';
import type { TemplateOfEntry } from './request.js';
import { valueSetFindings } from './value-sets.js';

/** The error that carries findings: its message is the findings joined by `, ` (R19). */
export function findings(code: 'invalid' | 'unprocessable', violations: readonly string[]): CdrError {
  return new CdrError(code, violations.join(', '), { violations });
}

/**
 * Reads a value into its RM type: known types and attributes, primitive types, ISO 8601 forms.
 * @throws invalid with all findings
 */
export function readObject(value: JsonValue, type: RootType): JsonObject {
  const { object, violations } = readRm(value, type);
  if (violations.length > 0) throw findings('invalid', violations);
  if (object === null) throw new CdrError('invalid', `the content is no ${type}`);
  if (object._type !== type)
    throw findings('invalid', [
      `/: Object should be type ${type}, but was ${textAt(object, ['_type']) ?? 'none'}`,
    ]);
  return object;
}

/** The template id that a COMPOSITION names; '' when it names none. */
export function templateIdOf(composition: JsonObject): string {
  const value = textAt(composition, ['archetype_details', 'template_id', 'value']);
  return value ?? '';
}

/**
 * Judges a COMPOSITION that was read: root attributes (400), template known (422), then RM, terminology and
 * template rules together (422).
 * @throws invalid or unprocessable with all findings of the stage
 */
export async function judgeComposition(
  context: ChangeContext,
  composition: JsonObject,
  lifecycleState: LifecycleState,
): Promise<TemplateOfEntry> {
  const missing = missingCompositionAttributes(composition);
  if (missing.length > 0) throw findings('invalid', missing);
  const templateId = templateIdOf(composition);
  const template = await templateFor(context, templateId);
  if (template === null) throw templateNotFound(templateId, 'unprocessable');
  const { checkRmRules, checkExtraNodes, checkContainerCardinality } = context.settings;
  const lenient = isLenient(lifecycleState);
  const valueSetCodes: ValueSetCode[] = [];
  const violations = [
    ...(checkRmRules ? validateRm(composition, { lenient }) : []),
    ...validateAgainstTemplate(composition, template.compiled, {
      checkExtraNodes,
      checkContainerCardinality,
      lenient,
      valueSetCodes,
    }),
    ...(await valueSetFindings(context.settings.terminology, valueSetCodes)),
  ];
  if (violations.length > 0) throw findings('unprocessable', violations);
  const category = textAt(composition, ['category', 'defining_code', 'code_string']) ?? '';
  return { templateId, category, template };
}

function templateFor({ templates }: ChangeContext, templateId: string): Promise<TemplateInUse | null> {
  const known = templates?.get(templateId) ?? templateInUse(templateId);
  templates?.set(templateId, known);
  return known;
}

/** Judges an EHR_STATUS or FOLDER by the RM rules. @throws invalid with all findings (R20) */
export function judgeByRm(object: JsonObject, furtherFindings: readonly string[] = []): void {
  const violations = [...validateRm(object), ...furtherFindings];
  if (violations.length > 0) throw findings('invalid', violations);
}

/** The object without some of its attributes. */
export function withoutAttributes(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** Text at a path of attribute names, undefined when there is none. */
export function textAt(value: JsonValue | undefined, path: readonly string[]): string | undefined {
  let found: JsonValue | undefined = value;
  for (const name of path) found = isJsonObject(found) ? found[name] : undefined;
  return typeof found === 'string' ? found : undefined;
}
