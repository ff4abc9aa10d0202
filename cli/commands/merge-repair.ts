import { Command } from 'commander';
import type { Repairing } from '../../merge/repair.js';
import { writeShown } from '../shown.js';

/** `everchart merge repair`: what older releases left wrong when they took merges back. */
export function repairCommand(): Command {
  return new Command('repair')
    .description(
      'Names what older releases left wrong when they took merges back, and writes what is right as new versions',
    )
    .option('--apply', 'write it; without it nothing is written')
    .option('--unrecorded', 'with --apply: also what an older release may have been told to do')
    .action(({ apply, unrecorded }: { apply?: true; unrecorded?: true }) =>
      repair(apply !== true ? 'none' : unrecorded === true ? 'all' : 'certain'),
    );
}

async function repair(write: Repairing): Promise<void> {
  // The other words of `merge` ask a server; only this one works on the database.
  const { changeContext } = await import('../../change/commit/context.js');
  const { repairMerges } = await import('../../merge/repair.js');
  const { withStorage } = await import('../../src/process/storage.js');
  const found = await withStorage(async (settings) => {
    const context = {
      change: changeContext(settings),
      retries: settings.mergeRetries,
      stepsFrom: settings.mergeStepsFrom,
    };
    let count = 0;
    for await (const { ehrId, type, latest, from, isGuess } of repairMerges(context, write)) {
      const right =
        from === null ? 'what persons and the merges that stand give it' : `the content of ${from._id}`;
      const word = isGuess ? 'by the rule, not recorded' : 'right';
      writeShown(process.stdout, `EHR ${ehrId}  ${type}  ${latest._id}  ${word}: ${right}\n`);
      count += 1;
    }
    return count;
  });
  writeShown(
    process.stdout,
    `${found} objects ${write !== 'none' || found === 0 ? 'repaired' : 'to be repaired with --apply'}\n`,
  );
}
