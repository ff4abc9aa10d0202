import { basename } from 'node:path';
import type { QueryTypes } from '../../aql/src/main.js';
import type { GeneratedModule } from './template-module.js';

/** `bloodPressures` of `queries/blood-pressures.aql`. */
export function queryName(file: string): string {
  const words = basename(file, '.aql')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const name = words.map(capital).join('');
  return /^\p{L}/u.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : `query${name}`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

const PRIMITIVES = new Set(['string', 'number', 'boolean', 'Date', 'null']);

/** The TypeScript of one query: types of its parameters and rows, a function that runs it and one that streams it. */
export function queryModule(file: string, aql: string, { columns, parameters }: QueryTypes): GeneratedModule {
  const name = queryName(file);
  const type = capital(name);
  const classes = new Set(columns.flatMap(({ types }) => types).filter((each) => !PRIMITIVES.has(each)));
  const imports = ['Cdr', 'QueryOptions', 'QueryResult', ...classes].sort();
  const hasParameters = parameters.length > 0;
  const rows = columns.map((column) => `  readonly ${key(column.name)}: ${columnText(column)};\n`);
  const given = parameters.map((each) => `  readonly ${key(each.name)}: ${parameterText(each)};\n`);
  const text = [
    `/* eslint-disable */\n// Made by \`everchart codegen queries\` from ${basename(file)}: change that and make it again.\n`,
    importText(imports),
    `\nconst AQL = ${literal(aql.trim())};\n`,
    hasParameters
      ? `\n/** What ${name} is asked with. */\nexport interface ${type}Parameters {\n${given.join('')}}\n`
      : '',
    `\n/** A row of ${name}. */\nexport interface ${type}Row {\n${rows.join('')}}\n`,
    functionText({ name, type, hasParameters, aql, isStream: false }),
    functionText({ name: `${name}Stream`, type, hasParameters, aql, isStream: true }),
  ];
  return { fileName: `${basename(file, '.aql')}.ts`, text: text.join('') };
}

function importText(names: readonly string[]): string {
  const line = `import type { ${names.join(', ')} } from '@everchart/client';\n`;
  if (line.length <= 101) return line;
  return `import type {\n${names.map((name) => `  ${name},\n`).join('')}} from '@everchart/client';\n`;
}

function functionText(query: {
  readonly name: string;
  readonly type: string;
  readonly hasParameters: boolean;
  readonly aql: string;
  readonly isStream: boolean;
}): string {
  const { name, type, hasParameters, aql, isStream } = query;
  const result = isStream
    ? `AsyncGenerator<${type}Row, void, undefined>`
    : `Promise<QueryResult<${type}Row>>`;
  const options = hasParameters ? '{ ...options, parameters: { ...parameters } }' : 'options';
  return [
    `\n/**${isStream ? ' Row by row, with flat memory.' : comment(aql)} @throws CdrError */\n`,
    `export function ${name}(\n  cdr: Cdr,\n`,
    hasParameters ? `  parameters: ${type}Parameters,\n` : '',
    `  options: Omit<QueryOptions, 'parameters'> = {},\n): ${result} {\n`,
    `  return cdr.${isStream ? 'stream' : 'query'}<${type}Row>(AQL, ${options});\n}\n`,
  ].join('');
}

/** The comment that a query begins with says what it is for. */
function comment(aql: string): string {
  const lines = /^(?:\s*--[^\n]*\n)+/.exec(aql.trimStart())?.[0].split('\n') ?? [];
  const said = lines.map((line) => line.trim().replace(/^--\s*/, '')).filter((line) => line !== '');
  return said.length === 0 ? ' All rows.' : ` ${said.join(' ').replaceAll('*/', '* /')}`;
}

function columnText({ types, isNullable }: QueryTypes['columns'][number]): string {
  return [...types, ...(isNullable ? ['null'] : [])].join(' | ');
}

function parameterText({ types, isList }: QueryTypes['parameters'][number]): string {
  const type = types.join(' | ');
  if (!isList) return type;
  return `${type} | readonly ${types.length > 1 ? `(${type})` : type}[]`;
}

function key(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`;
}

function literal(text: string): string {
  return `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${').replaceAll('\r', '')}\``;
}
