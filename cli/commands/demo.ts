import { Command } from 'commander';
import { runDemo } from '../demo/demo.js';

/** `everchart demo`: the server with made-up data and four queries. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('Loads real templates and made-up patients over HTTP and runs four AQL queries')
    .option('--once', 'exit after the queries')
    .action(({ once }: { once?: true }) => runDemo(once === true));
}
