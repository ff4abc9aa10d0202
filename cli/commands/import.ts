import { SingleBar } from 'cli-progress';
import { Command, Option } from 'commander';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import type { Settings } from '../../config/settings.js';
import { causesText } from '../transfer/import-causes.js';
import { sendingTo } from '../transfer/import-online.js';
import type { InProcessServer } from '../transfer/import-commit.js';
import { ImportFiles, type ImportState } from '../transfer/import-progress.js';
import { runImport, TooManyErrors, type ImportPlan } from '../transfer/import-run.js';
import { openSource, type ImportSource } from '../transfer/import-source.js';
import { lenientClient } from '../transfer/lenient-client.js';
import { writeShown } from '../shown.js';
import { withTarget, withTargetOptions, type TargetOptions } from '../transfer/target.js';
import { CommandFailed, wholeNumber } from './options.js';

interface ImportOptions extends TargetOptions {
  readonly ehr?: string;
  readonly templateId?: string;
  readonly newIds?: true;
  readonly dryRun?: true;
  readonly parallel: number;
  readonly batch: number;
  readonly progress?: string;
  readonly errors?: string;
  readonly validation: 'strict' | 'lenient';
  readonly maxErrors?: number;
}

/** How long a request is repeated while the server is away. */
const PATIENCE_MS = 60_000;

const HELP = `
A line of NDJSON is one of
  {"ehr_id": "…", "composition": {…}, "lifecycle_state": "532", "commit_audit": {…}, "attestations": […]}
  {"ehr_id": "…", "flat": {…}, "template_id": "…"}
  {"ehr_id": "…", "contribution": {…}}
  {"ehr_id": "…", "ehr_status": {…}}
  {"ehr_id": "…", "directory": {…}}
The last three members of a composition are optional; only ATTESTATIONs need the last two.
A file of a folder holds such an object, or a COMPOSITION, CONTRIBUTION, EHR_STATUS, FOLDER or FLAT by itself.

With --validation lenient the server, whose setting VALIDATION must be lenient and whose user must have the permission
admin, accepts some of what other servers accept against the rules; \`everchart verify\` shows what.

EHRs that do not exist are created with their id, when the first record comes whose template the server has. What failed is in
the error file, one line a record, and its causes are counted at the end. An import that was interrupted, also by
--max-errors, goes on where it stopped when it is started again; nothing is imported twice.`;

/** `everchart import`: NDJSON or a folder of JSON files into a server. */
export function importCommand(): Command {
  const command = new Command('import')
    .argument('<source>', 'NDJSON file, folder of JSON files, or - for NDJSON from stdin')
    .option('--ehr <ehr_id>', 'EHR of records that name none')
    .option('--template-id <template_id>', 'template of FLAT records that name none')
    .option('--new-ids', 'give COMPOSITIONs and directories new object ids instead of keeping theirs')
    .addOption(
      new Option('--validation <mode>', 'whether what breaks some rules is accepted')
        .choices(['strict', 'lenient'])
        .default('strict'),
    )
    .option('--dry-run', 'validate without writing; only with --local')
    .option('--parallel <count>', 'EHRs written at once', wholeNumber(1, 256), 8)
    .option('--batch <count>', 'COMPOSITIONs of one CONTRIBUTION', wholeNumber(1, 1000), 20)
    .option(
      '--max-errors <count>',
      'stop when so many records have failed; looked at after every 2,000 records',
      wholeNumber(1, Number.MAX_SAFE_INTEGER),
    )
    .option('--progress <file>', 'progress file (default: <source>.import-progress.json)')
    .option('--errors <file>', 'error file (default: <source>.import-errors.ndjson)')
    .addHelpText('after', HELP)
    .action((source: string, options: ImportOptions) => runCommand(command, source, options));
  return withTargetOptions(command);
}

async function runCommand(command: Command, path: string, options: ImportOptions): Promise<void> {
  if (options.dryRun === true && options.local !== true)
    command.error('error: --dry-run needs --local: only the database itself can validate without writing');
  if (options.ehr !== undefined && parseEhrId(options.ehr) === null)
    command.error(`error: --ehr ${options.ehr} is not an ehr_id`);
  const source = openSource(path);
  const place = path === '-' ? 'stdin' : path.replace(/(?<!\/)\/+$/, '');
  const errorFile = options.errors ?? `${place}.import-errors.ndjson`;
  const progressFile = options.progress ?? `${place}.import-progress.json`;
  const start = performance.now();
  const state =
    options.dryRun === true
      ? await dryRun(source, options, new ImportFiles(`${progressFile}.dry-run`, errorFile))
      : await importAll(source, options, new ImportFiles(progressFile, errorFile));
  process.stdout.write(`${summary(state, options, (performance.now() - start) / 1000)}\n`);
  if (state.failed === 0) return;
  const causes = `${causesText(state.causes)}${emptyText(state)}see ${errorFile}\n`;
  writeShown(process.stderr, causes);
  throw new CommandFailed();
}

function emptyText({ emptyEhrs }: ImportState): string {
  const [first = ''] = emptyEhrs;
  const many =
    emptyEhrs.length === 1 ? `EHR ${first} was` : `${emptyEhrs.length} EHRs, such as ${first}, were`;
  return first === '' ? '' : `${many} created, and all records refused\n`;
}

async function importAll(
  source: ImportSource,
  options: ImportOptions,
  files: ImportFiles,
): Promise<ImportState> {
  const isLenient = options.validation === 'lenient';
  return withTarget(options, PATIENCE_MS, async (target) => {
    const { settings } = target;
    if (isLenient && settings !== null) requireLenient(settings);
    const client = isLenient ? lenientClient(target.client) : target.client;
    await client.stream('OPTIONS', '/');
    const { state, isResumed } = files.open();
    if (isResumed && state.position > 0) process.stderr.write(`going on after record ${state.position}\n`);
    const { newIds, batch, parallel } = options;
    const carryOut = sendingTo({
      client,
      ...(settings !== null && { here: await serverOf(settings, isLenient) }),
      state,
      keepsIds: newIds !== true,
      batchSize: batch,
      parallel,
    });
    if (await carriedOut(planOf(source, options, { state, carryOut, files }))) files.finish();
    return state;
  });
}

/** Only for a server in this process. */
async function serverOf(settings: Settings, isLenient: boolean): Promise<InProcessServer> {
  return (await import('../transfer/import-commit.js')).serverHere(settings, isLenient);
}

/** Whether everything was carried out; else it was stopped for its errors. */
async function carriedOut(plan: ImportPlan): Promise<boolean> {
  try {
    await runImport(plan);
    return true;
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error;
    process.stderr.write(
      `stopped after record ${plan.state.position} for its errors; the same command goes on\n`,
    );
    return false;
  }
}

async function dryRun(
  source: ImportSource,
  options: ImportOptions,
  files: ImportFiles,
): Promise<ImportState> {
  const isLenient = options.validation === 'lenient';
  const { withStorage } = await import('../../src/process/storage.js');
  const { validating } = await import('../transfer/import-validate.js');
  return withStorage(async (settings) => {
    if (isLenient) requireLenient(settings);
    files.finish();
    const { state } = files.open();
    await carriedOut(planOf(source, options, { state, carryOut: validating(settings, isLenient), files }));
    files.finish();
    return state;
  });
}

function requireLenient({ validation }: Settings): void {
  if (validation === 'strict') throw new Error('--validation lenient needs the setting VALIDATION=lenient');
}

function planOf(
  source: ImportSource,
  options: ImportOptions,
  parts: Pick<ImportPlan, 'state' | 'carryOut'> & { readonly files: ImportFiles },
): ImportPlan {
  const isShown = process.stderr.isTTY && source.size > 0;
  const unit = source.isFolder ? 'files' : 'bytes';
  const bar = isShown
    ? new SingleBar({ format: `[{bar}] {value}/{total} ${unit}, {eta_formatted} left` })
    : null;
  bar?.start(source.size, 0);
  return {
    source,
    defaults: { ehrId: options.ehr ?? null, templateId: options.templateId ?? null },
    state: parts.state,
    carryOut: parts.carryOut,
    maxErrors: options.maxErrors ?? Infinity,
    save: (state, failed, done) => {
      parts.files.save(state, failed);
      bar?.update(done);
      if (done >= source.size) bar?.stop();
    },
  };
}

function summary(state: ImportState, options: ImportOptions, seconds: number): string {
  const { imported, unchanged, failed } = state;
  const rate = Math.round((imported + unchanged + failed) / Math.max(seconds, 0.001));
  const good = options.dryRun === true ? 'valid' : 'imported';
  return `${imported} ${good}, ${unchanged} there already, ${failed} failed, ${seconds.toFixed(1)} s, ${rate} records/s`;
}
