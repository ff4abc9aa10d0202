import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import { jsonOf } from '../../openehr/base/json.js';
import { readRules } from '../../openehr/template/upgrade/rules.js';
import type { Cdr, TemplateUpgrade, UpgradePlan } from '../../packages/client/src/main.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';
import { CommandFailed } from './options.js';
import { JSON_FLAG, print, tableOf, type JsonOption } from './print.js';
import { writeShown } from '../shown.js';

type Options = TargetOptions & JsonOption;

/** `everchart template revisions`: what was written by each revision. */
export function revisionsCommand(): Command {
  const command = new Command('revisions')
    .description('Lists the revisions of a template, newest first, and what was written by each')
    .argument('<template_id>')
    .option(...JSON_FLAG)
    .action((templateId: string, options: Options) => printRevisions(templateId, options));
  return withTargetOptions(command);
}

const COLUMNS = ['revision', 'uploaded_at', 'uploaded_by', 'bytes', 'compositions', 'versions'];

async function printRevisions(templateId: string, options: Options): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    const revisions = await cdr.templates.revisions(templateId);
    print(options, revisions, () => tableOf(COLUMNS, revisions));
  });
}

type UpgradeOptions = Options & { readonly from?: string; readonly yes?: true };

/** `everchart template upgrade`: moves the data of a revision to the newest by rules. */
export function upgradeCommand(): Command {
  const command = new Command('upgrade')
    .description(
      'Says what rules would do with the data of a template; with --yes does it and waits; exit code 1 when something is left as it is',
    )
    .argument('<template_id>')
    .argument('<rules>', 'JSON file: {"rules": […]}')
    .option('--from <revision>', 'the revision whose data are meant, instead of the one before the newest')
    .option('--yes', 'do it')
    .option(...JSON_FLAG)
    .action((templateId: string, file: string, options: UpgradeOptions) =>
      upgrade(templateId, file, options),
    );
  return withTargetOptions(command);
}

async function upgrade(templateId: string, file: string, options: UpgradeOptions): Promise<void> {
  const rules: readonly object[] = readRules(jsonOf(readFileSync(file, 'utf8')));
  const isWhole = await withTarget(options, 0, async ({ cdr }) => {
    const { upgrades } = cdr.templates;
    const request = { rules, from: options.from };
    const plan = await upgrades.plan(templateId, request);
    if (options.yes !== true) {
      print(options, plan, () => textOfPlan(plan));
      return plan.invalid === 0;
    }
    const job = await upgrades.begin(templateId, { ...request, hash: plan.hash });
    const done = await followed(cdr, templateId, job);
    print(options, done, () => textOf(done));
    return done.state === 'done' && done.left === 0;
  });
  if (!isWhole) throw new CommandFailed();
}

const BETWEEN_LOOKS_MS = 500;

async function followed(cdr: Cdr, templateId: string, job: string): Promise<TemplateUpgrade> {
  for (;;) {
    const now = await cdr.templates.upgrades.get(templateId, job);
    if (now.state !== 'running') return now;
    writeShown(process.stderr, `${now.upgraded} upgraded, ${now.left} left\n`);
    await pause(BETWEEN_LOOKS_MS);
  }
}

function textOfPlan({ from, to, valid, mappable, invalid, unproven, causes }: UpgradePlan): string {
  const open = unproven === 0 ? '' : `; ${unproven} of the valid ones have codes for a terminology server`;
  const counts = `${from} to ${to}: ${valid} valid as they are, ${mappable} by the rules, ${invalid} not${open}`;
  return causes.length === 0 ? counts : `${counts}\n${tableOf(['count', 'path', 'message'], causes)}`;
}

function textOf({ job, state, reason, upgraded, left, left_ones }: TemplateUpgrade): string {
  const said = `${job} ${state}: ${upgraded} upgraded, ${left} left${reason === undefined ? '' : `; ${reason}`}`;
  return left_ones.length === 0 ? said : `${said}\n${tableOf(['ehr_id', 'uid', 'reason'], left_ones)}`;
}
