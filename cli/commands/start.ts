import { Command } from 'commander';
import { runServer } from '../../src/process/run-server.js';

/** `everchart start`: the server, configured by the environment. */
export function startCommand(): Command {
  return new Command('start')
    .description('Runs the server until it is stopped; every setting is an environment variable')
    .action(() => runServer());
}
