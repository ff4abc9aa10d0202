import { Command } from 'commander';
import { checkBackup, restoreBackup, writeBackup } from '../../maintenance/backup.js';
import { verifyStorage } from '../../maintenance/verify.js';
import { withDatabase } from '../../src/process/storage.js';
import { decompression, gunzipped, gzipped } from '../transfer/compression.js';
import { decrypting, encrypting } from '../transfer/encryption.js';
import { linesThrough } from '../transfer/import-source.js';
import { beginReadRecord } from '../transfer/read-record.js';
import { withCount } from '../count-shown.js';
import { openOutput } from '../output.js';
import { CommandFailed, together } from './options.js';
import { reportText } from './verify.js';
import { writeShown } from '../shown.js';

const BACKUP_HELP = `
Every document of the configured database, with checksums, packed with gzip, in a file of this user alone. On a replica set it is of one
moment while servers go on; the database keeps the past for minSnapshotHistoryWindowInSeconds. On the embedded engine it fails when
something was written meanwhile.

With --encrypt-to the file is in the format of age (age-encryption.org/v1). A key is what age-keygen prints as public key (age1…); several may be
given, each of which opens the file alone. The word passphrase stands for one in EVERCHART_BACKUP_PASSPHRASE, or asked for.`;

const RESTORE_HELP = `
Fills the configured database, which must be empty, once the whole file has been compared with its checksum; no server may run on it
meanwhile. With --check nothing of it is touched: the backup goes into a temporary embedded database, which is verified.

An encrypted one needs the file with the identity (AGE-SECRET-KEY-1…) of a key it was encrypted to, or its passphrase, in
EVERCHART_BACKUP_PASSPHRASE or asked for.`;

/** `everchart backup`: the whole database into a file. */
export function backupCommand(): Command {
  return new Command('backup')
    .requiredOption('--output <file>', 'the file to be written')
    .option(
      '--encrypt-to <key>',
      'encrypt it: a key (age1…, several times), or the word passphrase',
      together,
    )
    .addHelpText('after', BACKUP_HELP)
    .action(({ output, encryptTo }: BackupOptions) => backUp(output, encryptTo ?? []));
}

/** `everchart restore`: such a file into an empty database. */
export function restoreCommand(): Command {
  return new Command('restore')
    .argument('<file>', 'a backup')
    .option('--check', 'restore it to a temporary database, verify that, and leave the configured one alone')
    .option('--identity <file>', 'identities of age, one of which opens it')
    .addHelpText('after', RESTORE_HELP)
    .action(async (file: string, { check, identity }: { check?: true; identity?: string }) => {
      const open = await opening(file, identity);
      await (check === true ? tryOut(open) : restore(open));
    });
}

interface BackupOptions {
  readonly output: string;
  readonly encryptTo?: readonly string[];
}

async function backUp(file: string, encryptTo: readonly string[]): Promise<void> {
  const output = openOutput(file, gzipped, ...(encryptTo.length > 0 ? [await encrypting(encryptTo)] : []));
  const documents = await withDatabase(async () => {
    // Before it is read: on an engine without one moment nothing may be written meanwhile.
    const record = await beginReadRecord('backup');
    await record.nameAll();
    await record.end();
    return withCount('documents', (onDocument) =>
      writeBackup({ write: (text) => output.write(text), onDocument }),
    );
  });
  await output.end();
  writeShown(process.stdout, `${documents} documents backed up\n`);
}

async function restore(open: OpenBackup): Promise<void> {
  await checkBackup(open());
  const documents = await withDatabase(() => restoreBackup(open()));
  writeShown(
    process.stdout,
    `${documents} documents restored; everchart verify compares them with their seals\n`,
  );
}

/** Nothing is left of it. @throws CommandFailed when verify finds something */
async function tryOut(open: OpenBackup): Promise<void> {
  await checkBackup(open());
  const settings = { MONGODB_URI: '', LOCAL_DATABASE: 'embedded', EMBEDDED_DATA_DIR: 'temporary' };
  const report = await withDatabase(async () => {
    await restoreBackup(open());
    return verifyStorage();
  }, settings);
  writeShown(process.stdout, reportText(report));
  if (report.violations.length > 0) throw new CommandFailed();
}

/** Begins to read the lines of a backup. */
type OpenBackup = () => AsyncIterable<string>;

/** How a file is read, which may be encrypted and packed. @throws as `decrypting` */
async function opening(file: string, identity: string | undefined): Promise<OpenBackup> {
  const decrypt = await decrypting(file, identity);
  const decompress = decrypt === null ? decompression(file) : gunzipped;
  const through = [decrypt, decompress].filter((one) => one !== null);
  return async function* lines() {
    for await (const { text } of linesThrough(file, through)) yield text ?? '';
  };
}
