import { Command, Option } from 'commander';
import { AnswerCutShort, type ApiClient } from '../transfer/api-client.js';
import { COMPRESSIONS, compressor, type Compression } from '../transfer/compression.js';
import { writeExtract } from '../transfer/export-extract.js';
import { exportedLines, ExportRun, isErased, movedLine } from '../transfer/export-run.js';
import { withCount } from '../count-shown.js';
import { openOutput, type Output } from '../output.js';
import { writeShown } from '../shown.js';
import { copyRows, rowsOf } from '../transfer/query-rows.js';
import { CommandFailed } from './options.js';
import { timeOption } from './time-option.js';
import { beginReadRecord } from '../transfer/read-record.js';
import type { ReadRecord } from '../../maintenance/read-record.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';

interface ExportOptions extends TargetOptions {
  readonly ehr?: readonly string[];
  readonly allVersions?: true;
  readonly extract?: true;
  readonly since?: Date;
  readonly audit?: true;
  readonly compress?: Compression;
  readonly query?: string;
  readonly output?: string;
}

const EHR_IDS_AT_ONCE = 1_000;
const PATIENCE_MS = 60_000;

const HELP = `
Without --ehr and --query every EHR is exported: its EHR_STATUS, directory and COMPOSITIONs, in their latest versions,
as lines that \`everchart import\` reads. What others erase, or move out of an EHR that is named, while it is exported
is named on stderr; the rest is exported, and the exit code is 1. Over HTTP the EHRs are found by AQL, which leaves out those whose is_queryable
is false: use --local, or name them with --ehr.

With --all-versions everything is exported as it was made, with all versions, CONTRIBUTIONs, item tags, merges, templates and stored
queries (docs/spec/interchange.md#lines), and \`everchart import --local\` restores it. --ehr may be repeated then; --query
names EHRs by its first column. That reads the database itself: it needs --local.`;

/** `everchart export`: NDJSON of one EHR, of all, or the rows of a query. */
export function exportCommand(): Command {
  const command = new Command('export')
    .option('--ehr <ehr_id>', 'only this EHR', (ehrId: string, others: string[] | undefined) => [
      ...(others ?? []),
      ehrId,
    ])
    .option('--query <aql>', 'the rows of an AQL query, one JSON object a row, instead of EHRs')
    .option('--all-versions', 'everything as it was made, to be restored; only with --local')
    .option('--extract', 'the EHR of --ehr as an EXTRACT of the reference model, with all versions')
    .option(
      '--since <time>',
      'only EHRs to which something was committed since; with --all-versions',
      timeOption,
    )
    .option('--audit', 'also the records of who did what; with --all-versions')
    .addOption(new Option('--compress <method>', 'compress what is written').choices(COMPRESSIONS))
    .option('--output <file>', 'write to a file instead of stdout')
    .addHelpText('after', HELP)
    .action((options: ExportOptions) => runExport(command, options));
  return withTargetOptions(command);
}

async function runExport(command: Command, options: ExportOptions): Promise<void> {
  const { ehr = [], query, compress } = options;
  if (ehr.length > 0 && query !== undefined) command.error('error: --ehr and --query do not go together');
  const through = compress === undefined ? [] : [compressor(compress, warn)];
  const open = (): Output => openOutput(options.output, ...through);
  if (options.extract === true) {
    await exportExtract(command, options, open);
    return;
  }
  const output = open();
  if (options.allVersions === true) {
    if (options.local !== true)
      command.error('error: --all-versions needs --local: it reads the database itself');
    await exportAllVersions(options, output);
    return;
  }
  for (const name of ['since', 'audit'] as const)
    if (options[name] !== undefined) command.error(`error: --${name} goes with --all-versions`);
  if (ehr.length > 1) command.error('error: several --ehr go with --all-versions');
  await withTarget(options, PATIENCE_MS, async ({ client, settings }) => {
    if (query !== undefined) {
      if (settings !== null) await recordQuery(query);
      const rows = await copyRows(client, JSON.stringify({ q: query }), output);
      await output.end();
      writeShown(process.stderr, `${counted(rows, 'row')}\n`);
      return;
    }
    const listed = settings === null ? () => queriedEhrIds(client) : storedEhrIds;
    const record = settings === null ? null : await beginReadRecord('export');
    await new Export(client, output, { only: ehr[0] ?? null, record })
      .run(listed)
      .finally(() => record?.end());
  });
}

function warn(words: string): void {
  writeShown(process.stderr, `${words}\n`);
}

/** Whatever rows it answers, the query says of whom they are. */
async function recordQuery(query: string): Promise<void> {
  const { maskedAql } = await import('../../aql/syntax/masked.js');
  const aql = maskedAql(query);
  const record = await beginReadRecord('export', { query: aql ?? 'that cannot be read' });
  await record.end();
}

/** docs/spec/rest.md#extract */
async function exportExtract(command: Command, options: ExportOptions, open: () => Output): Promise<void> {
  const [ehrId, ...others] = options.ehr ?? [];
  if (ehrId === undefined || others.length > 0 || options.allVersions === true)
    command.error('error: --extract needs one --ehr, and does not go with --all-versions');
  await withTarget(options, PATIENCE_MS, async ({ client, settings }) => {
    const record = settings === null ? null : await beginReadRecord('export', chosenOf(options));
    await record?.name(ehrId);
    await record?.end();
    await writeExtract(client, ehrId, { file: options.output, open });
  });
}

/** An interchange file, from the database of a server inside this process. */
async function exportAllVersions(options: ExportOptions, output: Output): Promise<void> {
  const { ehr = null, query, since = null } = options;
  const { exportInterchange } = await import('../../maintenance/interchange/export.js');
  await withTarget(options, PATIENCE_MS, async ({ client }) => {
    const ehrIds = query === undefined ? ehr : await idsOf(client, query);
    const scope = { ehrIds, since, audit: options.audit === true };
    const record = await beginReadRecord('export', chosenOf(options));
    const { ehrs, lines, missing } = await withCount(EXPORTED, (onEhr) =>
      exportInterchange(scope, {
        write: (text) => output.write(text),
        onEhr,
        record: (ehrId) => record.name(ehrId),
      }),
    ).finally(() => record.end());
    await output.end();
    writeShown(process.stderr, `${counted(ehrs, 'EHR')}, ${counted(lines, 'line')}\n`);
    for (const line of missing) writeShown(process.stderr, `${line}\n`);
    if (missing.length > 0) throw new CommandFailed();
  });
}

/** What the record of an export says of it. */
function chosenOf({ allVersions, extract, since, audit }: ExportOptions): object {
  return {
    ...(allVersions === true && { all_versions: true }),
    ...(extract === true && { extract: true }),
    ...(since !== undefined && { since: since.toISOString() }),
    ...(audit === true && { audit: true }),
  };
}

/** How often a list is read that breaks off, as it may where EHRs are merged meanwhile. */
const MAX_READS = 10;

/**
 * EHR ids in the first column of the rows of a query. All are read before the first of them is exported: an answer that is taken as slowly as EHRs are
 * written would be cut off by the server (`AQL_STREAM_IDLE_MS`, `AQL_STREAM_TIMEOUT_MS`).
 */
async function idsOf(client: ApiClient, query: string): Promise<string[]> {
  for (let reads = 1; ; reads += 1) {
    try {
      return await idsRead(client, query);
    } catch (error) {
      if (!(error instanceof AnswerCutShort) || reads === MAX_READS) throw error;
    }
  }
}

async function idsRead(client: ApiClient, query: string): Promise<string[]> {
  const ehrIds = new Set<string>();
  for await (const row of rowsOf(client, JSON.stringify({ q: query }))) {
    const [ehrId] = Object.values(row);
    if (typeof ehrId !== 'string') throw new Error('the first column of --query must be e/ehr_id/value');
    ehrIds.add(ehrId);
  }
  return [...ehrIds];
}

/** How often EHRs are listed again: those that merges hid at first may have been taken out since. */
const MAX_LISTS = 10;

const ERASED = 'it was erased, or moved to an EHR that queries leave out';

/** What is counted while it goes on. */
const EXPORTED = 'EHRs exported';

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

class Export {
  readonly #run = new ExportRun();
  #ehrs = 0;
  #records = 0;

  readonly #recorded = new Set<string>();
  readonly #only: string | null;
  readonly #record: ReadRecord | null;

  /** `only`: the one EHR that is wanted, null for all. `record`: of what is read of the database itself. */
  constructor(
    private readonly client: ApiClient,
    private readonly output: Output,
    { only, record }: { readonly only: string | null; readonly record: ReadRecord | null },
  ) {
    this.#only = only;
    this.#record = record;
  }

  /** @throws CommandFailed when what should be there is not, once all else is written */
  async run(listed: () => AsyncIterable<string>): Promise<void> {
    const missing = await withCount(EXPORTED, (onEhr) => this.#exported(listed, onEhr));
    await this.output.end();
    writeShown(process.stderr, `${counted(this.#ehrs, 'EHR')}, ${counted(this.#records, 'record')}\n`);
    for (const line of missing) writeShown(process.stderr, `${line}\n`);
    if (missing.length > 0) throw new CommandFailed();
  }

  /** What should be there and is not. */
  async #exported(listed: () => AsyncIterable<string>, onEhr: () => void): Promise<readonly string[]> {
    const only = this.#only;
    if (only === null)
      for (let lists = 0; lists < MAX_LISTS && (await this.#all(listed(), onEhr)); lists += 1);
    else await this.#named(only, onEhr);
    return this.#missing();
  }

  /** One that was merged at first may have been taken out since. @throws Error when it does not exist */
  async #named(ehrId: string, onEhr: () => void): Promise<void> {
    const { ehrs, erasedEhrs, compositions } = this.#run;
    for (let turns = 0; turns < 2 && !ehrs.has(ehrId); turns += 1) await this.#one(ehrId, onEhr);
    if (erasedEhrs.has(ehrId) && !ehrs.has(ehrId) && compositions.size === 0)
      throw new Error(`EHR with id ${ehrId} does not exist`);
  }

  /** Whether any of them was not written before. */
  async #all(ehrIds: AsyncIterable<string>, onEhr: () => void): Promise<boolean> {
    let isAny = false;
    for await (const ehrId of ehrIds) {
      if (this.#run.ehrs.has(ehrId)) continue;
      await this.#one(ehrId, onEhr);
      isAny ||= this.#run.ehrs.has(ehrId);
    }
    return isAny;
  }

  async #one(ehrId: string, onEhr: () => void): Promise<void> {
    const isKnown = this.#run.ehrs.has(ehrId);
    if (!this.#recorded.has(ehrId)) await this.#record?.name(ehrId);
    this.#recorded.add(ehrId);
    for await (const line of exportedLines(this.client, ehrId, this.#run)) await this.#write(line);
    if (!isKnown && this.#run.ehrs.has(ehrId)) this.#ehrs += 1;
    onEhr();
  }

  async #write(line: string): Promise<void> {
    await this.output.write(line);
    this.#records += 1;
  }

  /** What was listed and could not be written, each with its reason. */
  async #missing(): Promise<string[]> {
    const { erasedEhrs, ehrs, lost } = this.#run;
    const missing: string[] = [];
    for (const [id, ehrId] of lost) {
      const owner = erasedEhrs.has(ehrId) ? null : await this.#ownerOf(id);
      if (owner === null && !erasedEhrs.has(ehrId) && (await isErased(this.client, ehrId)))
        erasedEhrs.add(ehrId);
      if (erasedEhrs.has(ehrId)) continue;
      const line = owner === null || this.#only !== null ? null : await this.#moved(owner, id);
      if (line !== null) await this.#write(line);
      else {
        const reason = owner === null ? ERASED : `it was moved to EHR ${owner}`;
        missing.push(`COMPOSITION ${id} of EHR ${ehrId} is not exported: meanwhile ${reason}`);
      }
    }
    const parts = (ehrId: string): string => (ehrs.has(ehrId) ? 'not exported whole' : 'not exported');
    return [
      ...[...erasedEhrs].map((ehrId) => `EHR ${ehrId} is ${parts(ehrId)}: meanwhile it was erased`),
      ...missing,
    ];
  }

  #moved(ehrId: string, versionedObjectUid: string): Promise<string | null> {
    return movedLine(this.client, ehrId, { versionedObjectUid, run: this.#run });
  }

  /** The EHR that a COMPOSITION is in now, null when queries find none. */
  async #ownerOf(versionedObjectUid: string): Promise<string | null> {
    const q = `SELECT e/ehr_id/value AS ehr_id FROM EHR e CONTAINS COMPOSITION c WHERE c/uid/value LIKE '${versionedObjectUid}::*'`;
    for await (const { ehr_id: ehrId } of rowsOf(this.client, JSON.stringify({ q })))
      if (typeof ehrId === 'string') return ehrId;
    return null;
  }
}

/** Every active EHR of the connected database. */
async function* storedEhrIds(): AsyncGenerator<string> {
  const { ehrIdsAfter } = await import('../../models/ehr.js');
  let last: string | undefined = '';
  while (last !== undefined) {
    const ehrIds: string[] = await ehrIdsAfter(last, EHR_IDS_AT_ONCE);
    yield* ehrIds;
    last = ehrIds.at(-1);
  }
}

async function* queriedEhrIds(client: ApiClient): AsyncGenerator<string> {
  yield* await idsOf(client, 'SELECT e/ehr_id/value AS ehr_id FROM EHR e');
}
