import { SingleBar } from 'cli-progress';
import { causesText } from '../transfer/import-causes.js';
import type { ImportState } from '../transfer/import-progress.js';
import { TooManyErrors } from '../transfer/import-run.js';
import type { ImportSource } from '../transfer/import-source.js';
import { writeShown } from '../shown.js';
import { CommandFailed } from './options.js';

/** What is said of an import beside its state. */
interface ReportedImport {
  /** When it began, by `performance.now()`. */
  readonly start: number;
  readonly errorFile: string;
  readonly isDryRun?: boolean;
}

/** Prints what an import came to. @throws CommandFailed when something was refused */
export function report(state: ImportState, { start, errorFile, isDryRun = false }: ReportedImport): void {
  writeShown(process.stdout, `${summary(state, isDryRun, (performance.now() - start) / 1000)}\n`);
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

/** Whether everything was carried out; else it was stopped for its errors. */
export async function carriedOut(state: ImportState, run: () => Promise<void>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error;
    writeShown(
      process.stderr,
      `stopped after record ${state.position} for its errors; the same command goes on\n`,
    );
    return false;
  }
}

/** How far it is, on a terminal; null: elsewhere, or nobody knows how much there is. */
export function barOf(source: ImportSource): SingleBar | null {
  if (!process.stderr.isTTY || source.size === 0) return null;
  const unit = source.isFolder ? 'files' : 'bytes';
  const bar = new SingleBar({ format: `[{bar}] {value}/{total} ${unit}, {eta_formatted} left` });
  bar.start(source.size, 0);
  return bar;
}

function summary(state: ImportState, isDryRun: boolean, seconds: number): string {
  const { imported, unchanged, failed } = state;
  const rate = Math.round((imported + unchanged + failed) / Math.max(seconds, 0.001));
  const good = isDryRun ? 'valid' : 'imported';
  return `${imported} ${good}, ${unchanged} there already, ${failed} failed, ${seconds.toFixed(1)} s, ${rate} records/s`;
}
