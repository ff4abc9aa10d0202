import { Command, Option } from 'commander';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import type { Settings } from '../../config/settings.js';
import { sendingTo } from '../transfer/import-online.js';
import type { InProcessServer } from '../transfer/import-commit.js';
import { ImportFiles, type ImportState } from '../transfer/import-progress.js';
import { runImport, type ImportPlan } from '../transfer/import-run.js';
import { extractForm, importExtract } from '../transfer/import-extract.js';
import { isInterchangeSource, openSource, type ImportSource } from '../transfer/import-source.js';
import { lenientClient } from '../transfer/lenient-client.js';
import { withTarget, withTargetOptions } from '../transfer/target.js';
import { barOf, carriedOut, report } from './import-report.js';
import { refuseForRestore, restoreAll, undoImport, type RestoreOptions } from './import-restore.js';
import { together, wholeNumber, YES_FLAG } from './options.js';
import { writeShown } from '../shown.js';

interface ImportOptions extends RestoreOptions {
  readonly undo?: readonly string[];
  readonly revision: 'kept' | 'newest';
  readonly batch: number;
  readonly progress?: string;
  readonly errors?: string;
}

/** How long a request is repeated while the server is away. */
const PATIENCE_MS = 60_000;

const HELP = `
A line of NDJSON is one of
  {"ehr_id": "…", "composition": {…}, "lifecycle_state": "532", "template_revision": "…", "commit_audit": {…}, "attestations": […]}
  {"ehr_id": "…", "flat": {…}, "template_id": "…"}
  {"ehr_id": "…", "contribution": {…}}
  {"ehr_id": "…", "ehr_status": {…}}
  {"ehr_id": "…", "directory": {…}}
The last four members of a composition are optional; only ATTESTATIONs need the last two. template_revision is the number or digest
of the revision of its template by which it is judged; without it the newest judges.
A file of a folder holds such an object, or a COMPOSITION, CONTRIBUTION, EHR_STATUS, FOLDER or FLAT by itself.

With --validation lenient the server, whose setting VALIDATION must be lenient and whose user must have the permission
admin, accepts some of what other servers accept against the rules; \`everchart verify\` shows what.

An export of all versions is known by its first line and restored as it was made, plain or compressed; the user needs the permission
restore then, and MAX_BODY_BYTES must be enough for its longest line. Everything of an EHR is refused from the first line on that
contradicts the database; what is there already is left as it is.

An EXTRACT of the reference model, in JSON or XML, makes its EHR with all versions as they were made: through a server within its
MAX_BODY_BYTES, with --local however large it is.

EHRs that do not exist are created with their id, when the first record comes whose template the server has. What failed is in
the error file, one line a record, and its causes are counted at the end. An import that was interrupted, also by
--max-errors, goes on where it stopped when it is started again; nothing is imported twice.`;

/** `everchart import`: NDJSON or a folder of JSON files into a server. */
export function importCommand(): Command {
  const command = withProgressOptions(new Command('import'))
    .argument('[source]', 'NDJSON file, folder of JSON files, or - for NDJSON from stdin')
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
    .option(...YES_FLAG)
    .addHelpText('after', HELP)
    .action((source: string | undefined, options: ImportOptions) => {
      if (options.undo !== undefined) return undoImport(command, options, options.undo);
      if (source === undefined) return command.error('error: name what is to be imported');
      return runCommand(command, source, options);
    });
  return withTargetOptions(withRestoreOptions(command));
}

/** What is chosen where something is already here, or was made by another revision. */
function withRestoreOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--on-conflict <choice>',
        'of an export of all versions: go on without an EHR that contradicts what is there, or stop (default: skip)',
      ).choices(['skip', 'fail']),
    )
    .addOption(
      new Option(
        '--subject <choice>',
        'of an export of all versions: refuse an EHR whose subject another one has, or make it without (default: keep)',
      ).choices(['keep', 'drop']),
    )
    .addOption(
      new Option(
        '--revision <choice>',
        'which revision of its template judges a COMPOSITION: that which its record names, or the newest',
      )
        .choices(['kept', 'newest'])
        .default('kept'),
    )
    .option(
      '--undo <batch>',
      'erase the EHRs that an import of all versions made (several times: that these made together); only with --local',
      together,
    );
}

function withProgressOptions(command: Command): Command {
  return command
    .option('--progress <file>', 'progress file (default: <source>.import-progress.json)')
    .option('--errors <file>', 'error file (default: <source>.import-errors.ndjson)');
}

async function runCommand(command: Command, path: string, options: ImportOptions): Promise<void> {
  requireSound(command, options);
  const source = openSource(path);
  const place = path === '-' ? 'stdin' : path.replace(/(?<!\/)\/+$/, '');
  const errorFile = options.errors ?? `${place}.import-errors.ndjson`;
  const progressFile = options.progress ?? `${place}.import-progress.json`;
  const start = performance.now();
  if (await isInterchangeSource(source)) {
    refuseForRestore(command, options);
    await restoreAll(source, options, { files: new ImportFiles(progressFile, errorFile), errorFile });
    return;
  }
  if (source.isFile && (await isExtractImported(command, path, options))) return;
  if (options.onConflict !== undefined || options.subject !== undefined)
    command.error('error: --on-conflict and --subject go with an export of all versions');
  const state =
    options.dryRun === true
      ? await dryRun(source, options, new ImportFiles(`${progressFile}.dry-run`, errorFile))
      : await importAll(source, options, new ImportFiles(progressFile, errorFile));
  report(state, { start, errorFile, isDryRun: options.dryRun === true });
}

function requireSound(command: Command, options: ImportOptions): void {
  if (options.dryRun === true && options.local !== true)
    command.error('error: --dry-run needs --local: only the database itself can validate without writing');
  if (options.ehr !== undefined && parseEhrId(options.ehr) === null)
    command.error(`error: --ehr ${options.ehr} is not an ehr_id`);
}

/** Whether the file was an EXTRACT, of which the EHR is made then. */
async function isExtractImported(command: Command, path: string, options: ImportOptions): Promise<boolean> {
  const form = extractForm(path);
  if (form === null) return false;
  refuseForRestore(command, options);
  const made = await withTarget(options, PATIENCE_MS, (target) => importExtract(target, path, form));
  writeShown(process.stdout, `EHR ${made.ehrId}: ${made.versions} versions\nimport ${made.importId}\n`);
  return true;
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
    if (isResumed && state.position > 0)
      writeShown(process.stderr, `going on after record ${state.position}\n`);
    const { newIds, batch, parallel } = options;
    const carryOut = sendingTo({
      client,
      ...(settings !== null && { here: await serverOf(settings, isLenient) }),
      state,
      keepsIds: newIds !== true,
      batchSize: batch,
      parallel,
    });
    const plan = planOf(source, options, { state, carryOut, files });
    if (await carriedOut(state, () => runImport(plan))) files.finish();
    return state;
  });
}

/** Only for a server in this process. */
async function serverOf(settings: Settings, isLenient: boolean): Promise<InProcessServer> {
  return (await import('../transfer/import-commit.js')).serverHere(settings, isLenient);
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
    const plan = planOf(source, options, { state, carryOut: validating(settings, isLenient), files });
    await carriedOut(state, () => runImport(plan));
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
  const bar = barOf(source);
  return {
    source,
    defaults: {
      ehrId: options.ehr ?? null,
      templateId: options.templateId ?? null,
      isNewest: options.revision === 'newest',
    },
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
