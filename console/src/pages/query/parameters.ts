import type { Json, QueryRequest } from '../../api/types.js';

/** Names of the `$parameters` of a query, in the order of their first use; those in strings and comments do not count. */
export function parameterNames(q: string): string[] {
  const bare = q.replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|--(?:\s.*)?$/gm, ' ');
  return [...new Set([...bare.matchAll(/\$(\w+)/g)].map(([, name = '']) => name))];
}

/** What was typed for a parameter: a number or boolean where it reads like one, else text; `'…'` is always text. */
export function parameterValue(text: string): Json {
  const quoted = /^'(.*)'$/s.exec(text);
  if (quoted !== null) return quoted[1] ?? '';
  if (text === 'true' || text === 'false') return text === 'true';
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** A place in the text, counted from 1, and what is wrong there. */
export interface Mistake {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Where the server says that the text is wrong: `at line 2:14`. */
export function mistakeIn(message: string): Mistake | null {
  const [, line, column] = /\bline (\d+):(\d+)/.exec(message) ?? [];
  return line === undefined || column === undefined
    ? null
    : { line: Number(line), column: Number(column), message };
}

/** The query as a program for `@everchart/client`. */
export function asTypeScript(root: string, { q, ...options }: QueryRequest): string {
  const { query_parameters: parameters, ehr_id: ehrId, as_of: asOf, ...rest } = options;
  const given = Object.entries({ parameters, ehrId, asOf, ...rest }).filter(
    ([, value]) => value !== undefined,
  );
  const second = given.length === 0 ? '' : `, ${JSON.stringify(Object.fromEntries(given), null, 2)}`;
  // As a template literal, so that the query keeps its lines.
  const text = q.replaceAll(/[\\`]|\$\{/g, String.raw`\$&`);
  return `import { Cdr } from '@everchart/client';

const cdr = new Cdr({ url: ${JSON.stringify(root)} });
const { rows } = await cdr.query(\`${text}\`${second});
`;
}

/** The query as a command for the shell. */
export function asCurl(root: string, body: object): string {
  const json = JSON.stringify(body).replaceAll("'", String.raw`'\''`);
  return `curl -X POST '${root}/rest/openehr/v1/query/aql' -H 'Content-Type: application/json' -d '${json}'`;
}
