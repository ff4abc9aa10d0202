import type { CdrError } from '../../base/errors.js';
import type { XmlElement } from '../../base/xml.js';
import type {
  ArchetypeRoot,
  AttributeConstraint,
  CardinalityConstraint,
  Code,
  CodePhraseConstraint,
  Constraint,
  Multiplicity,
  ObjectConstraint,
  OrdinalConstraint,
  OrdinalOption,
  QuantityConstraint,
  SlotAssertion,
  SlotConstraint,
  Term,
  Terms,
  UnitConstraint,
} from './constraint.js';
import { primitiveOf } from './opt-primitive.js';
import { InternalReferences } from './opt-reference.js';
import {
  booleanOf,
  childText,
  codeOf,
  element,
  elements,
  integerOf,
  intervalOf,
  invalidTemplate,
  itemsOf,
  multiplicityOf,
  numberOf,
  ownText,
  placedAt,
  stepTo,
  text,
  unreadable,
  xsiType,
} from './opt-xml.js';
import { isLocatable } from '../../rm/model/classes.js';

const ONCE: Multiplicity = { min: 1, max: 1 };
const ANY_NUMBER: Multiplicity = { min: 0, max: -1 };

type Base = Pick<ObjectConstraint, 'rmType' | 'occurrences' | 'nodeId'>;

/** What is shared while one definition is read. */
interface Reading {
  /** Terms of archetypes that occur several times are kept once. */
  readonly terms: Map<string, Terms>;
  /** References of the archetype that is being read. */
  readonly references: InternalReferences;
}

/** Reads `definition` of an OPT. @throws invalid (docs/spec/formats.md#opt-constraints) */
export function definitionOf(
  definition: XmlElement,
): ObjectConstraint & { readonly archetype: ArchetypeRoot } {
  const root = archetypeRootOf(definition, { terms: new Map(), references: new InternalReferences() });
  if (root.rmType !== 'COMPOSITION')
    throw invalidTemplate(`definition is a ${root.rmType}, not a COMPOSITION`);
  return root;
}

function constraintOf(node: XmlElement, reading: Reading): Constraint {
  const type = xsiType(node);
  switch (type) {
    case 'C_ARCHETYPE_ROOT':
      return archetypeRootOf(node, reading);
    case 'C_COMPLEX_OBJECT':
      return {
        kind: 'object',
        ...baseOf(node),
        attributes: constrainedAttributes(node, reading),
        archetype: null,
      };
    case 'ARCHETYPE_SLOT':
      return slotConstraint(node);
    case 'ARCHETYPE_INTERNAL_REF':
      return reading.references.register(baseOf(node), childText(node, 'target_path'));
    case 'CONSTRAINT_REF':
      return { kind: 'constraint-ref', ...baseOf(node), reference: childText(node, 'reference') };
    case 'C_PRIMITIVE_OBJECT':
      return { kind: 'primitive', ...baseOf(node), item: primitiveOf(element(node, 'item')) };
    case 'C_CODE_PHRASE':
    case 'C_CODE_REFERENCE':
      return codePhraseConstraint(node);
    case 'C_DV_QUANTITY':
      return quantityOf(node);
    case 'C_DV_ORDINAL':
      return ordinalConstraint(node);
    default:
      throw refusedType(type);
  }
}

function refusedType(type: string): CdrError {
  if (type === 'C_DV_STATE') return invalidTemplate('C_DV_STATE is not supported');
  return unreadable(`unknown xsi:type ${type === '' ? '(none)' : type} of children`);
}

function baseOf(node: XmlElement): Base {
  const rmType = childText(node, 'rm_type_name');
  if (rmType === '') throw unreadable(`${node.name} without rm_type_name`);
  return {
    rmType: ownText(rmType),
    occurrences: multiplicityOf(element(node, 'occurrences'), ONCE),
    // Some editors write node ids where the RM has no place for them.
    nodeId: isLocatable(rmType) ? ownText(childText(node, 'node_id')) : '',
  };
}

function archetypeRootOf(
  node: XmlElement,
  reading: Reading,
): ObjectConstraint & { readonly archetype: ArchetypeRoot } {
  const archetypeId = childText(element(node, 'archetype_id'), 'value');
  if (archetypeId === '') throw unreadable('C_ARCHETYPE_ROOT without archetype_id');
  const references = new InternalReferences();
  const templateId = childText(element(node, 'template_id'), 'value');
  const root = {
    kind: 'object' as const,
    ...baseOf(node),
    attributes: constrainedAttributes(node, { terms: reading.terms, references }),
    archetype: {
      archetypeId: ownText(archetypeId),
      templateId: templateId === '' ? null : ownText(templateId),
      terms: sharedTerms(archetypeId, elements(node, 'term_definitions'), reading),
      termBindings: termBindingsOf(node),
    },
  };
  references.resolve(root);
  return root;
}

function sharedTerms(archetypeId: string, definitions: readonly XmlElement[], reading: Reading): Terms {
  const terms = termsOf(definitions);
  const key = JSON.stringify([archetypeId, [...terms]]);
  const known = reading.terms.get(key);
  if (known !== undefined) return known;
  reading.terms.set(key, terms);
  return terms;
}

/** Terms by their `code`. The first definition of a code counts. */
export function termsOf(definitions: readonly XmlElement[]): Terms {
  const terms = new Map<string, Term>();
  for (const definition of definitions) {
    const code = ownText(definition.attributes.get('code') ?? '');
    if (!terms.has(code)) terms.set(code, itemsOf(definition));
  }
  return terms;
}

function termBindingsOf(node: XmlElement): Map<string, Map<string, Code>> {
  const bindings = new Map<string, Map<string, Code>>();
  for (const binding of elements(node, 'term_bindings')) {
    const codes = new Map<string, Code>();
    for (const item of elements(binding, 'items')) {
      const bound = codeOf(element(item, 'value'));
      if (bound !== null) codes.set(item.attributes.get('code') ?? '', bound);
    }
    bindings.set(binding.attributes.get('terminology') ?? '', codes);
  }
  return bindings;
}

function constrainedAttributes(node: XmlElement, reading: Reading): AttributeConstraint[] {
  return elements(node, 'attributes').map((attribute) => attributeConstraint(attribute, reading));
}

function attributeConstraint(attribute: XmlElement, reading: Reading): AttributeConstraint {
  const type = xsiType(attribute);
  if (type !== 'C_SINGLE_ATTRIBUTE' && type !== 'C_MULTIPLE_ATTRIBUTE')
    throw unreadable(`unknown xsi:type ${type === '' ? '(none)' : type} of attributes`);
  const name = childText(attribute, 'rm_attribute_name');
  if (name === '') throw unreadable('attributes without rm_attribute_name');
  const multiple = type === 'C_MULTIPLE_ATTRIBUTE';
  return {
    name: ownText(name),
    existence: multiplicityOf(element(attribute, 'existence'), ONCE),
    multiple,
    cardinality: multiple ? cardinalityOf(element(attribute, 'cardinality')) : null,
    children: elements(attribute, 'children').map((child) =>
      placedAt(stepTo(name, nodeIdOf(child)), () => constraintOf(child, reading)),
    ),
  };
}

/** By which its place names an object: that of an archetype, else of a node. */
function nodeIdOf(node: XmlElement): string {
  return childText(element(node, 'archetype_id'), 'value') || childText(node, 'node_id');
}

function cardinalityOf(cardinality: XmlElement | undefined): CardinalityConstraint | null {
  if (cardinality === undefined) return null;
  return {
    ...multiplicityOf(element(cardinality, 'interval'), ANY_NUMBER),
    isOrdered: booleanOf(cardinality, 'is_ordered', false),
    isUnique: booleanOf(cardinality, 'is_unique', false),
  };
}

function slotConstraint(node: XmlElement): SlotConstraint {
  return {
    kind: 'slot',
    ...baseOf(node),
    includes: elements(node, 'includes').map(assertionOf),
    excludes: elements(node, 'excludes').map(assertionOf),
  };
}

function assertionOf(assertion: XmlElement): SlotAssertion {
  const expression = childText(assertion, 'string_expression');
  const pattern = stringPattern(element(assertion, 'expression')) ?? patternIn(expression);
  return { expression: ownText(expression), archetypeIdPattern: pattern === null ? null : ownText(pattern) };
}

/** What stands between the first `{/` and the last `/}`, blanks aside; null when one of them is missing. */
function patternIn(expression: string): string | null {
  const opening = /\{\s*\//.exec(expression);
  if (opening === null) return null;
  const start = opening.index + opening[0].length;
  for (let end = expression.lastIndexOf('/'); end >= start; end = expression.lastIndexOf('/', end - 1))
    if (CLOSING.test(expression.slice(end + 1, end + 1 + MAX_BLANKS))) return expression.slice(start, end);
  return null;
}

const MAX_BLANKS = 200;
const CLOSING = /^\s*\}/;

/** The pattern of the first C_STRING leaf of an expression tree. */
function stringPattern(expression: XmlElement | undefined): string | null {
  for (const child of elements(expression)) {
    if (child.name === 'item' && xsiType(child) === 'C_STRING') {
      const pattern = childText(child, 'pattern');
      const list = elements(child, 'list').map((entry) => text(entry).replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
      return pattern !== '' ? pattern : list.length > 0 ? list.join('|') : null;
    }
    const below = stringPattern(child);
    if (below !== null) return below;
  }
  return null;
}

function codePhraseConstraint(node: XmlElement): CodePhraseConstraint {
  const terminologyId = childText(element(node, 'terminology_id'), 'value');
  const referenceSetUri = childText(node, 'referenceSetUri');
  return {
    kind: 'code-phrase',
    ...baseOf(node),
    terminologyId: terminologyId === '' ? null : ownText(terminologyId),
    codes: elements(node, 'code_list').map((code) => ownText(text(code))),
    referenceSetUri: referenceSetUri === '' ? null : ownText(referenceSetUri),
    assumedValue: codeOf(element(node, 'assumed_value')),
  };
}

function quantityOf(node: XmlElement): QuantityConstraint {
  const assumed = element(node, 'assumed_value');
  return {
    kind: 'quantity',
    ...baseOf(node),
    property: codeOf(element(node, 'property')),
    units: elements(node, 'list').map(unitConstraint),
    assumedValue:
      assumed === undefined
        ? null
        : {
            magnitude: numberOf(childText(assumed, 'magnitude'), 'magnitude'),
            units: ownText(childText(assumed, 'units')),
          },
  };
}

function unitConstraint(item: XmlElement): UnitConstraint {
  const magnitude = element(item, 'magnitude');
  const precision = element(item, 'precision');
  return {
    units: ownText(childText(item, 'units')),
    magnitude: magnitude === undefined ? null : intervalOf(magnitude, numberOf),
    precision: precision === undefined ? null : intervalOf(precision, integerOf),
  };
}

function ordinalConstraint(node: XmlElement): OrdinalConstraint {
  const assumed = childText(element(node, 'assumed_value'), 'value');
  return {
    kind: 'ordinal',
    ...baseOf(node),
    options: elements(node, 'list').map(ordinalOption),
    assumedValue: assumed === '' ? null : integerOf(assumed, 'assumed_value'),
  };
}

function ordinalOption(item: XmlElement): OrdinalOption {
  const symbol = element(item, 'symbol');
  const code = codeOf(element(symbol, 'defining_code'));
  if (code === null) throw unreadable('C_DV_ORDINAL list without symbol');
  return {
    value: integerOf(childText(item, 'value'), 'value'),
    symbol: code,
    text: ownText(childText(symbol, 'value')),
  };
}
