import { Command } from 'commander';

/** `everchart merge repair`: what older releases left wrong when they took merges back. */
export function repairCommand(): Command {
  return new Command('repair')
    .description(
      'Names what older releases left wrong when they took merges back, and writes what is right as new versions',
    )
    .option('--apply', 'write it; without it nothing is written')
    .action(({ apply }: { apply?: true }) => repair(apply === true));
}

async function repair(apply: boolean): Promise<void> {
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
    for await (const { ehrId, type, latest, from } of repairMerges(context, apply)) {
      const right =
        from === null ? 'what persons and the merges that stand give it' : `the content of ${from._id}`;
      process.stdout.write(`EHR ${ehrId}  ${type}  ${latest._id}  right: ${right}\n`);
      count += 1;
    }
    return count;
  });
  process.stdout.write(
    `${found} objects ${apply || found === 0 ? 'repaired' : 'to be repaired with --apply'}\n`,
  );
}
