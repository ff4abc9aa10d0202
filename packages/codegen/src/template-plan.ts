import { withoutParameters } from '../../../openehr/rm/model/classes.js';
import { groupCodes, OPENEHR, rubric, type GroupName } from '../../../openehr/rm/terminology/openehr.js';
import { nameCodeOf } from '../../../openehr/template/opt/constraint-text.js';
import {
  PROPORTION_TYPES,
  type WebTemplateInput,
  type WebTemplateNode,
} from '../../../openehr/template/web-template/web-template.js';
import type { Plan, Step } from './runtime/canonical.js';
import { hasForm } from './runtime/values.js';

/** Classes whose objects are lists or structures that the runtime cannot make. */
const NO_FORM = new Set(['INSTRUCTION_DETAILS']);

/** Whether a node is a structure; of those without children a SECTION may be empty. */
export function isInner({ children, rmType }: WebTemplateNode): boolean {
  return children.length > 0 || rmType === 'SECTION';
}

/** Whether a node may stand more than once. */
export function isList({ max }: WebTemplateNode): boolean {
  return max !== 1;
}

/** Whether data need not hold a node: RM attributes are filled in, of alternatives one is enough. */
export function isOptional(node: WebTemplateNode): boolean {
  return (
    node.min < 1 || node.nodeId === undefined || node.inContext === true || isTwin(node) || !hasValue(node)
  );
}

/** Whether another node stands at the same path, with another class. */
function isTwin({ parent, aqlPath }: WebTemplateNode): boolean {
  return (parent?.children ?? []).filter((sibling) => sibling.aqlPath === aqlPath).length > 1;
}

function hasValue(node: WebTemplateNode): boolean {
  return isInner(node) || hasForm(withoutParameters(node.rmType));
}

/** What the runtime has to know of a node to make canonical JSON of its data, without its children. */
export function planOfNode(node: WebTemplateNode): Omit<Plan, 'of'> {
  const via = viaOf(node);
  const coded = codedInput(node);
  return {
    ...(isList(node) && { list: true, max: node.max }),
    ...(via !== null && { via }),
    ...(via !== null && !isOptional(node) && { min: node.min }),
    ...(coded === undefined ? terminologyOf(node) : codesOf(coded)),
    ...numbersOf(node),
    ...(isTwin(node) && { exact: true }),
  };
}

/** The only unit of a quantity, the first kind of a proportion. */
function numbersOf({ inputs, proportionTypes }: WebTemplateNode): Partial<Plan> {
  const [unit, ...others] = inputs.find(({ suffix }) => suffix === 'unit')?.list ?? [];
  const [kind] = proportionTypes ?? [];
  return {
    ...(unit !== undefined && others.length === 0 && { unit: unit.value }),
    ...(kind !== undefined && { kind: PROPORTION_TYPES.indexOf(kind) }),
  };
}

/** The input that lists codes. */
export function codedInput({ rmType, inputs }: WebTemplateNode): WebTemplateInput | undefined {
  if (rmType === 'DV_QUANTITY') return undefined;
  return inputs.find(({ suffix, list }) => list !== undefined && (suffix === undefined || suffix === 'code'));
}

function codesOf({ list = [], terminology }: WebTemplateInput): Partial<Plan> {
  const codes = list.map(({ value, label = value, ordinal }) => [
    value,
    ordinal === undefined ? label : ([label, ordinal] as const),
  ]);
  const states = list.flatMap(({ value, currentStates = [] }) =>
    currentStates[0] === undefined ? [] : [[value, currentStates[0]]],
  );
  return {
    codes: Object.fromEntries(codes) as NonNullable<Plan['codes']>,
    ...(terminology !== undefined && { terminology }),
    ...(states.length > 0 && { states: Object.fromEntries(states) as NonNullable<Plan['states']> }),
  };
}

/** Terminologies of the attributes of the reference model; that of other codes has to be said. */
const TERMINOLOGIES: Readonly<Record<string, string>> = {
  language: 'ISO_639-1',
  territory: 'ISO_3166-1',
  encoding: 'IANA_character-sets',
  setting: OPENEHR,
  math_function: OPENEHR,
  current_state: OPENEHR,
  transition: OPENEHR,
};

function terminologyOf({ nodeId, full }: WebTemplateNode): Partial<Plan> {
  const terminology = nodeId === undefined ? TERMINOLOGIES[full.attribute] : undefined;
  return terminology === undefined ? {} : { terminology };
}

/** The RM objects from the node above down to this one; null where the runtime has no form for one of them. */
function viaOf(node: WebTemplateNode): Step[] | null {
  const steps: Step[] = [];
  const end = node.parent?.full ?? null;
  for (let full: WebTemplateNode | null = node.full; full !== null && full !== end; full = full.parent) {
    if (NO_FORM.has(full.rmType) || full.attribute === 'offset') return null;
    const isLast = steps.length === 0;
    const type = withoutParameters(isLast ? node.rmType : full.rmType);
    if (isLast && !isInner(node) && !hasForm(type)) return null;
    steps.unshift(stepOf(full, type));
  }
  return steps;
}

function stepOf(full: WebTemplateNode, type: string): Step {
  const at = full.attribute + (full.multiple ? '*' : '');
  const { archetypeNodeId, nameConstraint, name } = full;
  if (archetypeNodeId === null) return [at, type];
  const code = nameCodeOf(full);
  if (code !== null)
    return [at, type, archetypeNodeId, nameConstraint ?? name, 1, `${code.terminologyId}::${code.code}`];
  return nameConstraint === null
    ? [at, type, archetypeNodeId, name]
    : [at, type, archetypeNodeId, nameConstraint, 1];
}

const GROUPS: readonly GroupName[] = [
  'composition category',
  'setting',
  'event math function',
  'instruction states',
];

/** Rubrics of the openEHR codes that data name without their text. */
export function rubricsOf(language: string): Record<string, string> {
  const codes = GROUPS.flatMap((group) =>
    [...groupCodes(group).keys()].map((code) => [code, rubric(group, code, language)]),
  );
  return Object.fromEntries(codes) as Record<string, string>;
}
