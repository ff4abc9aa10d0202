import type { Command } from 'commander';
import type { RestoreTarget } from '../../maintenance/interchange/import.js';
import type { ImportFiles } from '../transfer/import-progress.js';
import type { ImportSource } from '../transfer/import-source.js';
import type { TextLine } from '../transfer/restore-remote.js';
import { writeShown } from '../shown.js';
import { withTarget, type Target, type TargetOptions } from '../transfer/target.js';
import { barOf, carriedOut, report } from './import-report.js';
import { CommandFailed, requireYes, type YesOption } from './options.js';

/** What the command line says of an import that matters to one of all versions. */
export interface RestoreOptions extends TargetOptions, YesOption {
  readonly ehr?: string;
  readonly templateId?: string;
  readonly newIds?: true;
  readonly dryRun?: true;
  readonly validation: 'strict' | 'lenient';
  readonly parallel: number;
  readonly maxErrors?: number;
  /** Absent: skip. */
  readonly onConflict?: 'skip' | 'fail';
  /** Absent: keep. */
  readonly subject?: 'keep' | 'drop';
}

/** How long a request is repeated while the server is away. */
const PATIENCE_MS = 60_000;

/** What says how something is committed says nothing of what is restored. */
export function refuseForRestore(command: Command, options: RestoreOptions): void {
  const { ehr, templateId, newIds, dryRun, validation } = options;
  const isGiven = [ehr, templateId, newIds, dryRun].some((option) => option !== undefined);
  if (isGiven || validation !== 'strict')
    command.error(
      'error: --ehr, --template-id, --new-ids, --dry-run and --validation do not go with an export of all versions',
    );
}

/** Restores an interchange file, through a server or, inside this process, to the database. @throws CommandFailed when a line was refused */
export async function restoreAll(
  source: ImportSource,
  options: RestoreOptions,
  { files, errorFile }: { readonly files: ImportFiles; readonly errorFile: string },
): Promise<void> {
  const start = performance.now();
  const { checkWhole, runRestore } = await import('../transfer/restore-run.js');
  await checkWhole(source);
  const state = await withTarget(options, PATIENCE_MS, async ({ client, settings }) => {
    const { state: begun, isResumed } = files.open();
    writeShown(process.stdout, `batch ${begun.importId}\n`);
    if (isResumed && begun.position > 0)
      writeShown(process.stderr, `going on after line ${begun.position}\n`);
    const how = { batch: begun.importId, dropsSubjects: options.subject === 'drop' };
    const target = await restoreTarget({ client, settings }, how);
    const bar = barOf(source);
    const isDone = await carriedOut(begun, () =>
      runRestore({
        source,
        state: begun,
        target,
        parallel: options.parallel,
        maxErrors: options.maxErrors ?? Infinity,
        stopsAtConflict: options.onConflict === 'fail',
        save: (saved, failed, done) => {
          files.save(saved, failed);
          bar?.update(done);
        },
      }),
    );
    bar?.stop();
    if (isDone) files.finish();
    return begun;
  });
  report(state, { start, errorFile });
}

/** Which import it is, and what becomes of an EHR whose subject another one has. */
interface Restoring {
  readonly batch: string;
  readonly dropsSubjects: boolean;
}

/** What writes lines: the database of this process, or a server. */
export async function restoreTarget(
  { client, settings }: Pick<Target, 'client' | 'settings'>,
  how: Restoring,
): Promise<RestoreTarget<TextLine>> {
  if (settings === null) {
    const { restoringThere } = await import('../transfer/restore-remote.js');
    return restoringThere(client, how);
  }
  const { beginRestore, restoringHere } = await import('../../maintenance/interchange/restore-here.js');
  const names = await beginRestore(how.batch);
  const local = { ...how, leafIndex: settings.aql.leafIndex, accessMode: settings.accessMode };
  return restoringHere(local, names);
}

/** Takes imports of all versions back. @throws CommandFailed when an EHR stays */
export async function undoImport(
  command: Command,
  options: RestoreOptions,
  batches: readonly string[],
): Promise<void> {
  if (options.local !== true) command.error('error: --undo needs --local: it works on the database itself');
  requireYes(options, `the EHRs that batch ${batches.join(', ')} made would be erased`);
  const { undoRestore } = await import('../../maintenance/interchange/undo.js');
  const { ehrs, kept } = await withTarget(options, PATIENCE_MS, ({ settings }) =>
    undoRestore(batches, { accessMode: settings?.accessMode }),
  );
  writeShown(process.stdout, `${ehrs} EHRs erased, ${kept.length} kept\n`);
  for (const { ehrId, reason } of kept) writeShown(process.stderr, `EHR ${ehrId} is kept: ${reason}\n`);
  if (kept.length > 0) throw new CommandFailed();
}
