import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.js';
import type { Finding, Violation } from '../base/violation.js';
import { counted, step } from '../base/work.js';
import { nameOf, typeOf } from '../rm/access.js';
import { Violations } from '../rm/violations.js';
import type { InstancePath } from '../rm/violations.js';
import { attributesOf } from '../rm/model/classes.js';
import { codeString, terminologyOf } from './validate/code-check.js';
import type { FormerTexts } from './validate/former-texts.js';
import type { CompiledTemplate } from './compile.js';
import { notInTemplate, wrongCardinality, wrongOccurrences, wrongType } from './validate/findings.js';
import {
  conforms,
  type AttributeMatcher,
  type ChildMatcher,
  type Counted,
  type ObjectMatcher,
  type SlotMatcher,
} from './validate/matcher.js';

/** Settings of the validation (`CHECK_EXTRA_NODES`, `CHECK_CONTAINER_CARDINALITY`). */
export interface TemplateValidationOptions {
  /** Objects that are not in the template are violations. */
  readonly checkExtraNodes: boolean;
  /** The sizes of containers as a whole are checked. */
  readonly checkContainerCardinality: boolean;
  /** Filled with the codes that a terminology server has to validate; left alone when missing. */
  readonly valueSetCodes?: ValueSetCode[];
  /** Nothing is missing: for the lifecycle states incomplete (553) and abandoned (801). */
  readonly lenient?: boolean;
  /** Put before the paths of violations, such as `/versions[0]/data`. */
  readonly rootPath?: string;
  /** Texts that codes have by earlier templates, which are right as well. */
  readonly formerTexts?: FormerTexts;
}

/** A code that must be in a value set of a terminology server. */
export interface ValueSetCode {
  /** Instance path of the coded value. */
  readonly path: string;
  readonly aqlPath: string;
  /** URL of the FHIR value set. */
  readonly valueSetUrl: string;
  readonly terminologyId: string;
  readonly code: string;
}

/**
 * The violations of the template in a COMPOSITION that has been read (`openehr/rm/read.ts`); of very many the first
 * ones (docs/spec/formats.md#template-rules). An empty list means valid.
 */
export function validateAgainstTemplate(
  composition: JsonObject,
  template: CompiledTemplate,
  options: TemplateValidationOptions,
): Violation[] {
  const walk = new Walk(composition, options);
  walk.root(composition, template.matcher);
  return walk.violations.list;
}

class Walk {
  readonly violations: Violations;
  readonly #path: InstancePath;
  readonly #composition: JsonObject;
  readonly #lenient: boolean;
  readonly #options: TemplateValidationOptions;

  constructor(composition: JsonObject, options: TemplateValidationOptions) {
    this.#composition = composition;
    this.#options = options;
    this.#lenient = options.lenient ?? false;
    this.violations = new Violations(composition, options.rootPath);
    this.#path = this.violations.path;
  }

  root(composition: JsonObject, matcher: ObjectMatcher): void {
    const found = composition.archetype_node_id;
    const expected = matcher.node.archetypeNodeId;
    if (found !== expected) this.#report(notInTemplate(composition, [expected ?? '']));
    this.#object(composition, matcher);
  }

  #report(finding: Finding, attribute?: string): void {
    this.violations.add(finding, attribute);
  }

  #object(object: JsonObject, matcher: ObjectMatcher): void {
    step();
    if (matcher.check !== null)
      for (const finding of counted(matcher.check(object)))
        if (finding.code !== 'wrong-rubric' || !this.#isFormerText(finding, object, matcher))
          this.#report(finding);
    if (matcher.valueSetUrl !== null) this.#valueSetCode(object, matcher.valueSetUrl);
    if (matcher.attributes.size > 0 || !matcher.isOpen) this.#attributes(object, matcher);
    for (const attribute of counted(matcher.expected))
      if (object[attribute.name] === undefined) this.#missing(attribute);
  }

  #isFormerText({ attribute, found }: Finding, object: JsonObject, { node }: ObjectMatcher): boolean {
    const coded = attribute === 'symbol' ? object.symbol : object;
    const code = codeString(isJsonObject(coded) ? coded.defining_code : undefined);
    return typeof found === 'string' && this.#options.formerTexts?.(node, code)?.has(found) === true;
  }

  #attributes(object: JsonObject, matcher: ObjectMatcher): void {
    for (const name in object) {
      step();
      const attribute = matcher.attributes.get(name);
      if (attribute !== undefined) this.#attribute(object[name] ?? null, attribute);
      else if (!matcher.isOpen) this.#unmentioned(object[name] ?? null, name, matcher);
    }
  }

  #valueSetCode(object: JsonObject, valueSetUrl: string): void {
    const phrase = typeOf(object) === 'CODE_PHRASE' ? object : object.defining_code;
    if (phrase === undefined) return;
    const found = { terminologyId: terminologyOf(phrase), code: codeString(phrase) };
    const aqlPath = this.#path.aqlText(this.#composition);
    this.#options.valueSetCodes?.push({ path: this.#path.text(), aqlPath, valueSetUrl, ...found });
  }

  /** An attribute that the template does not mention must not hold LOCATABLEs, unless the RM asks for it. */
  #unmentioned(value: JsonValue, name: string, { rmType }: ObjectMatcher): void {
    if (typeof value !== 'object' || value === null || !this.#options.checkExtraNodes) return;
    if (attributesOf(rmType).get(name)?.required === true) return;
    for (const item of counted(Array.isArray(value) ? value : [value]))
      if (isJsonObject(item) && item.archetype_node_id !== undefined) this.#report(notInTemplate(item, []));
  }

  #missing(attribute: AttributeMatcher): void {
    if (this.#lenient) return;
    if (attribute.min > 0) this.#report(wrongOccurrences(0, attribute.min, 1), attribute.name);
    for (const child of counted(attribute.counted))
      if (child.min > 0) this.#report(wrongOccurrences(0, child.min, child.max, child), attribute.name);
    this.#containerSize(0, attribute);
  }

  #attribute(value: JsonValue, attribute: AttributeMatcher): void {
    if (attribute.isForbidden) {
      this.#report(wrongOccurrences(Array.isArray(value) ? value.length : 1, 0, 0), attribute.name);
    } else if (attribute.isOpen) {
      return;
    } else if (Array.isArray(value)) {
      this.#container(value, attribute);
    } else if (isJsonObject(value)) {
      this.#path.enter(attribute.name);
      this.#item(value, attribute);
      this.#path.leave();
    }
  }

  #container(values: readonly JsonValue[], attribute: AttributeMatcher): void {
    const counts = new Array<number>(attribute.counted.length).fill(0);
    step(values.length);
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index];
      if (!isJsonObject(value)) continue;
      this.#path.enter(attribute.name, index);
      const matched = this.#item(value, attribute, counts);
      this.#path.leave();
      if (matched !== null) counts[matched.index] = (counts[matched.index] ?? 0) + 1;
    }
    for (const child of counted(attribute.counted)) this.#counted(counts[child.index] ?? 0, child, attribute);
    this.#containerSize(values.length, attribute);
  }

  #counted(count: number, child: Counted, attribute: AttributeMatcher): void {
    const { min, max } = child;
    if ((count < min && !this.#lenient) || (max !== -1 && count > max))
      this.#report(wrongOccurrences(count, min, max, child), attribute.name);
  }

  #containerSize(count: number, { cardinality, name }: AttributeMatcher): void {
    if (cardinality === null || !this.#options.checkContainerCardinality) return;
    const { min, max } = cardinality;
    if ((count >= min || this.#lenient) && (max === -1 || count <= max)) return;
    this.#report(wrongCardinality(count, min, max), name);
  }

  /** Checks one value of an attribute against what it matches. Gives what it counts for, null for nothing. */
  #item(value: JsonObject, attribute: AttributeMatcher, counts?: readonly number[]): Counted | null {
    const nodeId = value.archetype_node_id;
    if (typeof nodeId !== 'string') return this.#value(value, attribute);
    const twins = attribute.byNodeId.get(nodeId);
    const [child, ...others] = twins === undefined ? [] : childrenNamed(twins, nameOf(value));
    if (child !== undefined) {
      if (others.length === 0) this.#node(value, child);
      else
        this.#firstFitting([child, ...others], (twin) => {
          this.#node(value, twin);
        });
      return child;
    }
    if (twins === undefined && attribute.values.length > 0) return this.#value(value, attribute);
    const slot = slotFor(value, nodeId, attribute.slots, counts);
    if (slot === null) this.#extraItem(value, attribute);
    return slot;
  }

  #node(value: JsonObject, child: ChildMatcher): void {
    const { matcher, names } = child;
    // A lone node is recognised by its id, so that what is below it can be validated as well.
    if (names !== null && !names.has(nameOf(value))) this.#extra(value, [child]);
    const rmType = typeOf(value);
    if (conforms(rmType, matcher.rmType)) this.#object(value, matcher);
    else this.#report(wrongType(rmType, [matcher.rmType]));
  }

  /** A value without node id: one of the alternatives must fit it. */
  #value(value: JsonObject, { values, takesOthers }: AttributeMatcher): ChildMatcher | null {
    const rmType = typeOf(value);
    const fitting = counted(values).filter(({ matcher }) => conforms(rmType, matcher.rmType));
    const [first, ...others] = fitting.length < 2 ? fitting : byCloseness(fitting, rmType);
    if (first === undefined) {
      if (values.length > 0 && !takesOthers)
        this.#report(
          wrongType(
            rmType,
            counted(values).map(({ matcher }) => matcher.rmType),
          ),
        );
      return values.length === 1 ? (values[0] ?? null) : null;
    }
    if (others.length === 0) {
      this.#object(value, first.matcher);
      return first;
    }
    return this.#firstFitting([first, ...others], ({ matcher }) => {
      this.#object(value, matcher);
    });
  }

  /** The first alternative without violations; the violations of the closest one when there is none. */
  #firstFitting(
    alternatives: readonly ChildMatcher[],
    check: (alternative: ChildMatcher) => void,
  ): ChildMatcher | null {
    let closest: readonly Violation[] | null = null;
    for (const alternative of counted(alternatives)) {
      const found = this.violations.apart(() => {
        check(alternative);
      });
      if (found.length === 0) return alternative;
      closest ??= found;
    }
    for (const violation of counted(closest ?? [])) this.violations.note(violation);
    return alternatives[0] ?? null;
  }

  #extraItem(value: JsonObject, { byNodeId, slots }: AttributeMatcher): void {
    this.#extra(value, [...[...byNodeId.values()].flat(), ...slots]);
  }

  #extra(value: JsonObject, expected: readonly Counted[]): void {
    if (!this.#options.checkExtraNodes) return;
    // The violation names the object that holds the extra one.
    this.#path.leave();
    const labels = counted(expected).map(({ label }) => label);
    this.#report(notInTemplate(value, labels));
    this.#path.depth += 1;
  }
}

/** The child of a name; several when the template has siblings that count together. */
function childrenNamed(twins: readonly ChildMatcher[], name: string): readonly ChildMatcher[] {
  if (twins.length === 1) return twins;
  const first = counted(twins).find(({ names }) => names === null || names.has(name));
  return first === undefined ? [] : counted(twins).filter(({ index }) => index === first.index);
}

/** The slot for an archetype: one that has room when several would take it. */
function slotFor(
  value: JsonObject,
  archetypeId: string,
  slots: readonly SlotMatcher[],
  counts: readonly number[] = [],
): SlotMatcher | null {
  let full: SlotMatcher | null = null;
  for (const slot of counted(slots)) {
    if (!conforms(typeOf(value), slot.rmType) || !slot.allows(archetypeId)) continue;
    if (slot.names !== null && !slot.names.has(nameOf(value))) continue;
    if (slot.max === -1 || (counts[slot.index] ?? 0) < slot.max) return slot;
    full ??= slot;
  }
  return full;
}

/** The class itself before its ancestors. */
function byCloseness(children: readonly ChildMatcher[], rmType: string): ChildMatcher[] {
  const isExact = ({ matcher }: ChildMatcher) => matcher.rmType === rmType;
  return [...counted(children).filter(isExact), ...counted(children).filter((child) => !isExact(child))];
}
