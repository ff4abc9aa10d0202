import { Command } from 'commander';
import type { AuditFilter, AuditRecord, Cdr } from '../../packages/client/src/main.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';
import { auditExportCommand } from './audit-export.js';
import { wholeNumber } from './options.js';
import { timeOption } from './time-option.js';
import { JSON_FLAG, print, tableOf, type JsonOption } from './print.js';
import { writeShown } from '../shown.js';

interface FilterOptions extends TargetOptions, JsonOption {
  readonly from?: string;
  readonly to?: string;
  readonly byUser?: string;
  readonly operation?: string;
  readonly status?: number;
  readonly fetch?: number;
  readonly offset?: number;
}

/** `everchart audit`: who did what. `prune` works on the database, the others over HTTP with the permission audit. */
export function auditCommand(): Command {
  const list = filtered('list', 'Prints the records, newest first')
    .option('--ehr <ehr_id>', 'only what was about this EHR')
    .action((options: FilterOptions & { ehr?: string }) =>
      printRecords(options, ({ admin }, filter) => admin.audit({ ...filter, ehrId: options.ehr })),
    );
  const access = filtered('access', 'Prints who saw or changed an EHR, newest first')
    .argument('<ehr_id>')
    .action((ehrId: string, options: FilterOptions) =>
      printRecords(options, ({ admin }, filter) => admin.access(ehrId, filter)),
    );
  return new Command('audit')
    .addCommand(list)
    .addCommand(access)
    .addCommand(auditExportCommand())
    .addCommand(pruneCommand());
}

function filtered(name: string, description: string): Command {
  const count = wholeNumber(0, Number.MAX_SAFE_INTEGER);
  const command = new Command(name)
    .description(description)
    .option('--from <time>', 'not before this ISO 8601 time')
    .option('--to <time>', 'before this ISO 8601 time')
    .option('--by-user <name>', 'only what this user did')
    .option('--operation <id>', 'only this operation, such as composition_get')
    .option('--status <code>', 'only answers with this HTTP status', wholeNumber(100, 599))
    .option('--fetch <count>', 'at most so many records', count)
    .option('--offset <count>', 'leave out so many records', count)
    .option(...JSON_FLAG);
  return withTargetOptions(command);
}

async function printRecords(
  options: FilterOptions,
  find: (cdr: Cdr, filter: AuditFilter) => Promise<AuditRecord[]>,
): Promise<void> {
  const { from, to, byUser, operation, status, fetch, offset } = options;
  await withTarget(options, 0, async ({ cdr }) => {
    const records = await find(cdr, { from, to, user: byUser, operation, status, fetch, offset });
    const columns = ['time', 'user', 'operation', 'status', 'ehr_id', 'request_id'];
    print(options, records, () => tableOf(columns, records));
  });
}

/** `everchart audit prune`: ends the retention of audit records; the seals note what was removed. */
function pruneCommand(): Command {
  return new Command('prune')
    .description(
      'Removes audit records of the configured database older than a time; their hashes stay sealed',
    )
    .option(
      '--before <time>',
      'ISO 8601 time, UTC unless it names a zone; without it those older than AUDIT_RETENTION_YEARS',
      timeOption,
    )
    .action(({ before }: { before?: Date }) => prune(before ?? null));
}

async function prune(before: Date | null): Promise<void> {
  const { pruneAudit } = await import('../../maintenance/prune-audit.js');
  const { withStorage } = await import('../../src/process/storage.js');
  const removed = await withStorage(({ auditRetentionYears }) => pruneAudit(before, auditRetentionYears));
  writeShown(process.stdout, `${removed} audit records were removed\n`);
}
