import { attributesOf, rmClass } from '../../../openehr/rm/model/classes.js';
import { CLASS_DESCRIPTIONS } from '../../../openehr/rm/model/descriptions.js';
import { isArchetypeId, isNodeCode } from '../../../aql/syntax/words.js';
import { pathOf, type Catalogue, type CatalogueNode, type CodedStep } from './catalogue.js';
import type { Place } from './path-classes.js';
import { piecesOf, writtenFrom, type WrittenFrom } from './tokens.js';
import { archetypeAround, pathBefore, placeOf } from './written-path.js';

/** What a word of a query means. */
export interface Hover {
  /** In Markdown. */
  readonly text: string;
  /** The word, counted from 0. */
  readonly from: number;
  readonly to: number;
}

/** What the word at an offset means: the term of a code or archetype, a class, the class behind an attribute or variable. */
export function hoverAt(text: string, offset: number, catalogue: Catalogue | null = null): Hover | null {
  const pieces = piecesOf(text);
  const piece = pieces.find(({ start, end }) => start <= offset && offset < end);
  if (piece === undefined || !/^[A-Za-z_]/.test(piece.text)) return null;
  const before = text.slice(0, piece.start);
  const meaning = meaningOf(piece.text, before, { from: writtenFrom(pieces), catalogue, start: piece.start });
  return meaning === null ? null : { text: meaning, from: piece.start, to: piece.end };
}

interface Around {
  readonly from: WrittenFrom;
  readonly catalogue: Catalogue | null;
  readonly start: number;
}

function meaningOf(word: string, before: string, around: Around): string | null {
  const { catalogue, from } = around;
  if (isArchetypeId(word)) {
    const archetype = catalogue?.archetype(word);
    return archetype === undefined ? null : described(archetype.name, word, archetype.description);
  }
  if (isNodeCode(word)) return codeMeaning(word, before, around);
  if (before.endsWith('/')) return attributeMeaning(word, before.slice(0, -1), around);
  const variable = from.classes.find((each) => each.variable?.toLowerCase() === word.toLowerCase());
  if (variable !== undefined)
    return described(word, [variable.className, ...variable.archetypes].join(' '), '');
  const known = rmClass(word.toUpperCase());
  return known === undefined ? null : described(known.name, '', CLASS_DESCRIPTIONS[known.name] ?? '');
}

function codeMeaning(code: string, before: string, around: Around): string | null {
  for (const node of nodesWith(code, before, around)) {
    if (node.code === code) return described(node.name, code, node.description);
    const rubric = node.values.get(code);
    if (rubric !== undefined) return described(rubric, code, '');
  }
  return null;
}

/** The node at the path before a code; without one, all of the archetype around it. */
function nodesWith(code: string, before: string, around: Around): Iterable<CatalogueNode> {
  const { from, catalogue, start } = around;
  const place = placeBefore(before, around);
  const written = from.classes.find(({ end }) => end > start) ?? null;
  const archetype = place?.archetype ?? archetypeAround(written);
  const nodes = archetype === null ? undefined : catalogue?.archetype(archetype)?.nodes;
  if (nodes === undefined) return [];
  const exact = nodes.get(pathOf(withCode(place?.steps ?? [], code)));
  return exact === undefined ? nodes.values() : [exact];
}

/** Where the bracket stands in which a text ends. */
function placeBefore(before: string, { from, catalogue }: Around): Place | null {
  const path = before.endsWith('[') ? pathBefore(before.slice(0, -1)) : null;
  return path === null ? null : placeOf(path, from.classes, catalogue);
}

/** The steps, the last with the code. */
function withCode(steps: readonly CodedStep[], code: string): readonly CodedStep[] {
  return steps.map((step, index) => (index === steps.length - 1 ? { ...step, code } : step));
}

function attributeMeaning(name: string, before: string, { from, catalogue }: Around): string | null {
  const path = pathBefore(before);
  const place = path === null ? null : placeOf(path, from.classes, catalogue);
  const types = new Set<string>();
  for (const each of place?.classes ?? []) {
    const attribute = attributesOf(each).get(name);
    if (attribute !== undefined) types.add(`${attribute.multiple ? 'List of ' : ''}${attribute.type}`);
  }
  return types.size === 0 ? null : described(name, [...types].join(' | '), '');
}

function described(title: string, detail: string, description: string): string {
  const head = `**${plain(title)}**`;
  // Nothing ends a code span but a backtick, which no code and no class has.
  const whole = detail === '' ? head : `${head} \`${detail.replaceAll('`', "'")}\``;
  return description === '' ? whole : `${whole}\n\n${plain(description)}`;
}

/** A text of a template as Markdown that shows it as it is: no link, no picture, no HTML. */
function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]()<>#+!|~&:]/g, (letter) => (letter === ':' ? '&#58;' : `\\${letter}`));
}
