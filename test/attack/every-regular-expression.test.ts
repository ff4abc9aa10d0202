/**
 * Sees what is made while modules are loaded.
 * @own-modules
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

/** Rooms that run in the server. */
const SERVER = [
  ...[
    'aql',
    'change',
    'config',
    'database',
    'maintenance',
    'merge',
    'models',
    'openehr',
    'policy',
    'query',
    'routes',
  ],
  ...['src', 'workers', 'packages/rm', 'packages/embedded-mongodb'],
];
/** Rooms that run for whoever typed what they read. */
const AT_THE_USER = [
  'cli',
  'console/src',
  'packages/aql',
  'packages/aql-lsp',
  'packages/client',
  'packages/codegen',
];
/** Files of rooms of the server that are no part of it: what the operator writes, read once by the command. */
const OPERATOR = /^src\/settings\//;
/** Those of the server that take longer for long texts, and why they meet none. */
const BOUNDED: Readonly<Record<string, string>> = {
  'packages/rm/src/paths.ts': 'the server reads no path with it',
};
/** Those that build an expression later, and of what. */
const COPIES: Readonly<Record<string, string>> = {
  'openehr/template/upgrade/path.ts': 'a literal, for a place of its own to go on from',
};
/** As many characters as Node takes of request line and headers together. */
const LENGTH = 16_000;
/** Enough to tell what takes for ever from what takes long. */
const SHORT_LENGTH = 3_000;
/** Milliseconds of processor time for one text: linear ones take less than one, quadratic ones from 80, others for ever. */
const MOST_MS = { linear: 40, quadratic: 2_000 };
const ROOT = new URL('../../', import.meta.url).pathname;

interface Literal {
  readonly place: string;
  readonly expression: RegExp;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(node_modules|dist|test|tests)$/.test(entry.name) ? [] : sources(path);
    return /(?<!\.d)\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

/** Every literal of a file. */
function literalsOf(path: string): Literal[] {
  const found: Literal[] = [];
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const flags = node.text.slice(end + 1).replace('g', '');
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      const place = `${path.slice(ROOT.length)}:${line + 1} ${node.text}`;
      found.push({ place, expression: new RegExp(node.text.slice(1, end), `${flags}g`) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/**
 * Texts that make an expression go back: each character that it names, alone and beside another, and each of its words, as
 * often as fits, with an end that does not fit.
 */
function adversaries({ source }: RegExp, length: number): string[] {
  const named = new Set(source.match(/\\.|[^[\](){}|^$+*?]/gu)?.filter((letter) => letter.length === 1));
  for (const letter of 'a0 /."') named.add(letter);
  for (const [, letter = ''] of source.matchAll(/\\([^\w])/g)) named.add(letter);
  const letters = [...named].slice(0, 16);
  const units = [
    ...letters,
    ...letters.flatMap((one) => [`a${one}`, `${one} `]),
    ...(source.match(/[A-Za-z]{2,}/g) ?? []).slice(0, 4),
  ];
  // What escapes its end begins and never comes to one: looked for again from each escaped place.
  const escaped = source.includes('\\\\') ? letters.map((letter) => `\\${letter}`) : [];
  return [...units, ...escaped].flatMap((unit) => {
    const text = unit.repeat(Math.floor(length / unit.length));
    return [text, `${text}\u0000`, ...(escaped.includes(unit) ? [unit.slice(1) + text] : [])];
  });
}

/** Files that build expressions of texts. */
function buildersIn(rooms: readonly string[]): string[] {
  const files = rooms.flatMap((room) => sources(join(ROOT, room)));
  return files.filter((path) => /new RegExp\(/.test(readFileSync(path, 'utf8')));
}

/** What a file builds of texts when it is loaded, and whether it does. */
async function builtBy(path: string): Promise<Literal[]> {
  const found: Literal[] = [];
  const Native = globalThis.RegExp;
  globalThis.RegExp = class extends Native {
    constructor(source: string | RegExp, flags?: string) {
      super(source, flags);
      if (typeof source !== 'string') return;
      const place = `${path.slice(ROOT.length)} ${source}`;
      found.push({ place, expression: new Native(source, `${this.flags.replace('g', '')}g`) });
    }
  } as RegExpConstructor;
  try {
    await import(path);
  } finally {
    globalThis.RegExp = Native;
  }
  return found;
}

function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The least of three runs: what the engine does beside is not the expression's. */
function isSlow(expression: RegExp, text: string, mostMs: number): boolean {
  return [1, 2, 3].every(() => processorMs(() => text.replace(expression, '')) > mostMs);
}

const literalsIn = (rooms: readonly string[]): Literal[] =>
  rooms.flatMap((room) => sources(join(ROOT, room)).flatMap(literalsOf));

/** Where the slow ones stand. */
function slowOnes(literals: readonly Literal[], mostMs: number, length: number): string[] {
  const slow = literals.filter(({ expression }) =>
    adversaries(expression, length).some((text) => isSlow(expression, text, mostMs)),
  );
  return slow.map(({ place }) => place);
}

describe('the regular expressions of the server', () => {
  const literals = literalsIn(SERVER);

  it('are all found', () => {
    expect(literals.length).toBeGreaterThan(200);
  });

  it('take time in line with the length of the text, whatever it is', () => {
    const slow = slowOnes(literals, MOST_MS.linear, LENGTH).filter(
      (place) => !(place.split(':')[0]! in BOUNDED) && !OPERATOR.test(place),
    );
    expect(slow).toEqual([]);
  });

  it('take it as well where they are built of texts, which all are when they are loaded', async () => {
    const found: Literal[] = [];
    const builders = buildersIn(SERVER).filter((path) => !OPERATOR.test(path.slice(ROOT.length)));
    for (const path of builders) {
      const built = await builtBy(path);
      expect([path, built.length > 0]).toEqual([path, !(path.slice(ROOT.length) in COPIES)]);
      found.push(...built);
    }
    expect(found.length).toBeGreaterThan(4);
    expect(slowOnes(found, MOST_MS.linear, LENGTH)).toEqual([]);
  });
});

describe('the regular expressions that run at the user', () => {
  it('never take for ever', () => {
    expect(slowOnes(literalsIn(AT_THE_USER), MOST_MS.quadratic, SHORT_LENGTH)).toEqual([]);
  });
});
