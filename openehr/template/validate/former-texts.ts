import type { ArchetypeRoot, OperationalTemplate } from '../opt/constraint.js';
import type { WebTemplateNode } from '../web-template/web-template.js';
import { counted, step } from '../../base/work.js';

/** What a code was called that the node of a later template takes; undefined: nothing. */
export type FormerTexts = (node: WebTemplateNode, code: string) => ReadonlySet<string> | undefined;

interface FormerTemplate {
  readonly fullTree: WebTemplateNode;
  readonly opt: OperationalTemplate;
}

/** Texts by archetype and code. */
type Texts = Map<string, Map<string, Set<string>>>;

/** The texts that codes have by earlier templates, in any language: of the same code in the same archetype they stay right. */
export function formerTextsOf(templates: readonly FormerTemplate[]): FormerTexts {
  const texts: Texts = new Map();
  for (const { fullTree, opt } of counted(templates)) {
    collectLists(fullTree, '', texts);
    for (const [archetypeId, languages] of counted(opt.translations))
      for (const terms of counted([...languages.values()])) collectTerms(archetypeId, terms, texts);
  }
  return (node, code) => texts.get(archetypeAround(node))?.get(code);
}

function collectLists(node: WebTemplateNode, outer: string, texts: Texts): void {
  const archetype = archetypeOf(node);
  const archetypeId = archetype?.archetypeId ?? outer;
  if (archetype !== null) collectTerms(archetypeId, archetype.terms, texts);
  for (const { list } of counted(node.inputs))
    for (const { value, label, localizedLabels } of counted(list ?? []))
      for (const text of counted([label, ...Object.values(localizedLabels ?? {})]))
        addText(texts, [archetypeId, value], text);
  for (const child of counted(node.children)) collectLists(child, archetypeId, texts);
}

function collectTerms(archetypeId: string, terms: ArchetypeRoot['terms'], texts: Texts): void {
  for (const [code, { text }] of counted(terms)) addText(texts, [archetypeId, code], text);
}

function addText(
  texts: Texts,
  [archetypeId, code]: readonly [string, string],
  text: string | undefined,
): void {
  if (text === undefined) return;
  const ofArchetype = texts.get(archetypeId) ?? new Map<string, Set<string>>();
  texts.set(archetypeId, ofArchetype);
  const known = ofArchetype.get(code) ?? new Set<string>();
  ofArchetype.set(code, known.add(text));
}

function archetypeAround(node: WebTemplateNode): string {
  let around: WebTemplateNode | null = node;
  while (around !== null) {
    step();
    const archetype = archetypeOf(around);
    if (archetype !== null) return archetype.archetypeId;
    around = around.parent;
  }
  return '';
}

function archetypeOf({ constraint }: WebTemplateNode): ArchetypeRoot | null {
  return constraint?.kind === 'object' ? constraint.archetype : null;
}
