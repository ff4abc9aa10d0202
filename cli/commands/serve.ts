import { Command } from 'commander';
import { runServer } from '../../src/process/cluster.js';
import { startEmbedded } from '../../packages/embedded-mongodb/src/spawn.js';
import { superviseEmbedded } from '../../packages/embedded-mongodb/src/supervise.js';
import { textSetting } from '../../src/settings/config.js';
import { wholeNumber } from './options.js';
import { writeShown } from '../shown.js';

/** `everchart start`: the server, configured by the environment. */
export function startCommand(): Command {
  return new Command('start').action(() => runServer());
}

/** `everchart demo`: the server with made-up data and four queries. */
export function demoCommand(): Command {
  return new Command('demo')
    .option('--once', 'exit after the queries')
    .action(async ({ once }: { once?: true }) => (await import('../demo/demo.js')).runDemo(once === true));
}

interface DatabaseOptions {
  readonly port?: number;
  readonly dir?: string;
}

/** `everchart database`: the embedded database as a process of its own. */
export function databaseCommand(): Command {
  return new Command('database')
    .option(
      '--port <port>',
      'port of 127.0.0.1 to listen on instead, with a password; 0 = any free one',
      wholeNumber(0, 65535),
    )
    .option('--dir <folder>', 'folder of the data, or "temporary"; default: EMBEDDED_DATA_DIR')
    .action(runDatabase);
}

async function runDatabase({ port, dir: given }: DatabaseOptions): Promise<void> {
  // The settings of a server may be wrong here in whatever else they say; only this one counts.
  const dir = given ?? textSetting('EMBEDDED_DATA_DIR');
  const log = (line: string): void => void writeShown(process.stderr, `${line}\n`);
  const options = { log, ...(port !== undefined && { port }) };
  const database =
    dir === 'temporary'
      ? await startEmbedded({ dir: null, ...options })
      : await superviseEmbedded({ dir, ...options });
  // Before anybody is told of it, who may stop it at once.
  const stopped = stopSignal();
  writeShown(process.stdout, `${database.uri}\n`);
  log(`embedded MongoDB ${database.version}, data in ${database.dir}; Ctrl-C stops it`);
  if (port !== undefined) log(`the connection string with its password is in ${database.uriFile}`);
  await stopped;
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
