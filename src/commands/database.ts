import { Command } from 'commander';
import { startEmbedded } from '../../database/embedded/spawn.js';
import { superviseEmbedded } from '../../database/embedded/supervise.js';
import { wholeNumber } from './options.js';

interface DatabaseOptions {
  readonly port: number;
  readonly dir: string;
}

/** `everchart database`: the embedded database as a process of its own. */
export function databaseCommand(): Command {
  return new Command('database')
    .description('Runs the embedded database (development and tests only) on 127.0.0.1 until it is stopped')
    .option('--port <port>', 'port to listen on; 0 = any free one', wholeNumber(0, 65535), 27018)
    .option('--dir <folder>', 'folder of the data, or "temporary"', './data/mongodb')
    .action(runDatabase);
}

async function runDatabase({ port, dir }: DatabaseOptions): Promise<void> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const database =
    dir === 'temporary'
      ? await startEmbedded({ dir: null, port, log })
      : await superviseEmbedded({ dir, port, log });
  process.stdout.write(`${database.uri}\n`);
  log(`embedded MongoDB ${database.version}, data in ${database.dir}; Ctrl-C stops it`);
  await stopSignal();
  await database.stop();
}

/** Resolves on the first signal to stop. The interval keeps the process alive, which the child does not. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const alive = setInterval(() => undefined, 60_000);
    const stop = (): void => {
      clearInterval(alive);
      resolve();
    };
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
  });
}
