/** `npm run database -- --port 27018 --dir ./data/mongodb`: the embedded database as a process of its own. */
import { Command, InvalidArgumentError } from 'commander';
import { startEmbedded } from '../database/embedded/spawn.js';

interface CommandOptions {
  readonly port: number;
  readonly dir: string;
}

const command = new Command('database')
  .description('Runs the embedded database (development and tests only) on 127.0.0.1 until it is stopped')
  .option('--port <port>', 'port to listen on', portOf, 27018)
  .option('--dir <folder>', 'folder of the data, or "temporary"', './data/mongodb')
  .action(runDatabase);

await command.parseAsync();

async function runDatabase({ port, dir }: CommandOptions): Promise<void> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  try {
    const database = await startEmbedded({ dir: dir === 'temporary' ? null : dir, port, log });
    process.stdout.write(`${database.uri}\n`);
    log(`embedded MongoDB ${database.version}, data in ${database.dir}; Ctrl-C stops it`);
    await stopSignal();
    await database.stop();
  } catch (error) {
    log(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
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

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new InvalidArgumentError('is no port number');
  return port;
}
