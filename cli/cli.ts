import { Command, CommanderError } from 'commander';
import { PRODUCT, PRODUCT_VERSION } from '../routes/http/product.js';
import { COMMANDS } from './commands.js';
import { writeShown } from './shown.js';
import { CommandFailed } from './commands/options.js';

const USAGE = 2;

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
      const message = error instanceof Error ? error.message : String(error);
      writeShown(process.stderr, `${message}\n`);
    }
    return 1;
  }
}

/** With the command that is asked for; of the others only what the help says of them. */
async function program(asked: string | undefined): Promise<Command> {
  const root = new Command(PRODUCT)
    .description('An openEHR clinical data repository on MongoDB')
    .version(PRODUCT_VERSION)
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage. Settings: docs/configuration.md');
  for (const [name, { description, load }] of Object.entries(COMMANDS))
    root.addCommand((name === asked ? await load() : new Command(name)).description(description));
  throwInsteadOfExit(root);
  return root;
}

/** commander ends the process by itself otherwise, and with 1 on wrong usage. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride().showHelpAfterError('Use --help for the options');
  for (const sub of command.commands) throwInsteadOfExit(sub);
}
