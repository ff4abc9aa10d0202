import { attributesOf, isLocatable, rmClass, withoutParameters } from '../../rm/model/classes.js';
import type {
  AttributeConstraint,
  Constraint,
  ObjectConstraint,
  OperationalTemplate,
  Terms,
} from '../opt/constraint.js';
import { multiplicityText } from '../opt/constraint-text.js';
import { MAX_TEMPLATE_NODES, tooManyTemplateNodes } from '../opt/limits.js';
import { invalidTemplate, placedAt, stepTo } from '../opt/opt-xml.js';
import { checkPatterns } from './pattern-check.js';
import { counted } from '../../base/work.js';

const CODE_ATTRIBUTES = ['careflow_step', 'current_state'];

/**
 * Refuses a template that can be read but not used (last row of docs/spec/formats.md#opt-errors): unknown RM classes,
 * node ids without term, ACTION transitions without step or state, more than `MAX_TEMPLATE_NODES` objects.
 * Gives what a new template is refused for besides.
 * @throws invalid
 */
export function checkConstraints(opt: Pick<OperationalTemplate, 'definition'>): readonly string[] {
  const size = expandedSize(opt.definition.attributes, new Map());
  if (size > MAX_TEMPLATE_NODES) throw tooManyTemplateNodes(size);
  checkPatterns(opt);
  const refused = new Set<string>();
  checkObject(opt.definition, opt.definition.archetype.terms, refused);
  return [...refused];
}

/** Shared attributes are counted once and multiplied, so that nested references cannot stall the count. */
function expandedSize(
  attributes: readonly AttributeConstraint[],
  known: Map<readonly AttributeConstraint[], number>,
): number {
  const before = known.get(attributes);
  if (before !== undefined) return before;
  let size = 1;
  for (const attribute of counted(attributes))
    for (const child of counted(attribute.children))
      size += child.kind === 'object' ? expandedSize(child.attributes, known) : 1;
  known.set(attributes, size);
  return size;
}

function checkObject(node: ObjectConstraint, terms: Terms, refused: Set<string>): void {
  const own = node.archetype?.terms ?? terms;
  checkNode(node, own);
  for (const attribute of counted(node.attributes)) {
    const reason = impossibleCardinality(node.rmType, attribute);
    if (reason !== null) refused.add(reason);
    for (const child of counted(attribute.children)) {
      if (child.kind === 'primitive') continue;
      const id = child.kind === 'object' ? (child.archetype?.archetypeId ?? child.nodeId) : child.nodeId;
      placedAt(stepTo(attribute.name, id), () => {
        if (child.kind === 'object') checkObject(child, own, refused);
        else checkNode(child, own);
      });
    }
  }
  if (node.rmType === 'ISM_TRANSITION') checkTransition(node);
}

/**
 * Why the reference model does not allow the size of a container; null: it does. AOM 1.4, validity rule VCACA. `0..*` is what
 * editors write who mean no constraint at all.
 */
function impossibleCardinality(rmType: string, { name, cardinality }: AttributeConstraint): string | null {
  if (cardinality === null || cardinality.min > 0 || cardinality.max === -1) return null;
  const attribute = attributesOf(withoutParameters(rmType)).get(name);
  if (attribute?.multiple !== true || !attribute.required) return null;
  const size = multiplicityText(cardinality.min, cardinality.max);
  return `cardinality ${size} of ${rmType}.${name}, which has at least one member`;
}

function checkNode(node: Constraint, terms: Terms): void {
  for (const name of counted(node.rmType.split(/[<>,\s]+/)))
    if (name !== '' && rmClass(name) === undefined) throw invalidTemplate(`unknown RM type ${node.rmType}`);
  // A slot is filled by other archetypes, which bring their own terms.
  if (node.kind === 'slot' || node.nodeId === '' || !isLocatable(node.rmType)) return;
  if (!terms.has(node.nodeId)) throw invalidTemplate(`${node.rmType} node ${node.nodeId} has no term`);
}

function checkTransition(node: ObjectConstraint): void {
  for (const name of CODE_ATTRIBUTES)
    if (
      !counted(node.attributes).some((attribute) => attribute.name === name && attribute.children.length > 0)
    )
      throw invalidTemplate(`ism_transition without ${name}`);
}
