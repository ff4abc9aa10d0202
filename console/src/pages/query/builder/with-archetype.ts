import { CdrError, parseAql, tokenize } from '@everchart/aql';
import { classesOf, withDepth, type NamedClass } from './query-parts.js';

/** Class and id of an archetype. */
interface Archetype {
  readonly id: string;
  readonly className: string;
}

/**
 * FROM with one more archetype in the documents that it names; of none yet a FROM of its own. null: it has no one place for it, and would
 * lose something that it names.
 */
export function withArchetype(from: string, archetype: Archetype): string | null {
  const next = from.trim() === '' ? begun(archetype) : added(from, archetype);
  return next !== null && isQuery(next) && keepsAll(classesOf(from), classesOf(next)) ? next : null;
}

function begun({ id, className }: Archetype): string {
  if (className === 'COMPOSITION') return `EHR e CONTAINS COMPOSITION c[${id}]`;
  return `EHR e CONTAINS COMPOSITION c CONTAINS ${className} ${initialOf(className)}[${id}]`;
}

function added(from: string, { id, className }: Archetype): string | null {
  const classes = classesOf(from);
  const isDocument = className === 'COMPOSITION';
  const own = `${className} ${freeVariable(className, classes)}[${id}]`;
  const [only] = classes;
  if (classes.length === 1 && only?.className === 'EHR') {
    const document = isDocument ? own : `COMPOSITION ${freeVariable('COMPOSITION', classes)} CONTAINS ${own}`;
    return `${from} CONTAINS ${document}`;
  }
  const place = placeIn(from);
  if (place === null) return null;
  const { head, isAny, inside } = place;
  const rest = inside === '' ? '' : ` CONTAINS ${inside}`;
  if (isDocument) return isAny ? `${head}[${id}]${rest}` : null;
  return `${head} CONTAINS ${inside === '' ? own : `(${isOne(inside) ? inside : `(${inside})`} AND ${own})`}`;
}

/** The one document that FROM names outside of brackets: up to what it contains, and that. `isAny`: of any archetype. */
function placeIn(
  from: string,
): { readonly head: string; readonly isAny: boolean; readonly inside: string } | null {
  const tokens = withDepth(tokenize(from).filter(({ kind }) => kind !== 'end'));
  const at = documentIn(tokens);
  if (at === null) return null;
  const behind = tokens.slice(at + 2);
  const isAny = behind[0]?.token.text !== '[';
  const last = isAny ? -1 : behind.findIndex(({ token, depth }) => token.text === ']' && depth === 0);
  const end = tokens[at + 2 + last]?.token.end;
  const [next, first] = behind.slice(last + 1);
  if (next !== undefined && next.token.upper !== 'CONTAINS') return null;
  return {
    head: from.slice(0, end),
    isAny,
    inside: first === undefined ? '' : from.slice(first.token.start),
  };
}

/** Where its class stands; null: there is none, more than one, or one that something else is said of. */
function documentIn(tokens: ReturnType<typeof withDepth>): number | null {
  const [at, ...others] = tokens.flatMap(({ token }, index) =>
    token.upper === 'COMPOSITION' && tokens[index + 1]?.token.kind === 'word' ? [index] : [],
  );
  if (at === undefined || others.length > 0 || tokens[at]?.depth !== 0) return null;
  return tokens.slice(0, at).some(({ token }) => /^(?:NOT|AND|OR)$/.test(token.upper)) ? null : at;
}

/** Whether it is one class with what that contains, so that it needs no brackets. */
function isOne(inside: string): boolean {
  return withDepth(tokenize(inside)).every(
    ({ token, depth }) => depth > 0 || !/^(?:AND|OR|NOT|CONTAINS)$/.test(token.upper),
  );
}

function freeVariable(className: string, classes: readonly NamedClass[]): string {
  const taken = new Set(classes.map(({ variable }) => variable.toLowerCase()));
  const letter = initialOf(className);
  let variable = letter;
  for (let number = 2; taken.has(variable); number += 1) variable = `${letter}${number}`;
  return variable;
}

function initialOf(className: string): string {
  return className.charAt(0).toLowerCase();
}

function keepsAll(before: readonly NamedClass[], after: readonly NamedClass[]): boolean {
  return before.every(({ className, variable, archetype }) =>
    after.some(
      (each) =>
        each.className === className &&
        each.variable === variable &&
        (archetype === null || each.archetype === archetype),
    ),
  );
}

function isQuery(from: string): boolean {
  try {
    parseAql(`SELECT x FROM ${from}`);
    return true;
  } catch (error) {
    if (error instanceof CdrError) return false;
    throw error;
  }
}
