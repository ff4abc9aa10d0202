import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { queryTypes, type Catalogue } from '../../../aql/src/main.js';
import { queryModule, queryName } from '../query-module.js';
import type { GeneratedModule } from '../template-module.js';
import { readCatalogue, type CatalogueOptions } from './catalogue.js';
import { filesOf, writeModules, type Writing } from './files.js';
import type { TemplateServer } from './server.js';
import { onceOrWatching } from './watch.js';

type Options = CatalogueOptions & Writing;

/** `codegen queries`: a typed function for each query, checked against templates. */
export function queriesCommand(server: TemplateServer): Command {
  const command = new Command('queries')
    .description(
      'Checks AQL files against templates and writes a TypeScript module for each: a typed function',
    )
    .argument('<files...>', 'AQL files, one query in each, or folders of them')
    .requiredOption('-o, --output <folder>', 'where the modules go')
    .option('--templates <paths...>', 'OPT files or folders of them; without, all templates of the server')
    .option('--check', 'write nothing; an error where a file would be another one now')
    .option('-w, --watch', 'write again whenever a file changes, until it is stopped')
    .action(async (files: string[], options: Options & { readonly watch?: true }) => {
      const isQuiet = options.watch === true;
      const watched = () => [...queryFiles(files), ...filesOf(options.templates ?? [], '.opt')];
      const work = () => generateQueries(files, { ...options, isQuiet }, server);
      await onceOrWatching(work, isQuiet ? watched : null);
    });
  return server.withOptions(command);
}

/** The AQL files of files and folders. */
export function queryFiles(paths: readonly string[]): readonly string[] {
  return filesOf(paths, '.aql');
}

/** Writes the module of each query. Nothing is written when anything is wrong: what is unknown to the templates is an error here. @throws Error with all mistakes */
export async function generateQueries(
  paths: readonly string[],
  options: Options,
  server: TemplateServer,
): Promise<void> {
  const catalogue = await readCatalogue(options, server);
  const names = new Map<string, string>();
  const modules: GeneratedModule[] = [];
  const mistakes: string[] = [];
  for (const file of queryFiles(paths)) {
    const other = names.get(queryName(file));
    if (other !== undefined) mistakes.push(`${file}: has the same name as ${other}`);
    names.set(queryName(file), file);
    const { made, found } = moduleOf(file, catalogue);
    mistakes.push(...found);
    if (made !== null) modules.push(made);
  }
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
  writeModules(modules, options);
}

function moduleOf(
  file: string,
  catalogue: Catalogue,
): { readonly made: GeneratedModule | null; readonly found: readonly string[] } {
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  const types = queryTypes(text, catalogue);
  const found = types.diagnostics.map(
    ({ line, column, code, message }) => `${file}:${line}:${column}: ${message} (${code})`,
  );
  return { made: found.length > 0 ? null : queryModule(file, text, types), found };
}
