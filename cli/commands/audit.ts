import { Command, InvalidArgumentError } from 'commander';
import { parseVersionAtTime } from '../../openehr/base/iso8601.js';
import { eraseAuditBefore } from '../../models/cross-collection/erase.js';
import { withStorage } from '../../src/process/storage.js';

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
