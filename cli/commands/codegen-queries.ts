import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { queryTypes, type Catalogue } from '../../packages/aql/src/main.js';
import { queryModule, queryName, type GeneratedModule } from '../../packages/codegen/src/main.js';
import { withTargetOptions } from '../transfer/target.js';
import { readCatalogue, type CatalogueOptions } from '../transfer/template-catalogue.js';
import { CommandFailed } from './options.js';

type Options = CatalogueOptions & { readonly output: string };

/** `everchart codegen queries`: a typed function for each query, checked against templates. */
export function codegenQueriesCommand(): Command {
  const command = new Command('queries')
    .description(
      'Checks AQL files against templates and writes a TypeScript module for each: a typed function',
    )
    .argument('<files...>', 'AQL files, one query in each')
    .requiredOption('-o, --output <folder>', 'where the modules go')
    .option('--templates <paths...>', 'OPT files or folders of them; without, all templates of the server')
    .action((files: string[], options: Options) => generateQueries(files, options));
  return withTargetOptions(command);
}

/** Nothing is written when anything is wrong: what is unknown to the templates is an error here. */
async function generateQueries(files: readonly string[], options: Options): Promise<void> {
  const catalogue = await readCatalogue(options);
  const names = new Map<string, string>();
  const modules: GeneratedModule[] = [];
  let mistakes = 0;
  for (const file of files) {
    const other = names.get(queryName(file));
    if (other !== undefined) mistakes += printMistake(`${file}: has the same name as ${other}`);
    names.set(queryName(file), file);
    const { made, found } = moduleOf(file, catalogue);
    for (const mistake of found) mistakes += printMistake(mistake);
    if (made !== null) modules.push(made);
  }
  if (mistakes > 0) throw new CommandFailed();
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

function printMistake(mistake: string): 1 {
  process.stderr.write(`${mistake}\n`);
  return 1;
}
