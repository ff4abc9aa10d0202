import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { compileProduct } from './compiled.mjs';

/**
 * One database server for the whole run: the one in MONGODB_URI, else a local one found as the product finds it,
 * its data in a temporary folder. When none can be had the run fails and says why. Long tests keep a server busy
 * for minutes: each worker has one of its own.
 */
export default async function setUpDatabase({ maxWorkers }) {
  await useOwnTemporaryFolder();
  process.env.TEST_EVERCHART = globalThis.everchartCompiled = await compileProduct();
  const given = process.env.MONGODB_URI ?? '';
  if (given !== '') {
    process.env.TEST_MONGODB_URI = given;
    return;
  }
  const { startLocalDatabase } = await tsImport('../../../database/local-database.ts', import.meta.url);
  const settings = {
    mongodbUri: '',
    mongodbDatabase: 'cdr',
    localDatabase: process.env.LOCAL_DATABASE || 'auto',
    mongodBinary: process.env.MONGOD_BINARY ?? '',
    embeddedDataDir: 'temporary',
  };
  globalThis.everchartDatabases = [];
  for (let worker = 1; worker <= (process.env.TEST_LONG ? maxWorkers : 1); worker += 1) {
    const local = await startLocalDatabase(settings, (line) => {
      process.stderr.write(`${line}\n`);
    });
    globalThis.everchartDatabases.push(local);
    process.env[worker === 1 ? 'TEST_MONGODB_URI' : `TEST_MONGODB_URI_${worker}`] = local.uri;
  }
}

/** What the tests and their databases leave in the folder for temporary files goes with the run. */
async function useOwnTemporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'everchart-run-'));
  await chmod(folder, 0o711); // what other users cannot reach in it must be closed by itself
  process.env.TMPDIR = folder;
  globalThis.everchartFolder = folder;
}
