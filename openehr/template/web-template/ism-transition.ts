import type { NodeDraft } from './node-draft.js';
import type { WebTemplateListItem } from './web-template.js';

/**
 * Merges the alternatives of `ism_transition` into the first of them: one careflow step per alternative with the
 * states it leads to, and all states (docs/spec/formats.md#added-attributes).
 */
export function mergeTransitions(alternatives: readonly NodeDraft[]): NodeDraft[] {
  const [first] = alternatives;
  if (first === undefined) return [];
  first.localizedName = undefined;
  const steps: WebTemplateListItem[] = [];
  const states = new Map<string, WebTemplateListItem>();
  for (const alternative of alternatives) {
    const leadsTo = codesOf(alternative, 'current_state');
    for (const state of leadsTo) if (!states.has(state.value)) states.set(state.value, state);
    const currentStates = leadsTo.map((state) => state.value);
    for (const step of codesOf(alternative, 'careflow_step'))
      steps.push(currentStates.length > 0 ? { ...step, currentStates } : step);
  }
  setCodes(child(first, 'careflow_step'), 'Careflow_step', steps, 'local');
  setCodes(child(first, 'current_state'), 'Current_state', [...states.values()], 'openehr');
  return [first];
}

function child(transition: NodeDraft, attribute: string): NodeDraft | undefined {
  return transition.children.find((candidate) => candidate.attribute === attribute);
}

function codesOf(transition: NodeDraft, attribute: string): readonly WebTemplateListItem[] {
  return child(transition, attribute)?.inputs.find((input) => input.suffix === 'code')?.list ?? [];
}

function setCodes(
  node: NodeDraft | undefined,
  name: string,
  list: readonly WebTemplateListItem[],
  terminology: string,
): void {
  if (node === undefined) return;
  node.name = name;
  node.localizedName = undefined;
  if (list.length === 0) return;
  node.inputs = [{ suffix: 'code', type: 'CODED_TEXT', list, terminology }];
  // The CODE_PHRASE below still is that of the first alternative.
  node.children = node.children.filter((below) => below.attribute !== 'defining_code');
}
