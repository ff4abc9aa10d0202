import { Command, Option } from 'commander';
import type { Admin, AuditFilter } from '../../packages/client/src/main.js';
import { openOutput } from '../output.js';
import { writeShown } from '../shown.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';
import { wholeNumber } from './options.js';
import { timeOption } from './time-option.js';

interface ExportOptions extends TargetOptions {
  readonly since: Date;
  readonly until?: Date;
  readonly format: 'json' | 'fhir';
  readonly limit?: number;
  readonly file?: string;
}

/** What is this young may still be joined by a record of the same time, whose transaction ends later. */
const SETTLED_MS = 10_000;
/** Records or events of one request. */
const AT_ONCE = 1_000;
const PATIENCE_MS = 60_000;

const HELP = `
Oldest first, one a line: records as \`GET /rest/admin/audit\` has them, or with --format fhir AuditEvents, one for each EHR that a record
names. What is younger than ten seconds, and what comes after a record whose answer is still being sent, is left for the next time:
stderr says since when that has to go on. Nothing is left out; what was written comes again only where it is of the same millisecond as what
was left, with the same id. --limit counts lines, and those of one millisecond stay together. Needs the permission audit.`;

/** `everchart audit export`: the records since a time, for the system that keeps or judges them. docs/access-log.md#export */
export function auditExportCommand(): Command {
  const command = new Command('export')
    .description('Writes the records since a time, oldest first, one a line')
    .requiredOption('--since <time>', 'not before this ISO 8601 time, UTC unless it names a zone', timeOption)
    .option('--until <time>', 'before this time', timeOption)
    .addOption(
      new Option('--format <format>', 'records, or AuditEvents of FHIR R4')
        .choices(['json', 'fhir'])
        .default('json'),
    )
    .option('--limit <count>', 'at most so many lines', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option('--file <file>', 'write to a file instead of stdout')
    .addHelpText('after', HELP)
    .action((options: ExportOptions) => exportAudit(options));
  return withTargetOptions(command);
}

async function exportAudit({ since, until, limit = Infinity, ...options }: ExportOptions): Promise<void> {
  const output = openOutput(options.file);
  const settled = new Date(Date.now() - SETTLED_MS);
  const end = until !== undefined && until < settled ? until : settled;
  await withTarget(options, PATIENCE_MS, async ({ cdr }) => {
    let [lines, last, goOn] = [0, '', end > since ? end : since];
    for await (const { time, isPending, value } of linesOf(cdr.admin, options.format, { since, end })) {
      // Those of one moment go together, or the next export would begin in the middle of it.
      if (isPending || (lines >= limit && time !== last)) {
        goOn = new Date(time);
        break;
      }
      await output.write(`${JSON.stringify(value)}\n`);
      [lines, last] = [lines + 1, time];
    }
    await output.end();
    writeShown(
      process.stderr,
      `${lines} line${lines === 1 ? '' : 's'}; go on with --since ${goOn.toISOString()}\n`,
    );
  });
}

/** A record or an event, and what of it the export minds. */
interface Line {
  readonly time: string;
  /** Its answer is still being sent. */
  readonly isPending: boolean;
  readonly value: Readonly<Record<string, unknown>>;
}

async function* linesOf(
  admin: Admin,
  format: ExportOptions['format'],
  { since, end }: { readonly since: Date; readonly end: Date },
): AsyncGenerator<Line> {
  if (end <= since) return;
  // Both ends of a filter belong to it.
  const to = new Date(end.getTime() - 1);
  const filter: AuditFilter = { from: since, to, order: 'oldest', fetch: AT_ONCE };
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const page = await (format === 'fhir' ? eventPage : recordPage)(admin, { ...filter, after });
    yield* page.lines;
    after = page.next;
  }
}

interface Page {
  readonly lines: readonly Line[];
  readonly next: string | undefined;
}

async function recordPage(admin: Admin, filter: AuditFilter): Promise<Page> {
  const records = await admin.audit(filter);
  const lines = records.map((value) => ({ time: value.time, isPending: value['pending'] === true, value }));
  return { lines, next: records.length < AT_ONCE ? undefined : records.at(-1)?.id };
}

async function eventPage(admin: Admin, filter: AuditFilter): Promise<Page> {
  const { events, next } = await admin.auditEvents(filter);
  const lines = events.map((value) => ({
    time: String(value['recorded']),
    isPending: (value['meta'] as { readonly tag?: unknown }).tag !== undefined,
    value,
  }));
  return { lines, next };
}
