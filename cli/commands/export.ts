import { SingleBar } from 'cli-progress';
import { Command } from 'commander';
import { ehrIdsAfter } from '../../models/ehr.js';
import type { ApiClient } from '../transfer/api-client.js';
import { exportedLines } from '../transfer/export-run.js';
import { openOutput, type Output } from '../output.js';
import { copyRows, rowsOf } from '../transfer/query-rows.js';
import { UuidSet } from '../transfer/uuid-set.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';

interface ExportOptions extends TargetOptions {
  readonly ehr?: string;
  readonly query?: string;
  readonly output?: string;
}

const EHR_IDS_AT_ONCE = 1_000;
const PATIENCE_MS = 60_000;

const HELP = `
Without --ehr and --query every EHR is exported: its EHR_STATUS, directory and COMPOSITIONs, in their latest versions,
as lines that \`everchart import\` reads. Over HTTP the EHRs are found by AQL, which leaves out those whose is_queryable
is false: use --local, or name them with --ehr.`;

/** `everchart export`: NDJSON of one EHR, of all, or the rows of a query. */
export function exportCommand(): Command {
  const command = new Command('export')
    .description('Exports EHRs, or the rows of a query, as NDJSON')
    .option('--ehr <ehr_id>', 'only this EHR')
    .option('--query <aql>', 'the rows of an AQL query, one JSON object a row, instead of EHRs')
    .option('--output <file>', 'write to a file instead of stdout')
    .addHelpText('after', HELP)
    .action((options: ExportOptions) => runExport(command, options));
  return withTargetOptions(command);
}

async function runExport(command: Command, options: ExportOptions): Promise<void> {
  const { ehr, query } = options;
  if (ehr !== undefined && query !== undefined) command.error('error: --ehr and --query do not go together');
  const output = openOutput(options.output);
  await withTarget(options, PATIENCE_MS, async ({ client, settings }) => {
    if (query !== undefined) {
      await copyRows(client, JSON.stringify({ q: query }), output);
      return;
    }
    const found = settings === null ? queriedEhrIds(client) : storedEhrIds();
    await exportEhrs(client, ehr === undefined ? found : [ehr], output);
  });
  await output.end();
}

async function exportEhrs(
  client: ApiClient,
  ehrIds: AsyncIterable<string> | readonly string[],
  output: Output,
): Promise<void> {
  const bar = process.stderr.isTTY ? new SingleBar({ format: '{value} EHRs exported' }) : null;
  bar?.start(0, 0);
  const exported = new UuidSet();
  for await (const ehrId of ehrIds) {
    for await (const line of exportedLines(client, ehrId, exported)) await output.write(line);
    bar?.increment();
  }
  bar?.stop();
}

/** Every active EHR of the connected database. */
async function* storedEhrIds(): AsyncGenerator<string> {
  let last: string | undefined = '';
  while (last !== undefined) {
    const ehrIds: string[] = await ehrIdsAfter(last, EHR_IDS_AT_ONCE);
    yield* ehrIds;
    last = ehrIds.at(-1);
  }
}

async function* queriedEhrIds(client: ApiClient): AsyncGenerator<string> {
  const body = JSON.stringify({ q: 'SELECT e/ehr_id/value AS ehr_id FROM EHR e' });
  for await (const { ehr_id: ehrId } of rowsOf(client, body)) if (typeof ehrId === 'string') yield ehrId;
}
