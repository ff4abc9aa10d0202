import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { queryTypes, type Catalogue } from '../../../aql/src/main.js';
import { queryModule, queryName } from '../query-module.js';
import type { GeneratedModule } from '../template-module.js';
import { readCatalogue, type CatalogueOptions } from './catalogue.js';
import type { TemplateServer } from './server.js';

type Options = CatalogueOptions & { readonly output: string };

/** `codegen queries`: a typed function for each query, checked against templates. */
export function queriesCommand(server: TemplateServer): Command {
  const command = new Command('queries')
    .description(
      'Checks AQL files against templates and writes a TypeScript module for each: a typed function',
    )
    .argument('<files...>', 'AQL files, one query in each')
    .requiredOption('-o, --output <folder>', 'where the modules go')
    .option('--templates <paths...>', 'OPT files or folders of them; without, all templates of the server')
    .action((files: string[], options: Options) => generateQueries(files, options, server));
  return server.withOptions(command);
}

/** Nothing is written when anything is wrong: what is unknown to the templates is an error here. */
async function generateQueries(
  files: readonly string[],
  options: Options,
  server: TemplateServer,
): Promise<void> {
  const catalogue = await readCatalogue(options, server);
  const names = new Map<string, string>();
  const modules: GeneratedModule[] = [];
  const mistakes: string[] = [];
  for (const file of files) {
    const other = names.get(queryName(file));
    if (other !== undefined) mistakes.push(`${file}: has the same name as ${other}`);
    names.set(queryName(file), file);
    const { made, found } = moduleOf(file, catalogue);
    mistakes.push(...found);
    if (made !== null) modules.push(made);
  }
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
  mkdirSync(options.output, { recursive: true });
  for (const { fileName, text } of modules) {
    writeFileSync(join(options.output, fileName), text);
    process.stdout.write(`${join(options.output, fileName)}\n`);
  }
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
