import { formatAql, parseAql, tokenize, type Token } from '@everchart/aql';

/** A column: what is selected, and what it is called. */
export interface Column {
  readonly text: string;
  /** Empty: without AS. */
  readonly alias: string;
}

/** One of the conditions that all have to hold. Without an operator it is what it is: `text` is all of it. */
export interface Condition {
  readonly text: string;
  readonly operator: Operator | '';
  /** As AQL writes it: `'text'`, `12`, `$name`. */
  readonly value: string;
}

/** By what rows are sorted. */
interface Order {
  readonly text: string;
  readonly isDescending: boolean;
}

/** A query in the parts that a hand can move; each part is AQL. */
export interface QueryParts {
  /** DISTINCT, TOP. */
  readonly prefix: string;
  readonly columns: readonly Column[];
  readonly from: string;
  readonly conditions: readonly Condition[];
  readonly order: readonly Order[];
  readonly limit: string;
  readonly offset: string;
  /** Something is said in comments, which parts do not keep. */
  readonly hasComments: boolean;
}

/** What a condition asks. */
export const OPERATORS = ['=', '!=', '<', '<=', '>', '>=', 'LIKE', 'MATCHES', 'EXISTS'] as const;

/** What a condition asks. */
export type Operator = (typeof OPERATORS)[number];

const CLAUSES = ['FROM', 'WHERE', 'ORDER', 'LIMIT', 'OFFSET'];
const PREFIX = new Set(['DISTINCT', 'TOP', 'FORWARD', 'BACKWARD']);

/** A query in its parts. @throws CdrError of what cannot be read */
export function readQuery(text: string): QueryParts {
  parseAql(text);
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'end');
  const clauses = clausesOf(tokens);
  const source = (part: readonly Token[]): string =>
    part.length === 0 ? '' : text.slice(part[0]?.start, part.at(-1)?.end);
  const clause = (name: string): readonly Token[] => clauses.get(name) ?? [];
  const select = clause('SELECT');
  const first = select.findIndex((token, index) => !isPrefix(token, select[index - 1]));
  return {
    prefix: source(select.slice(0, first)),
    columns: splitAt(select.slice(first), (token) => token.text === ',').map((part) => {
      const isNamed = part.at(-2)?.upper === 'AS';
      return {
        text: source(isNamed ? part.slice(0, -2) : part),
        alias: isNamed ? (part.at(-1)?.text ?? '') : '',
      };
    }),
    from: source(clause('FROM')),
    conditions: conditionsOf(clause('WHERE'), source),
    order: splitAt(clause('ORDER').slice(1), (token) => token.text === ',').map((part) => {
      const word = part.at(-1)?.upper ?? '';
      const isDirected = part.length > 1 && /^(?:ASC|DESC)(?:ENDING)?$/.test(word);
      return {
        text: source(isDirected ? part.slice(0, -1) : part),
        isDescending: isDirected && word.startsWith('D'),
      };
    }),
    limit: source(clause('LIMIT')),
    offset: source(clause('OFFSET')),
    hasComments: /(?:^|\s)--/.test(gapsOf(text, tokens)),
  };
}

/** The parts as a query, laid out. @throws CdrError of a part that cannot be read */
export function writeQuery({ prefix, columns, from, conditions, order, limit, offset }: QueryParts): string {
  const named = columns.map(({ text, alias }) => (alias === '' ? text : `${text} AS ${alias}`));
  const clauses = [
    `SELECT ${prefix} ${named.join(', ')}`,
    `FROM ${from}`,
    conditions.length === 0 ? '' : `WHERE ${conditions.map(conditionText).join(' AND ')}`,
    order.length === 0
      ? ''
      : `ORDER BY ${order.map(({ text, isDescending }) => `${text}${isDescending ? ' DESC' : ''}`).join(', ')}`,
    limit === '' ? '' : `LIMIT ${limit}`,
    offset === '' ? '' : `OFFSET ${offset}`,
  ];
  return formatAql(clauses.filter((each) => each !== '').join('\n'));
}

/** The parts with other columns: what is sorted by the name of one goes on by its new name, or by its path where it has none any more. */
export function withColumns(parts: QueryParts, columns: readonly Column[]): QueryParts {
  const names = new Set(columns.map(({ alias }) => alias));
  const order = parts.order.map((each) => {
    const named = parts.columns.find(({ alias }) => alias === each.text);
    if (named === undefined || names.has(each.text)) return each;
    const renamed = columns.find(({ text }) => text === named.text)?.alias ?? '';
    return { ...each, text: renamed === '' ? named.text : renamed };
  });
  return { ...parts, columns, order };
}

/** A condition as AQL. */
function conditionText({ text, operator, value }: Condition): string {
  if (operator === '') return text;
  return operator === 'EXISTS' ? `EXISTS ${text}` : `${text} ${operator} ${value}`;
}

function isPrefix(token: Token, before: Token | undefined): boolean {
  return PREFIX.has(token.upper) || (before?.upper === 'TOP' && /^(?:integer|parameter)$/.test(token.kind));
}

/** The tokens of each clause, without its first word. A name behind `/` or AS begins none, nor does what is in brackets. */
function clausesOf(tokens: readonly Token[]): Map<string, readonly Token[]> {
  const clauses = new Map<string, Token[]>();
  let current: Token[] = [];
  for (const { token, depth, before } of withDepth(tokens)) {
    const isName = before?.text === '/' || before?.upper === 'AS';
    const begins = token.kind === 'word' && depth === 0 && !isName;
    if (begins && (CLAUSES.includes(token.upper) || clauses.size === 0)) {
      current = [];
      clauses.set(token.upper, current);
    } else current.push(token);
  }
  return clauses;
}

/** Tokens with the brackets that are open around each, and the one before. */
export function withDepth(tokens: readonly Token[]) {
  let depth = 0;
  return tokens.map((token, index) => {
    if (token.kind === 'symbol' && ')]}'.includes(token.text)) depth -= 1;
    const here = depth;
    if (token.kind === 'symbol' && '([{'.includes(token.text)) depth += 1;
    return { token, depth: here, before: tokens[index - 1] };
  });
}

function splitAt(tokens: readonly Token[], isBetween: (token: Token) => boolean): Token[][] {
  const parts: Token[][] = [];
  let current: Token[] = [];
  for (const { token, depth, before } of withDepth(tokens))
    if (depth === 0 && before?.text !== '/' && isBetween(token)) {
      parts.push(current);
      current = [];
    } else current.push(token);
  return current.length === 0 ? parts : [...parts, current];
}

/** Those of one AND; where OR stands between them, all of it is one condition. */
function conditionsOf(where: readonly Token[], source: (part: readonly Token[]) => string): Condition[] {
  if (where.length === 0) return [];
  const isEither = splitAt(where, ({ kind, upper }) => kind === 'word' && upper === 'OR').length > 1;
  const parts = isEither ? [where] : splitAt(where, ({ kind, upper }) => kind === 'word' && upper === 'AND');
  return parts.map((part) => {
    const whole = { text: source(part), operator: '', value: '' } as const;
    // In brackets, since it stands beside others from now on.
    if (isEither) return { ...whole, text: `(${whole.text})` };
    if (part[0]?.upper === 'EXISTS') return { ...whole, text: source(part.slice(1)), operator: 'EXISTS' };
    const at = withDepth(part).findIndex(
      ({ token, depth, before }) => depth === 0 && before?.text !== '/' && operatorOf(token) !== null,
    );
    const sign = part[at];
    const operator = sign === undefined ? null : operatorOf(sign);
    const isNegated = part[0]?.upper === 'NOT' || part[at - 1]?.upper === 'NOT';
    if (operator === null || at === 0 || isNegated) return whole;
    return { text: source(part.slice(0, at)), operator, value: source(part.slice(at + 1)) };
  });
}

function operatorOf({ kind, upper, text }: Token): Operator | null {
  if (text === '<>') return '!=';
  if (kind !== 'symbol' && upper !== 'LIKE' && upper !== 'MATCHES') return null;
  return OPERATORS.find((operator) => operator === upper) ?? null;
}

function gapsOf(text: string, tokens: readonly Token[]): string {
  return (
    tokens.map(({ start }, index) => text.slice(tokens[index - 1]?.end ?? 0, start)).join('\n') +
    text.slice(tokens.at(-1)?.end)
  );
}

/** A class that FROM names, with the variable that stands for it. */
export interface NamedClass {
  readonly className: string;
  readonly variable: string;
  /** null: whatever archetype. */
  readonly archetype: string | null;
}

const NO_CLASS = new Set(['CONTAINS', 'AND', 'OR', 'NOT', 'VERSION', 'LATEST_VERSION', 'ALL_VERSIONS']);

/** The classes of a FROM that paths can begin at. */
export function classesOf(from: string): readonly NamedClass[] {
  const tokens = tokenize(from);
  return withDepth(tokens).flatMap(({ token, before }, index) => {
    const next = tokens[index + 1];
    const isClass = token.kind === 'word' && !NO_CLASS.has(token.upper) && before?.text !== '[';
    if (!isClass || next?.kind !== 'word' || NO_CLASS.has(next.upper)) return [];
    const id = tokens[index + 2]?.text === '[' ? tokens[index + 3] : undefined;
    return [
      {
        className: token.upper,
        variable: next.text,
        archetype: id?.kind === 'archetype-id' ? id.text : null,
      },
    ];
  });
}
