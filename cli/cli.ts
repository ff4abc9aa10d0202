import { Command, CommanderError } from 'commander';
import { PRODUCT, PRODUCT_VERSION } from '../routes/system/product.js';
import { CommandFailed } from './commands/failure.js';

const USAGE = 2;

/** A command loads its own parts only: what a server needs is not read to sign a token. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map(
  Object.entries({
    start: async () => (await import('./commands/start.js')).startCommand(),
    demo: async () => (await import('./commands/demo.js')).demoCommand(),
    token: async () => (await import('./commands/token.js')).tokenCommand(),
    user: async () => (await import('./commands/user.js')).userCommand(),
    database: async () => (await import('./commands/database.js')).databaseCommand(),
    import: async () => (await import('./commands/import.js')).importCommand(),
    export: async () => (await import('./commands/export.js')).exportCommand(),
    verify: async () => (await import('./commands/verify.js')).verifyCommand(),
    audit: async () => (await import('./commands/audit.js')).auditCommand(),
    reindex: async () => (await import('./commands/reindex.js')).reindexCommand(),
    template: async () => (await import('./commands/template.js')).templateCommand(),
    query: async () => (await import('./commands/query.js')).queryCommand(),
  }),
);

/**
 * Runs the command that the arguments name (without the program itself) and gives the exit code: 0 done,
 * 1 failed, 2 wrong usage. A server goes on after this has answered 0.
 */
export async function runCli(args: readonly string[]): Promise<number> {
  try {
    await (await program(args[0] ?? '')).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    if (!(error instanceof CommandFailed)) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    }
    return 1;
  }
}

/** `first`: the first argument. Every command is loaded when it names none: for the help and for suggestions. */
async function program(first: string): Promise<Command> {
  const root = new Command(PRODUCT)
    .description('An openEHR clinical data repository on MongoDB')
    .version(PRODUCT_VERSION)
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage. Settings: docs/configuration.md');
  const named = COMMANDS.get(first);
  const loads = named !== undefined ? [named] : first === '--version' ? [] : [...COMMANDS.values()];
  for (const load of loads) root.addCommand(await load());
  throwInsteadOfExit(root);
  return root;
}

/** commander ends the process by itself otherwise, and with 1 on wrong usage. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride().showHelpAfterError('Use --help for the options');
  for (const sub of command.commands) throwInsteadOfExit(sub);
}
