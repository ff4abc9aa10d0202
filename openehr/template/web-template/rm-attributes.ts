import { attributesOf, isKindOf, RM_CLASSES, withoutParameters } from '../../rm/model/classes.js';
import { newNode, type NodeDraft } from './node-draft.js';

/** An RM attribute that becomes a node although the template does not mention it. */
interface AddedAttribute {
  readonly name: string;
  readonly rmType: string;
  readonly min: 0 | 1;
}

/**
 * The attributes of docs/spec/formats.md#added-attributes by RM class, in the order in which they follow the
 * template's nodes.
 */
const ADDED: readonly (readonly [rmClass: string, readonly AddedAttribute[]])[] = [
  [
    'COMPOSITION',
    [
      { name: 'category', rmType: 'DV_CODED_TEXT', min: 1 },
      { name: 'context', rmType: 'EVENT_CONTEXT', min: 0 },
      { name: 'composer', rmType: 'PARTY_PROXY', min: 1 },
      { name: 'language', rmType: 'CODE_PHRASE', min: 1 },
      { name: 'territory', rmType: 'CODE_PHRASE', min: 1 },
    ],
  ],
  [
    'EVENT_CONTEXT',
    [
      { name: 'start_time', rmType: 'DV_DATE_TIME', min: 1 },
      { name: 'setting', rmType: 'DV_CODED_TEXT', min: 1 },
    ],
  ],
  ['ENTRY', [{ name: 'subject', rmType: 'PARTY_PROXY', min: 1 }]],
  ['INSTRUCTION', [{ name: 'narrative', rmType: 'DV_TEXT', min: 1 }]],
  [
    'ENTRY',
    [
      { name: 'language', rmType: 'CODE_PHRASE', min: 1 },
      { name: 'encoding', rmType: 'CODE_PHRASE', min: 1 },
    ],
  ],
  ['INSTRUCTION', [{ name: 'expiry_time', rmType: 'DV_DATE_TIME', min: 0 }]],
  [
    'ACTIVITY',
    [
      { name: 'timing', rmType: 'DV_PARSABLE', min: 0 },
      { name: 'action_archetype_id', rmType: 'STRING', min: 1 },
    ],
  ],
  [
    'ACTION',
    [
      { name: 'instruction_details', rmType: 'INSTRUCTION_DETAILS', min: 0 },
      { name: 'time', rmType: 'DV_DATE_TIME', min: 1 },
      { name: 'ism_transition', rmType: 'ISM_TRANSITION', min: 1 },
    ],
  ],
  [
    'INSTRUCTION_DETAILS',
    [
      { name: 'activity_id', rmType: 'STRING', min: 1 },
      { name: 'instruction_id', rmType: 'LOCATABLE_REF', min: 1 },
    ],
  ],
  [
    'ISM_TRANSITION',
    [
      { name: 'careflow_step', rmType: 'DV_CODED_TEXT', min: 0 },
      { name: 'current_state', rmType: 'DV_CODED_TEXT', min: 1 },
      { name: 'transition', rmType: 'DV_CODED_TEXT', min: 0 },
    ],
  ],
  [
    'INTERVAL_EVENT',
    [
      { name: 'math_function', rmType: 'DV_CODED_TEXT', min: 1 },
      { name: 'width', rmType: 'DV_DURATION', min: 1 },
    ],
  ],
  ['EVENT', [{ name: 'time', rmType: 'DV_DATE_TIME', min: 1 }]],
];

/** The attributes with `inContext` by RM class, whether added or in the template. */
const IN_CONTEXT: readonly (readonly [rmClass: string, readonly string[]])[] = [
  ['COMPOSITION', ['category', 'composer', 'language', 'territory']],
  ['EVENT_CONTEXT', ['start_time', 'setting']],
  ['ENTRY', ['subject', 'language', 'encoding']],
  ['INSTRUCTION', ['narrative']],
  ['ACTIVITY', ['timing', 'action_archetype_id']],
  ['ACTION', ['time', 'ism_transition']],
  ['ISM_TRANSITION', ['careflow_step', 'current_state', 'transition']],
  ['EVENT', ['time']],
];

/** Adds the RM attributes that the template leaves out as children of a node. Gives the nodes it added. */
export function addRmAttributes(node: NodeDraft): NodeDraft[] {
  const present = new Set(node.children.map((child) => child.attribute));
  const added: NodeDraft[] = [];
  for (const attribute of addedAttributes(node.rmType)) {
    if (present.has(attribute.name)) continue;
    const { name, rmType, min } = attribute;
    added.push(newNode({ id: name, name, rmType, min, max: 1, attribute: name, multiple: false }, node));
  }
  node.children.push(...added);
  return added;
}

function addedAttributes(rmType: string): readonly AddedAttribute[] {
  const bound = rmType.startsWith('DV_INTERVAL<') ? /^DV_INTERVAL<(.+)>$/.exec(rmType)?.[1] : undefined;
  if (bound !== undefined) return ['upper', 'lower'].map((name) => ({ name, rmType: bound, min: 1 }));
  return ADDED_BY_CLASS.get(withoutParameters(rmType)) ?? [];
}

const ADDED_BY_CLASS: ReadonlyMap<string, readonly AddedAttribute[]> = new Map(
  RM_CLASSES.map(({ name }) => [name, ofClass(name, ADDED)]),
);
const IN_CONTEXT_BY_CLASS: ReadonlyMap<string, readonly string[]> = new Map(
  RM_CLASSES.map(({ name }) => [name, ofClass(name, IN_CONTEXT)]),
);

/** What a table says of a class and of its ancestors. */
function ofClass<T>(name: string, table: readonly (readonly [rmClass: string, readonly T[]])[]): T[] {
  return table.filter(([rmClass]) => isKindOf(name, rmClass)).flatMap(([, entries]) => entries);
}

/**
 * Marks the children that FLAT clients usually set by `ctx/` (docs/spec/formats.md#added-attributes); those of the
 * context only where the template mentions it.
 */
export function markInContext(node: NodeDraft): void {
  if (node.rmType === 'EVENT_CONTEXT' && node.constraint === null) return;
  const names = IN_CONTEXT_BY_CLASS.get(withoutParameters(node.rmType)) ?? [];
  for (const child of node.children) if (names.includes(child.attribute)) child.inContext = true;
}

/** Whether an attribute of a class is a container in the RM; null when the class has no such attribute. */
export function isContainer(rmType: string, attribute: string): boolean | null {
  return attributesOf(withoutParameters(rmType)).get(attribute)?.multiple ?? null;
}
