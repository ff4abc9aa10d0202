import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { answerError, type ApiClient } from '../transfer/api-client.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';
import { CommandFailed } from './options.js';
import { tableOf } from './print.js';
import { judgeCommand } from './template-judge.js';
import { compareCommand, testRulesCommand } from './template-revision.js';
import { revisionsCommand, upgradeCommand } from './template-upgrade.js';
import { writeShown } from '../shown.js';

const TEMPLATES = '/definition/template/adl1.4';

/** `everchart template`: operational templates of a server. */
export function templateCommand(): Command {
  const list = new Command('list')
    .description('Prints the operational templates of the server')
    .option('--json', 'as JSON instead of a table')
    .action((options: TargetOptions & { json?: true }) => listTemplates(options));
  const upload = new Command('upload')
    .description('Uploads operational templates (OPT 1.4, XML)')
    .argument('<files...>', 'OPT files')
    .action((files: string[], options: TargetOptions) => uploadTemplates(files, options));
  const get = new Command('get')
    .description('Prints an operational template as it was uploaded')
    .argument('<template_id>')
    .action((templateId: string, options: TargetOptions) => printTemplate(templateId, options));
  const command = new Command('template');
  for (const sub of [list, upload, get]) command.addCommand(withTargetOptions(sub));
  const others = [compareCommand(), testRulesCommand(), revisionsCommand(), judgeCommand(), upgradeCommand()];
  for (const sub of others) command.addCommand(sub);
  return command;
}

async function listTemplates(options: TargetOptions & { readonly json?: true }): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    const templates = await cdr.templates.list();
    writeShown(
      process.stdout,
      `${options.json === true ? JSON.stringify(templates) : tableOf(COLUMNS, templates)}\n`,
    );
  });
}

const COLUMNS = ['template_id', 'concept', 'archetype_id', 'created_timestamp'];

/** A file that is refused does not keep the others from being uploaded. */
async function uploadTemplates(files: readonly string[], options: TargetOptions): Promise<void> {
  const failed = await withTarget(options, 0, async ({ client }) => {
    let count = 0;
    for (const file of files) {
      const done = await uploadTemplate(client, file);
      if (done === 'uploaded' || done === 'unchanged') writeShown(process.stdout, `${file}: ${done}\n`);
      else {
        writeShown(process.stderr, `${file}: ${done}\n`);
        count += 1;
      }
    }
    return count;
  });
  if (failed > 0) throw new CommandFailed();
}

/** `uploaded`, `unchanged` where the server has just this text, or what is wrong. */
async function uploadTemplate(client: ApiClient, file: string): Promise<string> {
  const body = readFileSync(file, 'utf8');
  const { status, text } = await client.send('POST', TEMPLATES, { body, type: 'application/xml' });
  if (status === CREATED) return 'uploaded';
  // A server with revisions says so itself.
  if (status === OK) return 'unchanged';
  if (status === CONFLICT && (await isStored(client, body))) return 'unchanged';
  return `${status} ${answerError(status, text).message}`;
}

const OK = 200;
const CREATED = 201;
const CONFLICT = 409;

/** Whether a template is stored as this text. */
async function isStored(client: ApiClient, opt: string): Promise<boolean> {
  const [, templateId = ''] = /<template_id>\s*<value>([^<]*)<\/value>/.exec(opt) ?? [];
  const path = `${TEMPLATES}/${encodeURIComponent(templateId.trim())}`;
  const { status, text } = await client.send('GET', path, { accept: 'application/xml' });
  return status === OK && text === opt;
}

async function printTemplate(templateId: string, options: TargetOptions): Promise<void> {
  await withTarget(options, 0, async ({ client }) => {
    const path = `${TEMPLATES}/${encodeURIComponent(templateId)}`;
    const { status, text } = await client.send('GET', path, { accept: 'application/xml' });
    if (status !== OK) throw answerError(status, text);
    writeShown(process.stdout, text);
  });
}
