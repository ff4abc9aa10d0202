import { canonicalText } from '../../../../aql/evaluate/canonical-text.js';
import type { Aggregate, Comparison, ComparisonOperator, Unbound } from '../../../../aql/syntax/ast.js';
import { renderAql, renderValue } from '../../../../aql/syntax/render.js';
import { testsOf } from '../../../../aql/syntax/walk.js';
import type { JsonValue } from '../../../../openehr/base/json.js';
import type { Random } from '../../random.js';
import {
  AT,
  chainOf,
  commuted,
  conditionOf,
  deMorgan,
  isValue,
  joined,
  not,
  pathOf,
  selecting,
  spelledOut,
  swapped,
  withClass,
  withLiterals,
  withPredicates,
  withTests,
  type Tree,
} from './trees.js';

type Row = readonly JsonValue[];

/** Asks a query of a server; `more` are further members of the body. */
export type Ask = (aql: string, more?: object) => Promise<readonly Row[]>;

/** One thing that answers have in common, whatever the data: what is broken, null when it holds or says nothing here. */
export type Law = (query: Tree, ask: Ask, random: Random) => Promise<string | null>;

const TRUE = conditionOf("LENGTH('x') = 1");
const FALSE = conditionOf("LENGTH('x') = 2");

const keyOf = (row: Row): string =>
  canonicalText(row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(12)) : cell)));

function counted(rows: readonly Row[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  return counts;
}

function sameRows(rows: readonly Row[], others: readonly Row[]): string | null {
  return rows.length === others.length ? within(rows, others) : `${rows.length} rows, and ${others.length}`;
}

/** The rows that are not, or not as often, among the others. */
function within(rows: readonly Row[], others: readonly Row[]): string | null {
  const left = counted(others);
  for (const [key, count] of counted(rows)) if (count > (left.get(key) ?? 0)) return `only in one: ${key}`;
  return null;
}

function sameOrder(rows: readonly Row[], others: readonly Row[]): string | null {
  if (rows.length !== others.length) return `${rows.length} rows, and ${others.length}`;
  const at = rows.findIndex((row, index) => keyOf(row) !== keyOf(others[index] ?? []));
  return at < 0 ? null : `row ${at}: ${keyOf(rows[at] ?? [])}, and ${keyOf(others[at] ?? [])}`;
}

/** A law that two ways to write a query answer alike; `rewrite` gives null where it does not apply. */
function alike(rewrite: (query: Tree, random: Random) => Tree | null): Law {
  return async (query, ask, random) => {
    const other = rewrite(query, random);
    if (other === null) return null;
    return sameRows(await ask(renderAql(query)), await ask(renderAql(other)));
  };
}

const rewritten = (change: (where: NonNullable<Tree['where']>) => Tree['where']): Law =>
  alike((query) => (query.where === null ? null : { ...query, where: change(query.where) }));

const comparisons = ({ where }: Tree): Comparison<Unbound>[] =>
  where === null
    ? []
    : [...testsOf(where)].filter(
        (test): test is Comparison<Unbound> =>
          test.kind === 'comparison' && test.left.kind === 'path' && isValue(test.right),
      );

const whereOnly = (query: Tree, test: Comparison<Unbound>, operator: ComparisonOperator): Tree => ({
  ...query,
  where: { ...test, operator },
});

const aggregate = (name: Aggregate['name'], argument: Aggregate<Unbound>['argument'], distinct = false) =>
  ({ kind: 'aggregate', name, distinct, argument, at: AT }) as const;

const pathsOf = (query: Tree) =>
  query.select.columns.map(({ expression }) => expression).filter((each) => each.kind === 'path');

/** Paths whose values are equal only when they are the same. */
const ORDERED = /\/(name\/value|archetype_node_id|magnitude|ehr_id\/value)$/;

const orderedBy = (query: Tree, descending = false): { query: Tree; column: number } | null => {
  const column = pathsOf(query).findIndex((path) => ORDERED.test(renderValue(path)));
  const expression = pathsOf(query)[column];
  return expression === undefined
    ? null
    : { query: { ...query, orderBy: [{ expression, descending, at: AT }] }, column };
};

const withPage = (query: Tree, limit: number, offset: number): Tree => ({
  ...query,
  limit: {
    limit: { kind: 'integer', value: limit, at: AT },
    offset: { kind: 'integer', value: offset, at: AT },
    at: AT,
  },
});

const numbersOf = (rows: readonly Row[], column: number): number[] | null => {
  const cells = rows.map((row) => row[column] ?? null).filter((cell) => cell !== null);
  return cells.every((cell) => typeof cell === 'number') ? cells : null;
};

async function countedRows(
  query: Tree,
  ask: Ask,
  wanted: 'all' | 'present' | 'different',
): Promise<string | null> {
  const paths = pathsOf(query);
  const rows = await ask(renderAql(query));
  const counts = [
    aggregate('COUNT', null),
    ...paths.map((path) => aggregate('COUNT', wanted === 'all' ? null : path, wanted === 'different')),
    // Every path takes part in rows, whatever is counted.
    ...paths.map((path) => aggregate('COUNT', path)),
  ];
  const [found = []] = await ask(renderAql(selecting(query, counts)));
  const expected = paths.map((_, index) => {
    const cells = rows.map((row) => row[index] ?? null).filter((cell) => wanted === 'all' || cell !== null);
    return wanted === 'different' ? counted(cells.map((cell) => [cell])).size : cells.length;
  });
  return sameOrder([[rows.length, ...expected]], [found.slice(0, 1 + paths.length)]);
}

/** The laws by name. */
export const LAWS: Readonly<Record<string, Law>> = {
  'AND and OR commute': rewritten(commuted),
  'De Morgan': rewritten(deMorgan),
  'NOT NOT is nothing': rewritten((where) => not(not(where))),
  'what is true or false adds nothing': rewritten((where) => joined('or', joined('and', where, TRUE), FALSE)),
  'a condition and its NOT are within all': async (query, ask) => {
    const { where } = query;
    if (where === null) return null;
    const all = await ask(renderAql({ ...query, where: joined('or', where, TRUE) }));
    const yes = await ask(renderAql(query));
    return within([...yes, ...(await ask(renderAql({ ...query, where: not(where) })))], all);
  },
  'what is neither true nor false is found by nothing': async (query, ask) => {
    const { where } = query;
    if (where === null) return null;
    return sameRows(await ask(renderAql({ ...query, where: not(joined('or', where, not(where))) })), []);
  },
  'pages are slices of the whole': async (query, ask, random) => {
    const ordered = orderedBy(query);
    if (ordered === null) return null;
    const whole = await ask(renderAql(ordered.query));
    const [limit, offset] = [random.whole(1, 4), random.whole(0, whole.length)];
    const page = await ask(renderAql(withPage(ordered.query, limit, offset)));
    return sameOrder(page, whole.slice(offset, offset + limit));
  },
  'fetch is LIMIT': async (query, ask, random) => {
    const [fetch, offset] = [random.whole(1, 4), random.whole(0, 3)];
    return sameOrder(
      await ask(renderAql(query), { fetch, offset }),
      await ask(renderAql(withPage(query, fetch, offset))),
    );
  },
  'DESC is ASC backwards': async (query, ask) => {
    const up = orderedBy(query);
    const down = orderedBy(query, true);
    if (up === null || down === null) return null;
    const cells = (rows: readonly Row[]): Row[] => rows.map((row) => [row[up.column] ?? null]);
    return sameOrder(
      cells(await ask(renderAql(up.query))),
      cells(await ask(renderAql(down.query))).reverse(),
    );
  },
  'COUNT(*) counts rows': (query, ask) => countedRows(query, ask, 'all'),
  'COUNT counts what is there': (query, ask) => countedRows(query, ask, 'present'),
  'COUNT(DISTINCT) counts what differs': (query, ask) => countedRows(query, ask, 'different'),
  'MIN, MAX, SUM and AVG are those of the rows': async (query, ask) => {
    const paths = pathsOf(query);
    const column = paths.findIndex((path) => renderValue(path).endsWith('/magnitude'));
    const path = paths[column];
    if (path === undefined) return null;
    const numbers = numbersOf(await ask(renderAql(query)), column);
    if (numbers === null) return null;
    const totals = (['MIN', 'MAX', 'SUM', 'AVG'] as const).map((name) => aggregate(name, path));
    const [found = []] = await ask(
      renderAql(selecting(query, [...totals, ...paths.map((each) => aggregate('COUNT', each))])),
    );
    const sum = numbers.reduce((total, each) => total + each, 0);
    const expected =
      numbers.length === 0
        ? [null, null, null, null]
        : [Math.min(...numbers), Math.max(...numbers), sum, sum / numbers.length];
    return sameOrder([found.slice(0, 4)], [expected]);
  },
  'groups are those of the rows': async (query, ask) => {
    const [path, ...others] = pathsOf(query);
    if (path === undefined) return null;
    const rows = await ask(renderAql(query));
    const counts = counted(rows.map((row) => [row[0] ?? null]));
    const columns = [path, aggregate('COUNT', null), ...others.map((each) => aggregate('COUNT', each))];
    const groups = await ask(renderAql(selecting(query, columns)));
    const found = new Map(groups.map((row) => [keyOf(row.slice(0, 1)), row[1]]));
    if (groups.length !== found.size) return 'a group twice';
    return sameRows(
      [...found].map(([key, count]) => [key, count ?? null]),
      [...counts].map(([key, count]) => [key, count]),
    );
  },
  'names of variables mean nothing': alike(
    (query) =>
      JSON.parse(
        JSON.stringify(query, (name, value: unknown) =>
          name === 'variable' && typeof value === 'string' ? `Zz_${value}` : value,
        ),
      ) as Tree,
  ),
  'AND and OR of FROM commute': alike((query) => ({ ...query, from: swapped(query.from) })),
  'a parameter is its value': async (query, ask) => {
    const values: Record<string, unknown> = {};
    const other = withLiterals(query, (literal) => {
      const name = `p${Object.keys(values).length}`;
      values[name] = (literal as { value?: unknown }).value;
      return { kind: 'parameter', name, at: AT };
    });
    return sameRows(await ask(renderAql(query)), await ask(renderAql(other), { query_parameters: values }));
  },
  '= is MATCHES of one': alike((query) =>
    withTests(query, (test) =>
      test.kind === 'comparison' && test.operator === '=' && test.left.kind === 'path' && isValue(test.right)
        ? {
            ...{ kind: 'matches', left: test.left, negated: false, at: AT },
            set: { kind: 'list', items: [test.right as never], at: AT },
          }
        : test,
    ),
  ),
  '< and = are <=': async (query, ask) => {
    const [test] = comparisons(query);
    if (test === undefined) return null;
    const rows = async (operator: ComparisonOperator) => ask(renderAql(whereOnly(query, test, operator)));
    return sameRows([...(await rows('<')), ...(await rows('='))], await rows('<='));
  },
  '< is within NOT >=': async (query, ask) => {
    const [test] = comparisons(query);
    if (test === undefined) return null;
    const other = { ...query, where: not({ ...test, operator: '>=' }) };
    return within(await ask(renderAql(whereOnly(query, test, '<'))), await ask(renderAql(other)));
  },
  'an ehr_id is the same in FROM, WHERE and the request': async (query, ask, random) => {
    const { from, where } = query;
    if (from.kind !== 'class' || from.className !== 'EHR' || from.variable === null) return null;
    if (from.predicate !== null) return null;
    const rows = await ask(renderAql(selecting(query, [pathOf(from.variable, 'ehr_id', 'value')], true)));
    const [ehrId] = rows.length === 0 ? [] : (random.pick(rows) as [string]);
    if (ehrId === undefined) return null;
    const condition = conditionOf(`${from.variable}/ehr_id/value = '${ehrId.toUpperCase()}'`);
    const inWhere = { ...query, where: where === null ? condition : joined('and', condition, where) };
    const found = await ask(renderAql(query), { ehr_id: ehrId });
    const inFrom = renderAql(query).replace(
      `EHR ${from.variable}`,
      `EHR ${from.variable}[ehr_id/value='${ehrId}']`,
    );
    return sameRows(found, await ask(renderAql(inWhere))) ?? sameRows(found, await ask(inFrom));
  },
  'a name after a code is a condition': alike((query) => withPredicates(query, spelledOut)),
  'a name in FROM is one in WHERE': alike((query) => {
    const named = chainOf(query.from as never).find(({ variable, predicate }) => {
      const [only, another] = predicate?.alternatives ?? [];
      const [first, second] = only ?? [];
      const isName = first?.kind === 'node' ? first.name?.kind === 'string' : false;
      return variable !== null && another === undefined && second === undefined && isName;
    });
    const first = named?.predicate?.alternatives[0]?.[0];
    if (named === undefined || first?.kind !== 'node' || first.name?.kind !== 'string') return null;
    const { name } = first;
    const predicate = { kind: 'predicate', alternatives: [[{ ...first, name: null }]], at: AT } as const;
    const left = pathOf(named.variable ?? '', 'name', 'value');
    const test = { kind: 'comparison', left, operator: '=', right: name, at: AT } as const;
    const from = withClass(query.from, named, (old) => ({ ...old, predicate }));
    return { ...query, from, where: query.where === null ? test : joined('and', query.where, test) };
  }),
  'CONTAINS and NOT CONTAINS are all': async (query, ask) => {
    const chain = chainOf(query.from as never);
    const root = chain.find(({ className }) => className === 'COMPOSITION');
    const isVersioned = chain.some(({ className }) => className === 'VERSION' || className === 'FOLDER');
    if (root === undefined || root.variable === null || root.contains === null || isVersioned) return null;
    const { contains } = root;
    const uids = async (inner: typeof contains | null): Promise<readonly Row[]> => {
      const from = withClass(query.from, root, (old) => ({ ...old, contains: inner }));
      const all = { ...query, from, where: null };
      return ask(renderAql(selecting(all, [pathOf(root.variable ?? '', 'uid', 'value')], true)));
    };
    const some = await uids({ ...contains, negated: false });
    return sameRows([...some, ...(await uids({ ...contains, negated: true }))], await uids(null));
  },
};
