import { CdrError } from '../../openehr/base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import { readRm } from '../../openehr/rm/read.js';
import { validateRm } from '../../openehr/rm/validate.js';
import type { CompiledTemplate } from '../../openehr/template/opt/compile.js';
import { validateAgainstTemplate, type ValueSetCode } from '../../openehr/template/validate/validate.js';

/**
 * The error that carries findings: its message is the findings joined by `, `
 * (docs/spec/formats.md#validation-stages).
 */
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

/** How strictly a COMPOSITION is validated. */
export interface CompositionRules {
  readonly checkRmRules: boolean;
  readonly checkExtraNodes: boolean;
  readonly checkContainerCardinality: boolean;
  /** Nothing is missing: lifecycle states incomplete and abandoned. */
  readonly lenient: boolean;
}

/** What the rules find in a COMPOSITION. */
export interface CompositionFindings {
  readonly violations: readonly string[];
  /** Codes that a terminology server has to validate. */
  readonly valueSetCodes: readonly ValueSetCode[];
}

/** Validates a COMPOSITION that was read by RM, terminology and template rules. Pure. */
export function compositionFindings(
  composition: JsonObject,
  template: CompiledTemplate,
  rules: CompositionRules,
): CompositionFindings {
  const { checkRmRules, lenient } = rules;
  const valueSetCodes: ValueSetCode[] = [];
  const violations = [
    ...(checkRmRules ? validateRm(composition, { lenient }) : []),
    ...validateAgainstTemplate(composition, template, { ...rules, valueSetCodes }),
  ];
  return { violations, valueSetCodes };
}

/** Validates an EHR_STATUS or FOLDER by the RM rules. @throws invalid with all findings */
export function validateByRm(object: JsonObject, furtherFindings: readonly string[] = []): void {
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
