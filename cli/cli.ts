import { Command, CommanderError } from 'commander';
import { PRODUCT, PRODUCT_VERSION } from '../routes/system/product.js';
import { CommandFailed } from './commands/options.js';

const USAGE = 2;

type Loader = () => Promise<Command>;

/** By name, in the order of the help. A server need not load, and hold in memory, what the other commands are made of. */
const COMMANDS: Readonly<Record<string, Loader>> = {
  start: async () => (await import('./commands/serve.js')).startCommand(),
  demo: async () => (await import('./commands/serve.js')).demoCommand(),
  token: async () => (await import('./commands/user.js')).tokenCommand(),
  user: async () => (await import('./commands/user.js')).userCommand(),
  database: async () => (await import('./commands/serve.js')).databaseCommand(),
  import: async () => (await import('./commands/import.js')).importCommand(),
  export: async () => (await import('./commands/export.js')).exportCommand(),
  verify: async () => (await import('./commands/verify.js')).verifyCommand(),
  merge: async () => (await import('./commands/merge.js')).mergeCommand(),
  audit: async () => (await import('./commands/stored-data.js')).auditCommand(),
  reindex: async () => (await import('./commands/stored-data.js')).reindexCommand(),
  upgrade: async () => (await import('./commands/stored-data.js')).upgradeCommand(),
  cat: async () => (await import('./commands/stored-data.js')).catCommand(),
  template: async () => (await import('./commands/template.js')).templateCommand(),
  query: async () => (await import('./commands/query.js')).queryCommand(),
  codegen: async () => (await import('./commands/codegen.js')).codegenCommand(),
  'aql-lsp': async () => (await import('./commands/aql-lsp.js')).aqlLspCommand(),
};

/**
 * Runs the command that the arguments name (without the program itself) and gives the exit code: 0 done,
 * 1 failed, 2 wrong usage. A server goes on after this has answered 0.
 */
export async function runCli(args: readonly string[]): Promise<number> {
  try {
    await (await program(args[0])).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    if (!(error instanceof CommandFailed)) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    }
    return 1;
  }
}

/** With the command that is asked for; with all where none is, or one that does not exist. */
async function program(asked: string | undefined): Promise<Command> {
  const root = new Command(PRODUCT)
    .description('An openEHR clinical data repository on MongoDB')
    .version(PRODUCT_VERSION)
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage. Settings: docs/configuration.md');
  const only = Object.entries(COMMANDS).filter(([name]) => name === asked);
  for (const [, load] of only.length > 0 ? only : Object.entries(COMMANDS)) root.addCommand(await load());
  throwInsteadOfExit(root);
  return root;
}

/** commander ends the process by itself otherwise, and with 1 on wrong usage. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride().showHelpAfterError('Use --help for the options');
  for (const sub of command.commands) throwInsteadOfExit(sub);
}
