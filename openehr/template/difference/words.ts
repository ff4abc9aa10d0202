import type { JsonObject, JsonValue } from '../../base/json.js';
import { groupBy } from '../../base/maps.js';
import { codedText } from '../example/sample.js';
import type { ArchetypeRoot, OperationalTemplate, Term, Terms } from '../opt/constraint.js';
import type { WebTemplateNode } from '../web-template/web-template.js';
import type { Change, Comparison } from './change.js';
import { localCodes } from './code-aspects.js';
import { isAnyText } from './text-aspects.js';

/** Compares what templates say in words: header, annotations, and the terms of each archetype where it stands. */
export function compareWords(comparison: Comparison): void {
  const { before, after } = comparison;
  const say = (change: Omit<Change, 'verdict' | 'reason'>): void => {
    comparison.add({ ...change, verdict: 'text', reason: WORDS });
  };
  for (const [what, from, to] of headers(before.opt, after.opt))
    if (!isEqual(from, to)) say({ path: '', kind: 'changed', what, from, to });
  for (const { path, from, to } of annotationChanges(before.opt, after.opt))
    say({ path, kind: kindOf(from, to), what: 'annotations', from, to });
  const later = groupBy(nodesOf(after.fullTree), ({ aqlPath }) => aqlPath);
  const renamed = new Set(
    comparison.found.map(({ change }) => (change.what === 'name' ? change.path : null)),
  );
  const said = new Set<string>();
  for (const [root, other] of comparison.roots) {
    const [archetype, now] = [archetypeOf(root), archetypeOf(other)];
    if (archetype === null || now === null) continue;
    const pair = { root, from: termsOf(archetype, before.opt), to: termsOf(now, after.opt) };
    for (const change of [...termChanges(pair), ...bindingChanges(root, archetype, now)]) {
      const key = JSON.stringify([archetype.archetypeId, change.what, change.from, change.to]);
      if (!said.has(key) && !(change.what === 'name' && renamed.has(change.path))) say(change);
      said.add(key);
    }
    compareFreeText(pair, later, comparison);
  }
}

const WORDS = 'nothing is valid or not by it';

function isEqual(from: JsonValue, to: JsonValue): boolean {
  return JSON.stringify(from) === JSON.stringify(to);
}

function kindOf(from: JsonValue, to: JsonValue): 'added' | 'removed' | 'changed' {
  return from === null ? 'added' : to === null ? 'removed' : 'changed';
}

type Header = readonly [what: 'concept' | 'languages' | 'description', from: JsonValue, to: JsonValue];

function headers(before: OperationalTemplate, after: OperationalTemplate): Header[] {
  const languages = ({ defaultLanguage, languages: others }: OperationalTemplate): JsonValue => [
    ...new Set([defaultLanguage, ...others]),
  ];
  const description = (opt: OperationalTemplate): JsonValue =>
    JSON.parse(JSON.stringify(opt.description)) as JsonValue;
  return [
    ['concept', before.concept, after.concept],
    ['languages', languages(before), languages(after)],
    ['description', description(before), description(after)],
  ];
}

function annotationChanges(before: OperationalTemplate, after: OperationalTemplate) {
  const [from, to] = [annotationsByPath(before), annotationsByPath(after)];
  return [...new Set([...from.keys(), ...to.keys()])]
    .map((path) => ({
      path: path.replace(/^\[[^\]]*\]/, ''),
      from: from.get(path) ?? null,
      to: to.get(path) ?? null,
    }))
    .filter(({ from: one, to: other }) => !isEqual(one, other));
}

function annotationsByPath({ annotations }: OperationalTemplate): Map<string, JsonObject> {
  return new Map(annotations.map(({ path, items }) => [path, { ...items }]));
}

function nodesOf(node: WebTemplateNode): WebTemplateNode[] {
  return [node, ...node.children.flatMap(nodesOf)];
}

function archetypeOf({ constraint }: WebTemplateNode): ArchetypeRoot | null {
  return constraint?.kind === 'object' ? constraint.archetype : null;
}

/** Terms by code and language. */
type TermsByCode = ReadonlyMap<string, ReadonlyMap<string, Term>>;

interface TermsOfRoot {
  /** Of the archetype, in the earlier template. */
  readonly root: WebTemplateNode;
  readonly from: TermsByCode;
  readonly to: TermsByCode;
}

function termsOf({ archetypeId, terms }: ArchetypeRoot, opt: OperationalTemplate): TermsByCode {
  const found = new Map<string, Map<string, Term>>();
  const languages: [string, Terms][] = [
    ...(opt.translations.get(archetypeId) ?? []),
    [opt.defaultLanguage, terms],
  ];
  for (const [language, known] of languages)
    for (const [code, term] of known)
      found.set(code, (found.get(code) ?? new Map<string, Term>()).set(language, term));
  return found;
}

/** Codes that both have, and that are called or described in another way. */
function termChanges({ root, from, to }: TermsOfRoot): Omit<Change, 'verdict' | 'reason'>[] {
  const nodes = new Map(
    inScope(root)
      .toReversed()
      .map((node) => [node.constraint?.nodeId ?? '', node]),
  );
  return [...from].flatMap(([code, before]) => {
    const after = to.get(code);
    if (after === undefined) return [];
    const languages = [...new Set([...before.keys(), ...after.keys()])].filter(
      (language) => JSON.stringify(before.get(language)) !== JSON.stringify(after.get(language)),
    );
    if (languages.length === 0) return [];
    const node = nodes.get(code);
    const isName =
      node !== undefined && languages.some((each) => before.get(each)?.text !== after.get(each)?.text);
    const said = (terms: ReadonlyMap<string, Term>): JsonObject =>
      Object.fromEntries(languages.map((each) => [each, shownTerm(terms.get(each), isName)]));
    const path = node?.aqlPath ?? root.aqlPath;
    const shown = { from: { [code]: said(before) }, to: { [code]: said(after) } };
    return [{ path, ...(isName ? RENAMED : DESCRIBED), ...shown }];
  });
}

const RENAMED = { kind: 'renamed', what: 'name' } as const;
const DESCRIBED = { kind: 'changed', what: 'term' } as const;

function shownTerm(term: Term | undefined, isName: boolean): JsonValue {
  if (term === undefined) return null;
  return isName ? (term.text ?? null) : { ...term };
}

/** The nodes of an archetype: not those of the archetypes that stand below. */
function inScope(root: WebTemplateNode): WebTemplateNode[] {
  const below = (node: WebTemplateNode): WebTemplateNode[] =>
    node.children.filter((child) => archetypeOf(child) === null).flatMap((child) => [child, ...below(child)]);
  return [root, ...below(root)];
}

function bindingChanges({ aqlPath }: WebTemplateNode, before: ArchetypeRoot, after: ArchetypeRoot) {
  const [from, to] = [shownBindings(before), shownBindings(after)];
  return isEqual(from, to) ? [] : [{ path: aqlPath, kind: 'changed', what: 'binding', from, to } as const];
}

function shownBindings({ termBindings }: ArchetypeRoot): JsonValue {
  return Object.fromEntries(
    [...termBindings].map(([terminology, codes]) => [
      terminology,
      Object.fromEntries([...codes].map(([code, bound]) => [code, `${bound.terminologyId}::${bound.code}`])),
    ]),
  );
}

/** Text may be coded by any code of its archetype: one that is not defined any more cannot stand there. */
function compareFreeText(
  terms: TermsOfRoot,
  later: ReadonlyMap<string, readonly WebTemplateNode[]>,
  comparison: Comparison,
): void {
  const lost = lostCodes(terms);
  const texts = inScope(terms.root).filter((node) => node.rmType === 'DV_TEXT' && isPossible(node));
  const [first] = lost;
  if (first === undefined) return;
  const still = texts.find((node) => isFreeText(node) && later.get(node.aqlPath)?.some(isFreeText));
  const place = still ?? texts.find((node) => node.constraint !== null);
  if (place === undefined) return;
  const said = { path: place.aqlPath, kind: 'narrowed', what: 'codes', from: lost, to: null } as const;
  const label = terms.from.get(first)?.get(comparison.before.defaultLanguage)?.text ?? 'Example';
  if (still === undefined) comparison.add({ ...said, verdict: 'unproven', reason: UNDEFINED });
  else
    comparison.add({
      ...said,
      verdict: 'breaking',
      reason: UNDEFINED,
      example: codedText('local', first, label),
    });
}

/** Codes that could be said in one archetype, and cannot as they could in the other. */
function lostCodes({ from, to }: Pick<TermsOfRoot, 'from' | 'to'>): string[] {
  return [...from].filter(([code, terms]) => !isDefinedAs(terms, to.get(code))).map(([code]) => code);
}

/** Whether text takes whatever coded text another place took: by local codes, those that its archetype calls something. */
export function takesCodes(before: WebTemplateNode, text: WebTemplateNode, comparison: Comparison): boolean {
  const [archetype, now] = [archetypeAround(before), archetypeAround(text)];
  if (archetype === null || now === null) return false;
  const [from, to] = [termsOf(archetype, comparison.before.opt), termsOf(now, comparison.after.opt)];
  if (before.rmType === 'DV_TEXT') return lostCodes({ from, to }).length === 0;
  const codes = localCodes(before);
  if (codes === null) return false;
  return [...codes].every(([code, hasLabel]) => to.has(code) && (hasLabel || !hasText(to.get(code))));
}

function archetypeAround(node: WebTemplateNode): ArchetypeRoot | null {
  return archetypeOf(node) ?? (node.parent === null ? null : archetypeAround(node.parent));
}

/** A code that was not called anything could have any text. */
function isDefinedAs(
  before: ReadonlyMap<string, Term>,
  after: ReadonlyMap<string, Term> | undefined,
): boolean {
  return after !== undefined && (hasText(before) || !hasText(after));
}

function hasText(terms: ReadonlyMap<string, Term> | undefined): boolean {
  return [...(terms?.values() ?? [])].some(({ text }) => text !== undefined);
}

const UNDEFINED = 'coded text may stand for text, and its archetype does not define these codes any more';

/** A DV_TEXT that may be any text, and that no coded alternative stands beside. */
function isFreeText(node: WebTemplateNode): boolean {
  const { rmType, constraint, parent } = node;
  if (rmType !== 'DV_TEXT' || constraint === null || !isAnyText(node)) return false;
  return parent?.children.every((sibling) => sibling.rmType !== 'DV_CODED_TEXT') ?? true;
}

/** Whether the template lets a node be there at all. */
function isPossible({ max, parent }: WebTemplateNode): boolean {
  return max !== 0 && (parent === null || isPossible(parent));
}
