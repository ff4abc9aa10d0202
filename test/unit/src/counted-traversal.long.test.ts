import { describe, expect, it } from '@jest/globals';
import { ESLint } from 'eslint';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const RULE = 'work/counted-traversal';
const eslint = new ESLint({ cwd: ROOT });

/** What the rule says of code that stands in a file of `aql/plan`. */
async function messagesOf(code: string, file = 'aql/plan/liveness.ts'): Promise<string[]> {
  const head = "import { counted, step, within } from '../../openehr/base/work.js';\n";
  const [result] = await eslint.lintText(head + code, { filePath: ROOT + file });
  return (result?.messages ?? [])
    .filter(({ ruleId }) => ruleId === RULE)
    .map(({ messageId }) => messageId ?? '');
}

describe('a traversal that does not count on the budget of its request', () => {
  it.each([
    ['for of', 'export function f(xs: string[]) { for (const x of xs) g(x); }'],
    [
      'for of what is made on the way',
      'export function f(xs: string[]) { for (const x of [...xs, "a"]) g(x); }',
    ],
    ['for of a map', 'export function f(xs: Map<string, string>) { for (const [x] of xs.entries()) g(x); }'],
    ['for of an iterable', 'export function f(xs: Iterable<string>) { for (const x of xs) g(x); }'],
    ['for in', 'export function f(xs: object) { for (const x in xs) g(x); }'],
    ['by index', 'export function f(xs: string[]) { for (let i = 0; i < xs.length; i++) g(xs[i]); }'],
    ['while', 'export function f(n: number) { while (n > 0) n = g(n); }'],
    [
      'while, beside a count of something else',
      'export function f(n: number, xs: string[]) { step(xs.length); while (n > 0) n = g(n); }',
    ],
    [
      'by index, beside a count of another list',
      'export function f(xs: string[], ys: string[]) { counted(ys); for (let i = 0; i < xs.length; i++) g(xs[i]); }',
    ],
    ['do', 'export function f(n: number) { do { n = g(n); } while (n > 0); }'],
    ['map', 'export function f(xs: readonly string[]) { return xs.map(g); }'],
    ['after flatMap', 'export function f(xs: string[]) { return counted(xs).flatMap(g).filter(h); }'],
    ['Array.from', 'export function f(xs: Set<string>) { return Array.from(xs, g); }'],
    ['of a list that may be missing', 'export function f(xs?: string[]) { return xs?.some(h); }'],
    [
      'with a count in another function',
      'export function f(xs: string[]) { for (const x of xs) g(() => step()); }',
    ],
    [
      'with a function of the same name',
      'function count(){}; export function f(xs: string[]) { for (const x of xs) count(); }',
    ],
    ['recursion', 'export function f(n: { inner: any }): void { f(n.inner); }', 'recursion'],
    [
      'recursion over two',
      'export function f(n: any): void { k(n.a); } function k(n: any): void { f(n); }',
      'recursion',
    ],
    [
      'recursion of methods',
      'export class C { #f(n: any): void { this.#k(n); } #k(n: any): void { this.#f(n.b); } }',
      'recursion',
    ],
    [
      'recursion on a budget, in which nothing counts',
      'export function f(n: any): void { within(null, () => g(n)); f(n.inner); }',
      'recursion',
    ],
    [
      'recursion by name',
      'export function f(n: any): void { counted([1]); } export const k = (n: any): any => n.and(k);',
      'recursion',
    ],
  ])('is refused: %s', async (_, code, message = 'loop') => {
    expect(new Set(await messagesOf(code))).toEqual(new Set([message]));
  });

  it.each([
    ['for of', 'export function f(xs: string[]) { for (const x of counted(xs)) g(x); }'],
    ['for of by steps', 'export function f(xs: Iterable<string>) { for (const x of xs) { step(); g(x); } }'],
    ['map and filter', 'export function f(xs: string[]) { return counted(xs).map(g).filter(h); }'],
    [
      'a list that was counted',
      'export function f(xs: string[]) { const all = counted(xs); return all.every(h); }',
    ],
    [
      'by index',
      'export function f(xs: string[]) { step(xs.length); for (let i = 0; i < xs.length; i++) g(xs[i]); }',
    ],
    [
      'by index, to the length of a list that was counted',
      'export function f(xs: string[]) { const { length } = counted(xs); for (let i = 0; i < length; i++) g(xs[i]); }',
    ],
    ['while', 'export function f(n: number) { let m = n; while (m > 0) m = g(m); step(n - m); }'],
    [
      'for of on a budget',
      'export function f(xs: string[]) { for (const x of xs) within(null, () => g(x)); }',
    ],
    ['a constant', 'const NAMES = ["a", "b"]; export function f() { return NAMES.map(g); }'],
    ['a pair', 'export function f(xs: readonly [string, string]) { return xs.map(g); }'],
    ['recursion', 'export function f(n: { inner: any }): void { step(); f(n.inner); }'],
    ['what is no list', 'export function f(x: { map(g: unknown): void }) { x.map(g); }'],
  ])('is taken when it does: %s', async (_, code) => {
    expect(await messagesOf(code)).toEqual([]);
  });

  it.each([
    'aql/evaluate/rows.ts',
    'openehr/template/validate.ts',
    'openehr/format/flat/read.ts',
    'aql/semantics/check.ts',
    'aql/plan/passes/passes.ts',
    'aql/mongo/translate.ts',
  ])('is looked for in %s', async (file) => {
    const code = 'export function f(xs: string[]) { for (const x of xs) g(x); }';
    expect(await messagesOf(code, file)).toEqual(['loop']);
  });
});
