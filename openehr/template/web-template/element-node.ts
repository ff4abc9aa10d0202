import { choiceId, newNode, setId, type NodeDraft } from './node-draft.js';

/**
 * Data types of an ELEMENT that the template leaves open, in order
 * (docs/spec/formats.md#children-and-choices, rule 3).
 */
const ANY_VALUE = [
  'DV_TEXT',
  'DV_CODED_TEXT',
  'DV_MULTIMEDIA',
  'DV_PARSABLE',
  'DV_STATE',
  'DV_BOOLEAN',
  'DV_IDENTIFIER',
  'DV_URI',
  'DV_EHR_URI',
  'DV_DURATION',
  'DV_QUANTITY',
  'DV_COUNT',
  'DV_PROPORTION',
  'DV_DATE_TIME',
  'DV_TIME',
  'DV_ORDINAL',
  'DV_DATE',
] as const;

/**
 * Marks alternatives, the children at one path, and gives those that are data values their ids
 * (docs/spec/formats.md#children-and-choices, rule 2).
 */
export function markChoices(node: NodeDraft): void {
  if (node.children.length < 2) return;
  const positions = new Map<string, NodeDraft[]>();
  for (const child of node.children) {
    const position = JSON.stringify([child.attribute, child.archetypeNodeId, child.nameConstraint]);
    positions.set(position, [...(positions.get(position) ?? []), child]);
  }
  for (const children of positions.values()) {
    if (children.length < 2) continue;
    for (const child of children) {
      child.isChoice = true;
      if (child.rmType.startsWith('DV_')) setId(child, choiceId(child.rmType));
    }
  }
}

/**
 * Completes an ELEMENT, whose children are there already (docs/spec/formats.md#children-and-choices, rules 3
 * and 4).
 */
export function finishElement(element: NodeDraft): void {
  const isOpen = element.children.length === 0;
  if (isOpen) addAnyValue(element);
  const values = trueChildren(element);
  const [only, ...others] = values;
  for (const value of values) takeTexts(value, element, isOpen);
  if (only !== undefined && others.length === 0) setId(only, element.baseId);
  else if (!values.some((value) => value.isChoice))
    for (const value of values) setId(value, choiceId(value.rmType));
}

/** The children that carry the data: without `name` and without optional `null_flavour` and `feeder_audit`. */
export function trueChildren(element: NodeDraft): NodeDraft[] {
  return element.children.filter(
    ({ attribute, min }) =>
      attribute !== 'name' && !(min === 0 && (attribute === 'null_flavour' || attribute === 'feeder_audit')),
  );
}

function addAnyValue(element: NodeDraft): void {
  element.children = ANY_VALUE.map((rmType) => {
    const id = choiceId(rmType);
    const seed = { id, name: element.name, rmType, min: 0, max: 1, attribute: 'value', multiple: false };
    return Object.assign(newNode(seed, element), { inContext: true, isChoice: true });
  });
}

/** The alternatives of an ELEMENT that `isOpen` to any value have neither its node id nor its annotations. */
function takeTexts(value: NodeDraft, element: NodeDraft, isOpen: boolean): void {
  value.name = element.name;
  const { nodeId, localizedName, localizedNames, localizedDescriptions, annotations } = element;
  if (nodeId !== undefined && !isOpen) value.nodeId = nodeId;
  if (localizedName !== undefined) value.localizedName = localizedName;
  if (localizedNames !== undefined) value.localizedNames = localizedNames;
  if (localizedDescriptions !== undefined) value.localizedDescriptions = localizedDescriptions;
  if (annotations !== undefined && !isOpen) value.annotations = annotations;
}
