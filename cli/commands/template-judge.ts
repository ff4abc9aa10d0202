import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Command, Option } from 'commander';
import type { Cdr, ComparedWith, TemplateComparison } from '../../packages/client/src/main.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';
import { CommandFailed } from './options.js';
import { JSON_FLAG, print, tableOf, type JsonOption } from './print.js';
import { writeShown } from '../shown.js';

interface JudgeOptions extends TargetOptions, JsonOption {
  readonly data: 'sample' | 'all';
  readonly from?: string;
  readonly to?: string;
}

/** `everchart template judge`: what another revision, or an OPT, would say of the data that are stored. */
export function judgeCommand(): Command {
  const command = new Command('judge')
    .description(
      'Judges stored COMPOSITIONs by an OPT that is not uploaded, or by a revision, changes nothing, and waits; exit code 1 when one is not valid',
    )
    .argument('<template_id>')
    .argument('[opt]', 'OPT file; else a revision')
    .option('--from <revision>', 'only the data of this revision; without an OPT file')
    .option(
      '--to <revision>',
      'the revision by which they are judged, instead of the newest; without an OPT file',
    )
    .addOption(
      new Option('--data <which>', 'some COMPOSITIONs at random, or all')
        .choices(['sample', 'all'])
        .default('sample'),
    )
    .option(...JSON_FLAG)
    .action((templateId: string, file: string | undefined, options: JudgeOptions) => {
      const { from, to } = options;
      if (file !== undefined && (from !== undefined || to !== undefined))
        return command.error('error: --from and --to name revisions: leave the OPT file out');
      const after =
        file === undefined
          ? { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
          : readFileSync(file, 'utf8');
      return judge(templateId, after, options);
    });
  return withTargetOptions(command);
}

async function judge(templateId: string, after: ComparedWith, options: JudgeOptions): Promise<void> {
  const { data: which } = options;
  const isWhole = await withTarget(options, 0, async ({ cdr }) => {
    const { data } = await cdr.templates.compareData(templateId, after, { data: which });
    const found = await followed(cdr, templateId, data.job);
    print(options, found, () => textOf(found));
    return found.state === 'done' && found.invalid === 0;
  });
  if (!isWhole) throw new CommandFailed();
}

const BETWEEN_LOOKS_MS = 500;

async function followed(cdr: Cdr, templateId: string, job: string): Promise<TemplateComparison> {
  for (;;) {
    const now = await cdr.templates.comparisons.get(templateId, job);
    if (now.state !== 'running') return now;
    writeShown(process.stderr, `${now.valid} valid, ${now.invalid} not\n`);
    await pause(BETWEEN_LOOKS_MS);
  }
}

function textOf({ state, reason, valid, invalid, others, causes }: TemplateComparison): string {
  const said = `${state}: ${valid} valid, ${invalid} not, ${others} of other revisions${reason === undefined ? '' : `; ${reason}`}`;
  return causes.length === 0 ? said : `${said}\n${tableOf(['count', 'path', 'message'], causes)}`;
}
