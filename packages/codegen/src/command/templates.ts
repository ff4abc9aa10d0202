import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { compileTemplate, type CompiledTemplate } from '../../../../openehr/template/compile.js';
import {
  runtimeModules,
  templateModule,
  withImportExtension,
  type ImportExtension,
} from '../template-module.js';
import { filesOf, writeModules, type Writing } from './files.js';
import type { ServerOptions, TemplateServer } from './server.js';
import { onceOrWatching } from './watch.js';

interface Options extends ServerOptions, Writing {
  readonly importExtension: ImportExtension;
}

/** `codegen templates`: a module for each template, and those that all of them share. */
export function templatesCommand(server: TemplateServer): Command {
  const command = new Command('templates')
    .description(
      'Writes a TypeScript module for each template: types of its data, a builder, functions for each format',
    )
    .argument('[files...]', 'OPT files or folders of them; without, all templates of the server')
    .requiredOption('-o, --output <folder>', 'where the modules go')
    .addOption(
      new Option(
        '--import-extension <form>',
        'how the modules name each other: ts for Node.js 22.18 and Deno',
      )
        .choices(['js', 'ts', 'none'])
        .default('js'),
    )
    .option('--check', 'write nothing; an error where a file would be another one now')
    .option('-w, --watch', 'write again whenever a file changes, until it is stopped')
    .action(async (files: string[], options: Options & { readonly watch?: true }) => {
      const isQuiet = options.watch === true;
      if (isQuiet && files.length === 0) throw new Error('--watch needs files: a server tells no changes');
      const work = () => generateTemplates(files, { ...options, isQuiet }, server);
      await onceOrWatching(work, isQuiet ? () => filesOf(files, '.opt') : null);
    });
  return server.withOptions(command);
}

/** Writes the module of each template and those that all share. @throws Error where two would have one file */
export async function generateTemplates(
  paths: readonly string[],
  options: Options,
  server: TemplateServer,
): Promise<void> {
  const found = paths.length > 0 ? filesOf(paths, '.opt').map(fromFile) : await fromServer(options, server);
  const modules = found.map((template) => templateModule(template));
  // A template may have the name of a file that every folder gets.
  const names = new Map(runtimeModules().map(({ fileName }) => [fileName.toLowerCase(), 'the runtime']));
  for (const [index, { fileName }] of modules.entries()) {
    const id = found[index]?.templateId ?? '';
    const other = names.get(fileName.toLowerCase());
    if (other !== undefined)
      throw new Error(`${other} and ${id} would both be ${fileName}: generate them apart`);
    names.set(fileName.toLowerCase(), id);
  }
  const made = [...runtimeModules(), ...modules].map((module) =>
    withImportExtension(module, options.importExtension),
  );
  writeModules(made, options);
}

function fromFile(file: string): CompiledTemplate {
  return compileTemplate(readFileSync(file, 'utf8'));
}

async function fromServer(options: Options, server: TemplateServer): Promise<CompiledTemplate[]> {
  const found: CompiledTemplate[] = [];
  await server.each(options, (opt) => found.push(compileTemplate(opt)));
  return found;
}
