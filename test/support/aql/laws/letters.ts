import type { Random } from '../../random.js';
import type { Tree } from './trees.js';

const WORDS =
  /(?<![-\w./$:])(SELECT|DISTINCT|FROM|WHERE|CONTAINS|AND|OR|NOT|AS|LIKE|MATCHES|EXISTS|ORDER|BY|ASC|DESC|LIMIT|OFFSET|NULL|LATEST_VERSION|ALL_VERSIONS|COUNT|MIN|MAX|SUM|AVG|[A-Z][A-Z_]{2,})(?![-\w.:])/g;

/** A query with keywords, functions and classes in other letters, and with ids of EHRs in capitals: it means the same. */
export function inOtherLetters(aql: string, random: Random): string {
  return aql
    .split(/('(?:[^'\\]|\\.)*')/)
    .map((part) =>
      part.startsWith("'")
        ? part.replace(/e{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => id.toUpperCase())
        : part.replace(WORDS, (word) => (random.chance(0.5) ? word.toLowerCase() : word)),
    )
    .join('');
}

const NUMBERS = [9_007_199_254_740_991, -9_007_199_254_740_991, 1.7e308, 5e-324, -1e-300, 0];
const TEXTS = [
  ...[
    '',
    '\0',
    '$x',
    '$$ROOT',
    '.*',
    "it's",
    '\u{1F600}',
    'x'.repeat(3000),
    'NaN',
    '\u2028',
    '\ufeff',
    '%',
    '\\',
  ],
  ...['9999-12-31T23:59:59.999Z', '0001-01-01', '2021-02-29', '-P999Y', 'P1Y2M3DT4H5M6.789S', '24:00:00'],
];

/** A query that compares with, and gives functions, LIKE and MATCHES, the most extreme values of their kind, and NULL. */
export function withExtremeLiterals(query: Tree, random: Random): Tree {
  const extreme = (literal: Node, mayBeNull: boolean): Node => {
    if (!random.chance(0.7)) return literal;
    if (mayBeNull && random.chance(0.15)) return { kind: 'null', at: literal['at'] };
    if (literal['kind'] === 'string') return { ...literal, value: random.pick(TEXTS) };
    if (literal['kind'] !== 'integer' && literal['kind'] !== 'real') return literal;
    const value = random.pick(NUMBERS);
    const isInteger = Number.isInteger(value) && Math.abs(value) < 2 ** 53;
    return { ...literal, kind: isInteger ? 'integer' : 'real', value };
  };
  const { select, where } = query;
  return { ...query, select: changed(select, extreme), where: changed(where, extreme) };
}

type Node = Readonly<Record<string, unknown>>;
type Change = (literal: Node, mayBeNull: boolean) => Node;

/** Where literals stand that a query may have any value at, and whether NULL is one. */
const PLACES: Readonly<Record<string, boolean>> = { right: false, pattern: false, items: false, args: true };

/** A part of a syntax tree with its literals changed, those in predicates of paths apart. */
function changed<T>(part: T, change: Change, place = ''): T {
  if (Array.isArray(part)) return part.map((each: unknown) => changed(each, change, place)) as T;
  if (typeof part !== 'object' || part === null) return part;
  const node = part as Node;
  if (node['kind'] === 'path') return part;
  const mayBeNull = PLACES[place];
  if (mayBeNull !== undefined && 'value' in node) return change(node, mayBeNull) as T;
  const members = Object.entries(node).map(([name, value]) => [name, changed(value, change, name)]);
  return Object.fromEntries(members) as T;
}
