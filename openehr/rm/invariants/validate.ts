import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import { violationAt, type Violation } from '../../base/violation.js';
import { Violations } from '../violations.js';
import { isAbsent, textAt } from '../access.js';
import { COMMON_INVARIANTS, STRUCTURE_INVARIANTS } from './structures.js';
import { DATA_TYPE_INVARIANTS } from './data-types.js';
import { codePhraseOf, hasCode, isTerminologyOf, type Invariant } from './invariant.js';
import { QUANTITY_INVARIANTS } from './quantities.js';
import { attributesOf, isKindOf, isPrimitive, RM_CLASSES } from '../model/classes.js';
import type { RmAttribute } from '../model/define.js';
import type { PartialRm } from '../model/rm.js';
import { describe } from '../read-primitive.js';
import { rubric, valueSetOf, type ValueSet } from '../terminology/openehr.js';

/** How strict the rules are. */
export interface RmValidation {
  /** Lifecycle states 553 incomplete and 801 abandoned: all lower limits are 0. */
  readonly lenient?: boolean;
  /** Put before the paths of violations, such as `/versions[0]/data`. */
  readonly rootPath?: string;
}

/** What is validated in instances of a class. */
interface ClassRules {
  readonly name: string;
  readonly required: readonly RmAttribute[];
  /** Attributes that hold objects; primitive ones need no walk. */
  readonly members: ReadonlyMap<string, MemberRules>;
  readonly invariants: readonly Invariant[];
}

interface MemberRules {
  readonly valueSet: ValueSet | null;
}

interface Walk {
  readonly violations: Violations;
  readonly lenient: boolean;
  /** Of the whole object: rubrics may be in it. */
  readonly language: string;
}

const INVARIANTS = [
  ...STRUCTURE_INVARIANTS,
  ...COMMON_INVARIANTS,
  ...DATA_TYPE_INVARIANTS,
  ...QUANTITY_INVARIANTS,
];
const RULES: ReadonlyMap<JsonValue | undefined, ClassRules> = new Map(
  RM_CLASSES.filter((rmClass) => !rmClass.abstract).map(({ name }) => [name, rulesOf(name)]),
);

function rulesOf(name: string): ClassRules {
  const attributes = [...attributesOf(name).values()];
  return {
    name,
    required: attributes.filter((attribute) => attribute.required),
    members: new Map(
      attributes
        .filter((attribute) => !isPrimitive(attribute.type))
        .map((attribute) => [attribute.name, { valueSet: valueSetOf(attribute.name) }]),
    ),
    invariants: INVARIANTS.filter((invariant) => isKindOf(name, invariant.type)),
  };
}

/**
 * Validates an object that `readRm` has given by the rules of the reference model: existence, cardinality,
 * invariants, terminology of attributes (docs/spec/formats.md#validation-stages, 4 and 6).
 *
 * @returns all violations; empty when there are none
 */
export function validateRm(object: JsonObject, options: RmValidation = {}): Violation[] {
  const walk: Walk = {
    violations: new Violations(object, options.rootPath),
    lenient: options.lenient ?? false,
    language: textAt(codePhraseOf(object.language), 'code_string') ?? 'en',
  };
  validateObject(object, walk);
  return walk.violations.list;
}

function validateObject(object: JsonObject, walk: Walk): void {
  const rules = RULES.get(object._type);
  if (rules === undefined) return;
  if (!walk.lenient) validateExistence(object, rules, walk);
  validateInvariants(object, rules, walk);
  for (const name in object) {
    const member = rules.members.get(name);
    if (member === undefined) continue;
    const value = object[name];
    if (Array.isArray(value)) validateList(name, value, walk);
    else if (isJsonObject(value)) {
      walk.violations.path.enter(name);
      if (member.valueSet !== null) validateCode(value, member.valueSet, walk);
      validateObject(value, walk);
      walk.violations.path.leave();
    }
  }
}

function validateList(name: string, items: readonly JsonValue[], walk: Walk): void {
  for (let i = 0; i < items.length; i += 1) {
    const item = items[i];
    if (!isJsonObject(item)) continue;
    walk.violations.path.enter(name, i);
    validateObject(item, walk);
    walk.violations.path.leave();
  }
}

function validateExistence(object: JsonObject, rules: ClassRules, walk: Walk): void {
  for (const { name, multiple, type } of rules.required) {
    if (!isAbsent(object[name])) continue;
    const message = multiple
      ? `Attribute does not match cardinality 1..* (expected ${type}, found none)`
      : `Attribute ${name} of class ${rules.name} does not match existence 1..1 (expected ${type}, found nothing)`;
    walk.violations.add({ code: multiple ? 'cardinality' : 'missing', message, expected: [type] }, name);
  }
}

function validateInvariants(object: JsonObject, rules: ClassRules, walk: Walk): void {
  for (const invariant of rules.invariants) {
    if (invariant.holds(object) || (walk.lenient && invariant.isLowerLimit)) continue;
    const found = invariant.found(object);
    const text = found === undefined ? null : describe(found);
    const brackets = `expected ${invariant.expected}${text === null ? '' : `, found ${text}`}`;
    const type = rules.name === 'DV_INTERVAL' ? 'INTERVAL' : rules.name;
    walk.violations.add({
      code: 'invariant',
      message: `Invariant ${invariant.name} failed on type ${type} (${brackets})`,
      rule: invariant.name,
      expected: [invariant.expected],
      ...(invariant.attribute === undefined ? {} : { attribute: invariant.attribute }),
      ...(found === undefined ? {} : { found: typeof found === 'object' ? text : found }),
    });
  }
}

/** docs/spec/formats.md#attribute-terminology: the code exists, and the text is its rubric. */
function validateCode(value: JsonObject, valueSet: ValueSet, walk: Walk): void {
  const code = textAt(codePhraseOf(value), 'code_string');
  if (code === undefined || !isTerminologyOf(value, valueSet)) return;
  if (!hasCode(valueSet, code)) {
    walk.violations.add({
      code: 'unknown-code',
      message: `supplied code string [${code}] is not found in codeset:${valueSet.name}`,
      expected: [`a code of ${valueSet.name}`],
      found: code,
    });
    return;
  }
  const text = textAt(value, 'value');
  if (text === undefined || valueSet.kind !== 'group') return;
  const expected = rubric(valueSet.name, code, walk.language);
  if (text === expected || text === rubric(valueSet.name, code, 'en')) return;
  walk.violations.add({
    code: 'wrong-rubric',
    message:
      `supplied value [${text}] doesn't match code string:${code} ` +
      `(language:${walk.language}, terminology:${valueSet.terminologyId}), expected:${expected ?? ''}`,
    expected: expected === null ? [] : [expected],
    found: text,
    attribute: 'value',
  });
}

const MANDATORY = [
  'name',
  'archetype_node_id',
  'language',
  'territory',
  'category',
  'composer',
  'archetype_details',
] as const;

/**
 * What the root of a COMPOSITION lacks that it needs in every format
 * (docs/spec/formats.md#validation-stages, 2).
 */
export function missingCompositionAttributes(composition: PartialRm<'COMPOSITION'>): Violation[] {
  const missing: string[] = MANDATORY.filter(
    (name) => isAbsent(composition[name]) || composition[name] === '',
  );
  if ((composition.archetype_details?.template_id?.value ?? '') === '')
    missing.push('archetype_details/template_id');
  return missing.map((name) => {
    const message = `Composition missing mandatory attribute: ${name.replace('_details', ' details')}`;
    return { ...violationAt(`/${name}`, message, 'missing'), aqlPath: `/${name}` };
  });
}
