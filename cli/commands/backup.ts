import { Command } from 'commander';
import { checkBackup, restoreBackup, writeBackup } from '../../maintenance/backup.js';
import { verifyStorage } from '../../maintenance/verify.js';
import { withDatabase } from '../../src/process/storage.js';
import { gzipped } from '../transfer/compression.js';
import { openSource } from '../transfer/import-source.js';
import { withCount } from '../count-shown.js';
import { openOutput } from '../output.js';
import { CommandFailed } from './options.js';
import { reportText } from './verify.js';

const BACKUP_HELP = `
Every document of the configured database, with checksums, packed with gzip, in a file of this user alone. On a replica set it is of one
moment while servers go on; the database keeps the past for minSnapshotHistoryWindowInSeconds. On the embedded engine it fails when
something was written meanwhile.`;

const RESTORE_HELP = `
Fills the configured database, which must be empty, once the whole file has been compared with its checksum; no server may run on it
meanwhile. With --check nothing of it is touched: the backup goes into a temporary embedded database, which is verified.`;

/** `everchart backup`: the whole database into a file. */
export function backupCommand(): Command {
  return new Command('backup')
    .requiredOption('--output <file>', 'the file to be written')
    .addHelpText('after', BACKUP_HELP)
    .action(({ output }: { output: string }) => backUp(output));
}

/** `everchart restore`: such a file into an empty database. */
export function restoreCommand(): Command {
  return new Command('restore')
    .argument('<file>', 'a backup')
    .option('--check', 'restore it to a temporary database, verify that, and leave the configured one alone')
    .addHelpText('after', RESTORE_HELP)
    .action((file: string, { check }: { check?: true }) => (check === true ? tryOut(file) : restore(file)));
}

async function backUp(file: string): Promise<void> {
  const output = openOutput(file, gzipped);
  const documents = await withDatabase(() =>
    withCount('documents', (onDocument) => writeBackup({ write: (text) => output.write(text), onDocument })),
  );
  await output.end();
  process.stdout.write(`${documents} documents backed up\n`);
}

async function restore(file: string): Promise<void> {
  await checkBackup(linesIn(file));
  const documents = await withDatabase(() => restoreBackup(linesIn(file)));
  process.stdout.write(`${documents} documents restored; everchart verify compares them with their seals\n`);
}

/** Nothing is left of it. @throws CommandFailed when verify finds something */
async function tryOut(file: string): Promise<void> {
  await checkBackup(linesIn(file));
  const settings = { MONGODB_URI: '', LOCAL_DATABASE: 'embedded', EMBEDDED_DATA_DIR: 'temporary' };
  const report = await withDatabase(async () => {
    await restoreBackup(linesIn(file));
    return verifyStorage();
  }, settings);
  process.stdout.write(reportText(report));
  if (report.violations.length > 0) throw new CommandFailed();
}

async function* linesIn(file: string): AsyncGenerator<string> {
  for await (const { text } of openSource(file).records()) yield text ?? '';
}
