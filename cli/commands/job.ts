import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import type { BackgroundJob } from '../../packages/client/src/main.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';
import { JSON_FLAG, print, tableOf, type JsonOption } from './print.js';
import { writeShown } from '../shown.js';

type Options = TargetOptions & JsonOption;

const BETWEEN_LOOKS_MS = 1_000;

/** `everchart job`: verifications, rebuilt indexes, upgrades and large merges that run in a server. */
export function jobCommand(): Command {
  const list = new Command('list').description('Prints the jobs that run now').action(printJobs);
  const wait = new Command('wait').description('Waits until none runs').action(waitForJobs);
  const command = new Command('job');
  for (const sub of [list, wait]) command.addCommand(withTargetOptions(sub.option(...JSON_FLAG)));
  return command;
}

async function printJobs(options: Options): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    const { jobs } = await cdr.overview();
    print(options, jobs, () => (jobs.length === 0 ? 'no job runs' : tableOfJobs(jobs)));
  });
}

async function waitForJobs(options: Options): Promise<void> {
  await withTarget(options, 0, async ({ cdr }) => {
    for (;;) {
      const { jobs } = await cdr.overview();
      if (jobs.length === 0) break;
      writeShown(process.stderr, `${jobs.map(textOf).join(', ')}\n`);
      await pause(BETWEEN_LOOKS_MS);
    }
    print(options, [], () => 'no job runs');
  });
}

function tableOfJobs(jobs: readonly BackgroundJob[]): string {
  return tableOf(['kind', 'started', 'phase', 'done', 'of'], jobs);
}

function textOf({ kind, phase, done, of }: BackgroundJob): string {
  const progress = done === undefined || of === undefined ? '' : ` ${done} of ${of} EHRs`;
  return `${kind}${phase === undefined ? '' : ` ${phase}`}${progress}`;
}
