import { attributesOf, isKindOf } from '../../../openehr/rm/model/classes.js';
import { CLASS_DESCRIPTIONS } from '../../../openehr/rm/model/descriptions.js';
import { FROM_CLASS_NAMES, classesBelow, fromClass } from '../../../aql/semantics/classes.js';
import { FUNCTION_WORDS } from '../../../aql/syntax/words.js';
import { pathOf, type Catalogue, type CatalogueNode } from './catalogue.js';
import type { Place } from './path-classes.js';
import {
  clauseAt,
  piecesOf,
  writtenFrom,
  type Piece,
  type WrittenClass,
  type WrittenFrom,
} from './tokens.js';
import { archetypeAround, pathBefore, placeOf } from './written-path.js';

/** Something that may be written at a place. */
export interface Completion {
  readonly label: string;
  readonly kind:
    'keyword' | 'class' | 'variable' | 'attribute' | 'path' | 'archetype' | 'code' | 'function' | 'value';
  /** What people call it, '' where nobody does: editors find it by this as well as by its label. */
  readonly term: string;
  /** What it is, in a few words: the class, the name of an archetype. */
  readonly detail: string;
  readonly documentation: string;
  /** What the text is, from `from` to `to` (counted from 0), to be replaced by `insert`. */
  readonly insert: string;
  readonly from: number;
  readonly to: number;
}

/** Most that one place is offered. */
const MAX_COMPLETIONS = 1_000;

type Found = Pick<Completion, 'label' | 'kind'> & Partial<Completion>;

interface Cursor {
  readonly text: string;
  readonly offset: number;
  /** Where the word starts that is being written. */
  readonly start: number;
  readonly pieces: readonly Piece[];
  readonly catalogue: Catalogue | null;
}

/**
 * What may stand at an offset of a text that need not be a query yet: words of the language, classes that can be
 * contained, archetypes of templates that are, variables, attributes and paths with their terms, codes and values.
 */
export function completions(
  text: string,
  offset: number,
  catalogue: Catalogue | null = null,
): readonly Completion[] {
  const before = text.slice(0, offset);
  const word = /(?:'[^'\s]*|[\w.:-]*)$/.exec(before.slice(-200))?.[0] ?? '';
  const cursor = { text, offset, start: offset - word.length, pieces: piecesOf(text), catalogue };
  const isInComment = /(?:^|\s)--(?:\s[^\n]*)?$/.test(before.slice(before.lastIndexOf('\n') + 1));
  const found = isInComment ? [] : foundAt(cursor);
  return found.slice(0, MAX_COMPLETIONS).map((each) => ({
    term: '',
    detail: '',
    documentation: '',
    insert: each.label,
    from: cursor.start,
    to: offset,
    ...each,
  }));
}

function foundAt(cursor: Cursor): readonly Found[] {
  const { text, pieces, start } = cursor;
  const all = writtenFrom(pieces);
  const clause = clauseAt(pieces, start);
  const before = text.slice(0, start);
  const from = writtenFrom(pieces, start);
  if (before.endsWith('/')) return pathsAt(cursor, before.slice(0, -1));
  const bracket = openBracket(before);
  if (bracket !== null) return inBracket(cursor, bracket, clause, from);
  const previous = pieces.findLast(({ end }) => end <= start);
  if (clause === 'FROM') return inFrom(cursor, previous, from);
  if (clause === '') return words(['SELECT']);
  return [...valuesAt(cursor, previous, all), ...atValue(cursor, { clause, from: all, previous })];
}

/** The text before a bracket that is open, null when none is. */
function openBracket(before: string): string | null {
  const [, text] = /^([\s\S]*)\[[^[\]]*$/.exec(before.slice(-4_000)) ?? [];
  return text ?? null;
}

// ---------------------------------------------------------------- FROM

function inFrom({ catalogue }: Cursor, previous: Piece | undefined, from: WrittenFrom): readonly Found[] {
  const word = previous?.upper ?? '';
  if (!['FROM', 'CONTAINS', 'AND', 'OR', '('].includes(word))
    return words(['CONTAINS', 'NOT CONTAINS', 'AND', 'OR', 'WHERE', 'ORDER BY', 'LIMIT']);
  const classes = FROM_CLASS_NAMES.filter((name) => canContain(from.parent, name));
  return [
    ...classes.map((label): Found => ({
      label,
      kind: 'class',
      documentation: CLASS_DESCRIPTIONS[label] ?? '',
    })),
    ...archetypesFor(null, from.parent, catalogue).map(
      ({ label, detail, documentation, className }): Found => ({
        label: `${className}[${label}]`,
        kind: 'archetype',
        detail,
        documentation,
        insert: `${className} ${letterOf(className, from)}[${label}]`,
      }),
    ),
  ];
}

/** A variable that FROM does not have yet. */
function letterOf(className: string, { classes }: WrittenFrom): string {
  const taken = new Set(classes.map(({ variable }) => variable?.toLowerCase()));
  const letter = className.charAt(0).toLowerCase();
  let name = letter;
  for (let count = 2; taken.has(name); count++) name = `${letter}${count}`;
  return name;
}

function canContain(parent: WrittenClass | null, name: string): boolean {
  if (parent === null) return true;
  const above = fromClass(parent.className);
  const meaning = fromClass(name);
  if (above === undefined || meaning === undefined) return meaning !== undefined;
  if (meaning.kind === 'ehr') return false;
  if (above.kind !== 'object') return above.kind === 'ehr' || meaning.kind === 'object';
  const below = new Set(above.classes.flatMap((each) => [...classesBelow(each)]));
  return meaning.kind === 'object' && meaning.classes.some((each) => below.has(each));
}

interface FoundArchetype {
  readonly label: string;
  readonly className: string;
  readonly detail: string;
  readonly documentation: string;
}

/** Archetypes of a class that templates have below what contains it. */
function archetypesFor(
  className: string | null,
  parent: WrittenClass | null,
  catalogue: Catalogue | null,
): readonly FoundArchetype[] {
  if (catalogue === null) return [];
  const around = archetypeAround(parent);
  const below = around === null ? null : catalogue.below([around]);
  const found: FoundArchetype[] = [];
  for (const archetype of catalogue.archetypes) {
    if (className !== null && !isKindOf(archetype.className, className)) continue;
    if (below !== null && !below.has(archetype.id)) continue;
    if (className === null && parent !== null && !canContain(parent, archetype.className)) continue;
    const { id, name, description } = archetype;
    found.push({ label: id, className: archetype.className, detail: name, documentation: description });
  }
  return found.sort((a, b) => (a.label < b.label ? -1 : 1));
}

// ---------------------------------------------------------------- predicates

function inBracket(cursor: Cursor, before: string, clause: string, from: WrittenFrom): readonly Found[] {
  if (clause === 'FROM') return inBracketOfFrom(cursor, before, from);
  const path = pathBefore(before);
  const place = path === null ? null : placeOf(path, writtenFrom(cursor.pieces).classes, cursor.catalogue);
  const last = place?.steps.at(-1);
  if (place === null || last === undefined) return [];
  const found = new Map<string, Found>();
  const start = `${pathOf([...place.steps.slice(0, -1), { ...last, code: null }])}[`;
  for (const node of nodesBehind(place, cursor.catalogue)) {
    if (!node.path.startsWith(start)) continue;
    const label = node.path.slice(start.length, node.path.indexOf(']', start.length));
    // What stands further below has the code in its path too, but another term.
    const isOwn = node.path === `${start}${label}]`;
    if (isOwn) found.set(label, { label, kind: 'code', detail: node.name, documentation: node.description });
    else if (!found.has(label)) found.set(label, { label, kind: 'code' });
  }
  return [...found.values()];
}

function inBracketOfFrom({ catalogue }: Cursor, before: string, from: WrittenFrom): readonly Found[] {
  const [, className = ''] = /([A-Za-z_]+)(?:\s+\w+)?\s*$/.exec(before.slice(-200)) ?? [];
  const name = className.toUpperCase();
  if (fromClass(name)?.kind === 'version') return words(['LATEST_VERSION', 'ALL_VERSIONS']);
  if (name === 'EHR') return [{ label: 'ehr_id/value', kind: 'path', insert: 'ehr_id/value = ' }];
  return archetypesFor(name, from.parent, catalogue).map((each): Found => ({ ...each, kind: 'archetype' }));
}

// ---------------------------------------------------------------- paths

/** What is compared of each data value, most often. */
const LEAVES: Readonly<Record<string, readonly string[]>> = {
  DV_QUANTITY: ['magnitude', 'units'],
  DV_COUNT: ['magnitude'],
  DV_PROPORTION: ['numerator', 'denominator'],
  DV_CODED_TEXT: ['value', 'defining_code/code_string'],
  DV_ORDINAL: ['value', 'symbol/value'],
  DV_SCALE: ['value', 'symbol/value'],
  DV_IDENTIFIER: ['id'],
};
const WITH_VALUE = [
  ...['DV_TEXT', 'DV_BOOLEAN', 'DV_DATE', 'DV_TIME', 'DV_DATE_TIME', 'DV_DURATION', 'DV_URI', 'DV_EHR_URI'],
  'DV_PARSABLE',
];

function leavesOf(className: string): readonly string[] {
  return LEAVES[className] ?? (WITH_VALUE.includes(className) ? ['value'] : []);
}

function pathsAt(cursor: Cursor, before: string): readonly Found[] {
  const { catalogue, pieces } = cursor;
  const path = pathBefore(before);
  const place = path === null ? null : placeOf(path, writtenFrom(pieces).classes, catalogue);
  if (place === null) return [];
  const attributes = new Map<string, Found>();
  for (const name of place.classes)
    for (const [label, { type }] of attributesOf(name))
      if (!attributes.has(label)) attributes.set(label, { label, kind: 'attribute', detail: type });
  return [...templatePaths(place, catalogue), ...attributes.values()];
}

/** Values below a place that templates have, `start` before the path of each. */
function templatePaths(place: Place, catalogue: Catalogue | null, start = ''): readonly Found[] {
  const prefix = `${pathOf(place.steps)}/`;
  return nodesBehind(place, catalogue).flatMap((node) => {
    if (!node.path.startsWith(prefix)) return [];
    const rest = node.path.slice(prefix.length);
    return [...node.classes].flatMap((className) =>
      leavesOf(className).map((leaf): Found => ({
        label: `${start}${rest}/${leaf}`,
        kind: 'path',
        term: node.name,
        detail: className,
        documentation: node.description,
      })),
    );
  });
}

function nodesBehind({ archetype }: Place, catalogue: Catalogue | null): readonly CatalogueNode[] {
  const known = archetype === null ? undefined : catalogue?.archetype(archetype);
  return known === undefined ? [] : [...known.nodes.values()];
}

// ---------------------------------------------------------------- values

const OPERATORS = new Set(['=', '!=', '<>', '<', '>', '<=', '>=', '{', ',']);
/** Attributes that hold a code, unit or text of a value set, behind the data value. */
const VALUE_ENDS =
  /\/(?:defining_code\/code_string|symbol\/defining_code\/code_string|units|value|magnitude)$/;

/** Codes, units and texts that templates allow where a path is compared. */
function valuesAt(cursor: Cursor, previous: Piece | undefined, from: WrittenFrom): readonly Found[] {
  if (previous === undefined || !OPERATORS.has(previous.upper)) return [];
  const left = cursor.text
    .slice(0, previous.end)
    .replace(/\s*(?:(?:[=!<>]=?|<>)|(?:NOT\s+)?MATCHES\s*\{[^{}]*)$/i, '');
  const path = pathBefore(left);
  if (path === null || !VALUE_ENDS.test(path.rest)) return [];
  const place = placeOf({ ...path, rest: path.rest.replace(VALUE_ENDS, '') }, from.classes, cursor.catalogue);
  return [...(place?.node?.values ?? [])].map(([value, rubric]): Found => {
    const text = path.rest.endsWith('/value') ? rubric : value;
    return { label: `'${text}'`, kind: 'value', detail: text === rubric ? '' : rubric };
  });
}

function atValue(
  { catalogue }: Cursor,
  {
    clause,
    from,
    previous,
  }: { readonly clause: string; readonly from: WrittenFrom; readonly previous: Piece | undefined },
): readonly Found[] {
  const isOperand =
    previous !== undefined && (CLAUSE_STARTS.has(previous.upper) || OPERATORS.has(previous.upper));
  if (!isOperand) return words(NEXT[clause] ?? []);
  const functions = [...FUNCTION_WORDS].map((label): Found => ({
    label,
    kind: 'function',
    insert: `${label}(`,
  }));
  return [
    ...from.classes.flatMap(variableOf),
    ...functions,
    ...words(clause === 'SELECT' ? ['DISTINCT', 'TOP'] : ['NOT', 'EXISTS']),
    ...from.classes.flatMap((each) => pathsOf(each, from, catalogue)),
  ];
}

function variableOf({ variable, className, archetypes }: WrittenClass): readonly Found[] {
  if (variable === null) return [];
  return [{ label: variable, kind: 'variable', detail: [className, ...archetypes].join(' ') }];
}

/** All that templates have below a variable, so that a term finds its path. */
function pathsOf(
  { variable }: WrittenClass,
  from: WrittenFrom,
  catalogue: Catalogue | null,
): readonly Found[] {
  const place = variable === null ? null : placeOf({ variable, rest: '' }, from.classes, catalogue);
  return place === null ? [] : templatePaths(place, catalogue, `${variable ?? ''}/`);
}

const CLAUSE_STARTS = new Set(['SELECT', 'DISTINCT', 'WHERE', 'BY', 'AND', 'OR', 'NOT', 'EXISTS', '(']);
const NEXT: Readonly<Record<string, readonly string[]>> = {
  SELECT: ['AS', 'FROM'],
  WHERE: ['AND', 'OR', 'LIKE', 'MATCHES', 'NOT', 'ORDER BY', 'LIMIT'],
  ORDER: ['BY', 'ASC', 'DESC', 'LIMIT'],
  LIMIT: ['OFFSET'],
};

function words(labels: readonly string[], kind: Completion['kind'] = 'keyword'): readonly Found[] {
  return labels.map((label) => ({ label, kind }));
}
