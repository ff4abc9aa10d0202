import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { RUNTIME_TEXT } from '../../openehr/template/codegen/runtime-text.js';
import { templateModule } from '../../openehr/template/codegen/template-module.js';
import type { WebTemplateJson } from '../../openehr/template/codegen/web-template-json-node.js';
import { compileTemplate } from '../../openehr/template/opt/compile.js';
import { answerError } from '../transfer/api-client.js';
import { codegenQueriesCommand } from './codegen-queries.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';

const TEMPLATES = '/definition/template/adl1.4';

type Options = TargetOptions & { readonly output: string };

/** `everchart codegen`: TypeScript for those who write clients. */
export function codegenCommand(): Command {
  const templates = new Command('templates')
    .description(
      'Writes a TypeScript module for each template: types, a function that makes FLAT, one that reads it',
    )
    .argument('[files...]', 'OPT files; without, all templates of the server')
    .requiredOption('-o, --output <folder>', 'where the modules go')
    .action((files: string[], options: Options) => generateTemplates(files, options));
  const command = new Command('codegen').description('Writes TypeScript from templates and queries');
  return command.addCommand(withTargetOptions(templates)).addCommand(codegenQueriesCommand());
}

async function generateTemplates(files: readonly string[], options: Options): Promise<void> {
  const found = files.length > 0 ? files.map(fromFile) : await fromServer(options);
  const modules = found.map(templateModule);
  const names = new Map<string, string>();
  for (const [index, { fileName }] of modules.entries()) {
    const id = found[index]?.templateId ?? '';
    const other = names.get(fileName.toLowerCase());
    if (other !== undefined)
      throw new Error(`${other} and ${id} would both be ${fileName}: generate them apart`);
    names.set(fileName.toLowerCase(), id);
  }
  mkdirSync(options.output, { recursive: true });
  for (const { fileName, text } of [{ fileName: 'flat.ts', text: RUNTIME_TEXT }, ...modules]) {
    writeFileSync(join(options.output, fileName), text);
    process.stdout.write(`${join(options.output, fileName)}\n`);
  }
}

function fromFile(file: string): WebTemplateJson {
  const { webTemplateText } = compileTemplate(readFileSync(file, 'utf8'));
  return JSON.parse(webTemplateText.toString()) as WebTemplateJson;
}

async function fromServer(options: Options): Promise<WebTemplateJson[]> {
  return withTarget(options, 0, async ({ client }) => {
    const get = async (path: string, accept: string): Promise<unknown> => {
      const { status, text } = await client.send('GET', path, { accept });
      if (status !== 200) throw answerError(status, text);
      return JSON.parse(text);
    };
    const list = (await get(TEMPLATES, 'application/json')) as { template_id: string }[];
    const found: WebTemplateJson[] = [];
    for (const { template_id } of list) {
      const path = `${TEMPLATES}/${encodeURIComponent(template_id)}`;
      found.push((await get(path, 'application/openehr.wt+json')) as WebTemplateJson);
    }
    return found;
  });
}
