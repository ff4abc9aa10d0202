import { CdrError } from '../../openehr/base/errors.js';
import { violationText, type Violation } from '../../openehr/base/violation.js';
import type { JsonValue } from '../../openehr/base/json.js';
import type { PartialRm, Rm } from '../../openehr/rm/model/rm.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import { readRm } from '../../openehr/rm/read.js';
import { validateRm } from '../../openehr/rm/validate.js';
import type { CompiledTemplate } from '../../openehr/template/opt/compile.js';
import { validateAgainstTemplate, type ValueSetCode } from '../../openehr/template/validate/validate.js';

/**
 * The error that carries violations: its message is the violations joined by `, `
 * (docs/spec/formats.md#validation-stages).
 */
export function validationError(
  code: 'invalid' | 'unprocessable',
  violations: readonly Violation[],
): CdrError {
  return new CdrError(code, violations.map(violationText).join(', '), { violations });
}

/**
 * Reads a value into its RM type: known types and attributes, primitive types, ISO 8601 forms.
 * @throws invalid with all violations
 */
export function readObject<T extends RootType>(value: JsonValue, type: T): PartialRm<T> {
  const { object, violations } = readRm(value, type);
  if (violations.length > 0) throw validationError('invalid', violations);
  if (object === null) throw new CdrError('invalid', `the content is no ${type}`);
  return object;
}

/** The template id that a COMPOSITION names; '' when it names none. */
export function templateIdOf(composition: PartialRm<'COMPOSITION'>): string {
  return composition.archetype_details?.template_id?.value ?? '';
}

/** How strictly a COMPOSITION is validated. */
export interface CompositionRules {
  readonly checkRmRules: boolean;
  readonly checkExtraNodes: boolean;
  readonly checkContainerCardinality: boolean;
  /** Nothing is missing: lifecycle states incomplete and abandoned. */
  readonly lenient: boolean;
}

/** What validating a COMPOSITION gives. */
export interface ContentValidation {
  readonly violations: readonly Violation[];
  /** Codes that a terminology server has to validate. */
  readonly valueSetCodes: readonly ValueSetCode[];
}

/** Validates a COMPOSITION that was read by RM, terminology and template rules. Pure. */
export function validateContent(
  composition: PartialRm<'COMPOSITION'>,
  template: CompiledTemplate,
  rules: CompositionRules,
): ContentValidation {
  const { checkRmRules, lenient } = rules;
  const valueSetCodes: ValueSetCode[] = [];
  const violations = [
    ...(checkRmRules ? validateRm(composition, { lenient }) : []),
    ...validateAgainstTemplate(composition, template, { ...rules, valueSetCodes }),
  ];
  return { violations, valueSetCodes };
}

/**
 * The EHR_STATUS or FOLDER, valid by the RM rules. @throws invalid with all violations, `further` ones among them
 */
export function requireValid(object: PartialRm<'FOLDER'>, further?: readonly Violation[]): Rm<'FOLDER'>;
export function requireValid(
  object: PartialRm<'EHR_STATUS'>,
  further?: readonly Violation[],
): Rm<'EHR_STATUS'>;
export function requireValid(
  object: PartialRm<'EHR_STATUS' | 'FOLDER'>,
  further: readonly Violation[] = [],
): Rm<'EHR_STATUS' | 'FOLDER'> {
  const violations = [...validateRm(object), ...further];
  if (violations.length > 0) throw validationError('invalid', violations);
  return object as Rm<'EHR_STATUS' | 'FOLDER'>;
}
