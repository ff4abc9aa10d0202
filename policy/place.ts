import { operatorOf, partsOf, type Expression, type PolicyJson } from './policy-json.js';

/** Where something stands in a text, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

interface Token {
  readonly text: string;
  /** Its first character, from 0. */
  readonly start: number;
}

const TOKEN =
  /\/\/[^\n]*|"(?:[^"\\]|\\[^])*"?|[A-Za-z_]\w*|\d+|==|!=|<=|>=|&&|\|\||::|[!<>+\-*.,;:@?(){}[\]]/g;

/** The place of a character of a text. */
export function placeAt(text: string, start: number): Place {
  const before = text.slice(0, start).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** The place of a byte of a text in UTF-8. */
export function placeOfByte(text: string, byte: number): Place {
  return placeAt(text, Buffer.from(text).subarray(0, byte).toString().length);
}

/**
 * The place of a part of a policy, of which Cedar's JSON says nothing: operators stand in the JSON in the order of the text, so that
 * the n-th one there is the n-th one of the same name here.
 */
export function placeOf(text: string, { conditions }: PolicyJson, part: Expression): Place {
  const clauses = clausesOf(text);
  for (const [index, { body }] of conditions.entries()) {
    const marks: Mark[] = [];
    addMarks(body, marks);
    const found = marks.find(({ of }) => of === part);
    if (found === undefined) continue;
    const same = marks.filter(({ name }) => name === found.name);
    const tokens = (clauses[index] ?? []).filter((token) => token.text === found.name);
    return placeAt(text, tokens[same.indexOf(found)]?.start ?? clauses[index]?.[0]?.start ?? 0);
  }
  return { line: 1, column: 1 };
}

/** The tokens inside the braces of each `when` and `unless`. */
function clausesOf(text: string): Token[][] {
  const tokens = Array.from(text.matchAll(TOKEN), ({ 0: found, index }) => ({ text: found, start: index }));
  const clauses: Token[][] = [];
  let depth = 0;
  let clause: Token[] | null = null;
  for (const token of tokens.filter((each) => !each.text.startsWith('//'))) {
    if (clause === null && depth === 0 && (token.text === 'when' || token.text === 'unless')) clause = [];
    else if ('({['.includes(token.text)) depth += 1;
    else if (')}]'.includes(token.text)) depth -= 1;
    clause?.push(token);
    if (clause !== null && depth === 0 && token.text === '}') {
      clauses.push(clause.slice(1));
      clause = null;
    }
  }
  return clauses;
}

/** An operator as it stands in the text. */
interface Mark {
  readonly name: string;
  readonly of: Expression | null;
}

const BEFORE: ReadonlySet<string> = new Set(['!', 'neg', 'if-then-else', 'Set', 'Record']);
const WRITTEN: Readonly<Record<string, string>> = { neg: '-', 'if-then-else': 'if', Set: '[', Record: '{' };

function addMarks(expression: Expression, marks: Mark[]): void {
  const [name, operands] = operatorOf(expression);
  const [first, ...rest] = partsOf(expression);
  const isBefore = BEFORE.has(name) || Array.isArray(operands);
  if (!isBefore && first !== undefined) addMarks(first, marks);
  marks.push({ name: writtenName(name, operands), of: expression });
  for (const each of isBefore && first !== undefined ? [first, ...rest] : rest) {
    // `is … in …` is one operator of two words.
    if (name === 'is') marks.push({ name: 'in', of: null });
    addMarks(each, marks);
  }
}

function writtenName(name: string, operands: unknown): string {
  if (name === '.') return (operands as { readonly attr: string }).attr;
  if (name === 'Var') return String(operands);
  if (name === 'Value') return JSON.stringify(operands);
  return WRITTEN[name] ?? name;
}
