import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type TypeScript from 'typescript';
import type { ImportExtension } from '../template-module.js';

/** What `everchart.config.ts` says for `codegen`. Paths are relative to its folder, and may be folders. */
export interface CodegenConfig {
  /** Address of the server that is asked where no files of templates are named; who asks is said by the environment. */
  readonly url?: string;
  readonly templates?: {
    /** OPT files; without, all templates of the server. */
    readonly files?: readonly string[];
    readonly output: string;
    readonly importExtension?: ImportExtension;
  };
  readonly queries?: {
    /** AQL files. */
    readonly files: readonly string[];
    readonly output: string;
    /** OPT files that they are checked against; without, all templates of the server. */
    readonly templates?: readonly string[];
  };
}

/** The configuration as it is: for editors, which know its type by this. */
export function defineConfig(config: CodegenConfig): CodegenConfig {
  return config;
}

const NAMES = ['everchart.config.ts', 'everchart.config.mjs', 'everchart.config.js'];

/** A configuration and the folder that its paths start from. */
export interface FoundConfig {
  readonly folder: string;
  readonly config: CodegenConfig;
}

/** The configuration of a file; without a name that of `folder`. @throws Error where there is none, or naming what is wrong in it */
export async function readConfig(given?: string, folder = ''): Promise<FoundConfig> {
  const file = given ?? NAMES.map((name) => join(folder, name)).find((name) => existsSync(name));
  if (file === undefined)
    throw new Error(
      `no ${NAMES[0]} here: write one, or name files with \`codegen templates\` or \`codegen queries\``,
    );
  if (!existsSync(file)) throw new Error(`there is no ${file}`);
  const path = resolve(file);
  const { default: config } = (await importConfig(path)) as { default?: unknown };
  const wrong = mistakesIn(config);
  if (wrong.length > 0) throw new Error(`${file}: ${wrong.join('; ')}`);
  return { folder: dirname(path), config: config as CodegenConfig };
}

/** Node.js reads TypeScript by itself from 22.18 on. */
async function importConfig(path: string): Promise<unknown> {
  try {
    return (await import(pathToFileURL(path).href)) as unknown;
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_UNKNOWN_FILE_EXTENSION') throw error;
    return importCompiled(path);
  }
}

/** With the compiler of the project that the file is of. Its imports start from its own folder, so it is compiled to there. */
export async function importCompiled(path: string): Promise<unknown> {
  const { transpileModule, ModuleKind, ScriptTarget } = compilerOf(path);
  const { outputText } = transpileModule(readFileSync(path, 'utf8'), {
    compilerOptions: { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 },
  });
  const compiled = `${path}.${process.pid}.mjs`;
  writeFileSync(compiled, outputText);
  try {
    return (await import(pathToFileURL(compiled).href)) as unknown;
  } finally {
    rmSync(compiled);
  }
}

function compilerOf(path: string): typeof TypeScript {
  try {
    return createRequire(path)('typescript') as typeof TypeScript;
  } catch (cause) {
    const message = `${path} needs Node.js 22.18, or typescript in the project; or call it everchart.config.mjs`;
    throw new Error(message, { cause });
  }
}

const TEXT = (value: unknown): boolean => typeof value === 'string';
const TEXTS = (value: unknown): boolean => Array.isArray(value) && value.every(TEXT);

/** What each part may hold, and what it must (`!`). */
const PARTS: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  templates: {
    files: TEXTS,
    'output!': TEXT,
    importExtension: (value) => ['js', 'ts', 'none'].includes(String(value)),
  },
  queries: { 'files!': TEXTS, 'output!': TEXT, templates: TEXTS },
};

function mistakesIn(config: unknown): string[] {
  if (!isRecord(config)) return ['has no default export: `export default defineConfig({ … })`'];
  const known = ['url', ...Object.keys(PARTS)];
  const wrong = Object.keys(config)
    .filter((name) => !known.includes(name))
    .map((name) => `${name} is unknown: there are ${known.join(', ')}`);
  if (config.url !== undefined && !TEXT(config.url)) wrong.push('url is no text');
  const parts = Object.keys(PARTS).filter((name) => config[name] !== undefined);
  if (parts.length === 0) wrong.push(`names neither ${Object.keys(PARTS).join(' nor ')}`);
  return [...wrong, ...parts.flatMap((name) => mistakesInPart(name, config[name]))];
}

function mistakesInPart(name: string, part: unknown): string[] {
  if (!isRecord(part)) return [`${name} is no object`];
  const rules = PARTS[name] ?? {};
  const members = Object.keys(rules).map((rule) => rule.replace('!', ''));
  const unknown = Object.keys(part).filter((member) => !members.includes(member));
  const wrong = Object.entries(rules).filter(([rule, isRight]) => {
    const value = part[rule.replace('!', '')];
    return value === undefined ? rule.endsWith('!') : !isRight(value);
  });
  return [
    ...unknown.map((member) => `${name}.${member} is unknown: there are ${members.join(', ')}`),
    ...wrong.map(([rule]) => `${name}.${rule.replace('!', '')} is missing or of the wrong form`),
  ];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
