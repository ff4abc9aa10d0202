import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError } from 'commander';
import { reindexStorage } from '../../maintenance/reindex.js';
import { withStorage } from '../../src/process/storage.js';
import { parseVersionAtTime } from '../../openehr/base/iso8601.js';
import { eraseAuditBefore } from '../../models/cross-collection/erase.js';

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

/** `everchart audit prune`: ends the retention of audit records; the seals note what was removed. */
export function auditCommand(): Command {
  return new Command('audit')
    .description('Audit records of the configured database')
    .addCommand(pruneCommand());
}

function pruneCommand(): Command {
  return new Command('prune')
    .description('Removes audit records older than a time; their hashes stay sealed')
    .requiredOption('--before <time>', 'ISO 8601 time, UTC unless it names a zone', timeOf)
    .action(({ before }: { before: Date }) => prune(before));
}

function timeOf(text: string): Date {
  try {
    return parseVersionAtTime(text, 'UTC');
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : 'It is no time.');
  }
}

async function prune(before: Date): Promise<void> {
  const removed = await withStorage(() => eraseAuditBefore(before));
  process.stdout.write(`${removed} audit records were removed\n`);
}
