import { collapsedToken } from '../../openehr/base/text.js';
import { CdrError, type Refusal } from '../../openehr/base/errors.js';
import { violationText, type Violation } from '../../openehr/base/violation.js';
import type { JsonValue } from '../../openehr/base/json.js';
import type { PartialRm, Rm } from '../../openehr/rm/model/rm.js';
import { insistedOn, type AcceptedFinding } from '../../openehr/rm/lenient.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import { readRm } from '../../openehr/rm/read.js';
import { validateRm } from '../../openehr/rm/invariants/validate.js';
import type { CompiledTemplate } from '../../openehr/template/compile.js';
import { validateAgainstTemplate, type ValueSetCode } from '../../openehr/template/validate.js';
import type { FormerTexts } from '../../openehr/template/validate/former-texts.js';

/**
 * The error that carries violations: its message is the violations joined by `, `
 * (docs/spec/formats.md#validation-stages).
 */
export function validationError(
  code: 'invalid' | 'unprocessable',
  violations: readonly Violation[],
  about?: Refusal,
): CdrError {
  const details = about === undefined ? { violations } : { violations, about };
  return new CdrError(code, violations.map(violationText).join(', '), details);
}

/**
 * Reads a value into its RM type: known types and attributes, primitive types, ISO 8601 forms. `findings`: of lenient
 * validation, filled with the attributes that are left out.
 * @throws invalid with all violations; too-large when too much is left out
 */
export function readObject<T extends RootType>(
  value: JsonValue,
  type: T,
  findings?: AcceptedFinding[],
): PartialRm<T> {
  const { object, violations } = readRm(value, type, '', findings);
  if (violations.length > 0) throw validationError('invalid', violations);
  if (object === null) throw new CdrError('invalid', `the content is no ${type}`);
  return object;
}

/** The template id that a COMPOSITION names, as an xs:token; '' when it names none. */
export function templateIdOf(composition: PartialRm<'COMPOSITION'>): string {
  return collapsedToken(composition.archetype_details?.template_id?.value ?? '');
}

/** How strictly a COMPOSITION is validated. */
export interface CompositionRules {
  readonly checkRmRules: boolean;
  readonly checkExtraNodes: boolean;
  readonly checkContainerCardinality: boolean;
  /** Nothing is missing: lifecycle states incomplete and abandoned. */
  readonly lenient: boolean;
  /** Lenient validation: what it accepts are no violations. */
  readonly acceptsFindings: boolean;
  /** What codes were called by other revisions of the template; of no use to another thread. */
  readonly formerTexts?: FormerTexts;
}

/** What validating a COMPOSITION gives. */
export interface ContentValidation {
  readonly violations: readonly Violation[];
  /** Among them: an attribute that the reference model requires is not there. */
  readonly lacksAttribute: boolean;
  /** What lenient validation accepted. */
  readonly accepted: readonly AcceptedFinding[];
  /** Codes that a terminology server has to validate. */
  readonly valueSetCodes: readonly ValueSetCode[];
}

/** Validates a COMPOSITION that was read by RM, terminology and template rules. Pure. */
export function validateContent(
  composition: PartialRm<'COMPOSITION'>,
  template: CompiledTemplate,
  rules: CompositionRules,
): ContentValidation {
  const { checkRmRules, lenient, acceptsFindings } = rules;
  const valueSetCodes: ValueSetCode[] = [];
  const accepted: AcceptedFinding[] = [];
  const ofModel = checkRmRules ? validateRm(composition, { lenient }) : [];
  const violations = [
    ...ofModel,
    ...validateAgainstTemplate(composition, template, { ...rules, valueSetCodes }),
  ];
  const refused = acceptsFindings ? insistedOn(violations, accepted) : violations;
  const lacksAttribute = refused.some((violation) => isOfAbsent(violation) && ofModel.includes(violation));
  return { violations: refused, lacksAttribute, accepted, valueSetCodes };
}

/** Of the findings by the reference model, where these codes mean an attribute that is not there. */
function isOfAbsent({ code }: Violation): boolean {
  return code === 'missing' || code === 'cardinality';
}

/**
 * The EHR_STATUS or FOLDER, valid by the RM rules. `findings`: of lenient validation, filled with what it accepts.
 * @throws invalid with all violations, `further` ones among them
 */
export function requireValid(
  object: PartialRm<'FOLDER'>,
  further: readonly Violation[],
  findings?: AcceptedFinding[],
): Rm<'FOLDER'>;
export function requireValid(
  object: PartialRm<'EHR_STATUS'>,
  further: readonly Violation[],
  findings?: AcceptedFinding[],
): Rm<'EHR_STATUS'>;
export function requireValid(
  object: PartialRm<'EHR_STATUS' | 'FOLDER'>,
  further: readonly Violation[],
  findings?: AcceptedFinding[],
): Rm<'EHR_STATUS' | 'FOLDER'> {
  const found = validateRm(object);
  const violations = [...(findings === undefined ? found : insistedOn(found, findings)), ...further];
  if (violations.length > 0)
    throw validationError(
      'invalid',
      violations,
      violations.some(isOfAbsent) ? 'lacking-attribute' : 'broken-rule',
    );
  return object as Rm<'EHR_STATUS' | 'FOLDER'>;
}
