import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { compileTemplate, type CompiledTemplate } from '../../../../openehr/template/opt/compile.js';
import {
  runtimeModules,
  templateModule,
  withImportExtension,
  type ImportExtension,
} from '../template-module.js';
import type { ServerOptions, TemplateServer } from './server.js';

type Options = ServerOptions & { readonly output: string; readonly importExtension: ImportExtension };

/** `codegen templates`: a module for each template, and those that all of them share. */
export function templatesCommand(server: TemplateServer): Command {
  const command = new Command('templates')
    .description(
      'Writes a TypeScript module for each template: types of its data, a builder, functions for each format',
    )
    .argument('[files...]', 'OPT files; without, all templates of the server')
    .requiredOption('-o, --output <folder>', 'where the modules go')
    .addOption(
      new Option(
        '--import-extension <form>',
        'how the modules name each other: ts for Node.js 22.18 and Deno',
      )
        .choices(['js', 'ts', 'none'])
        .default('js'),
    )
    .action((files: string[], options: Options) => generateTemplates(files, options, server));
  return server.withOptions(command);
}

async function generateTemplates(
  files: readonly string[],
  options: Options,
  server: TemplateServer,
): Promise<void> {
  const found = files.length > 0 ? files.map(fromFile) : await fromServer(options, server);
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
  mkdirSync(options.output, { recursive: true });
  for (const module of [...runtimeModules(), ...modules]) {
    const { fileName, text } = withImportExtension(module, options.importExtension);
    writeFileSync(join(options.output, fileName), text);
    process.stdout.write(`${join(options.output, fileName)}\n`);
  }
}

function fromFile(file: string): CompiledTemplate {
  return compileTemplate(readFileSync(file, 'utf8'));
}

async function fromServer(options: Options, server: TemplateServer): Promise<CompiledTemplate[]> {
  const found: CompiledTemplate[] = [];
  await server.each(options, (opt) => found.push(compileTemplate(opt)));
  return found;
}
