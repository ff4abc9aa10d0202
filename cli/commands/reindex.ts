import { SingleBar } from 'cli-progress';
import { Command } from 'commander';
import { reindexStorage } from '../../maintenance/reindex.js';
import { withStorage } from '../../src/process/storage.js';

/** `everchart reindex`: rebuilds what AQL reads; may run beside servers and be stopped at any time. */
export function reindexCommand(): Command {
  return new Command('reindex')
    .description(
      'Rebuilds everything AQL reads from the stored VERSIONs, on the configured database; servers may go on',
    )
    .action(reindex);
}

async function reindex(): Promise<void> {
  await withStorage(async (settings) => {
    const bar = process.stderr.isTTY
      ? new SingleBar({ format: 'reindex [{bar}] {value}/{total} EHRs, {eta_formatted} left' })
      : null;
    const start = performance.now();
    bar?.start(1, 0);
    const done = await reindexStorage(settings.aql.leafIndex, ({ ehrs, ofEhrs }) => {
      bar?.setTotal(ofEhrs);
      bar?.update(ehrs);
    });
    bar?.stop();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    process.stdout.write(`${done.ehrs} EHRs, ${done.documents} documents rebuilt in ${seconds} s\n`);
  });
}
