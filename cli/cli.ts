import { Command, CommanderError } from 'commander';
import { PRODUCT, PRODUCT_VERSION } from '../routes/system/product.js';
import { aqlLspCommand } from './commands/aql-lsp.js';
import { codegenCommand } from './commands/codegen.js';
import { databaseCommand, demoCommand, startCommand } from './commands/serve.js';
import { exportCommand } from './commands/export.js';
import { CommandFailed } from './commands/options.js';
import { importCommand } from './commands/import.js';
import { queryCommand } from './commands/query.js';
import { auditCommand, catCommand, reindexCommand, upgradeCommand } from './commands/stored-data.js';
import { templateCommand } from './commands/template.js';
import { tokenCommand, userCommand } from './commands/user.js';
import { verifyCommand } from './commands/verify.js';

const USAGE = 2;

/**
 * Runs the command that the arguments name (without the program itself) and gives the exit code: 0 done,
 * 1 failed, 2 wrong usage. A server goes on after this has answered 0.
 */
export async function runCli(args: readonly string[]): Promise<number> {
  try {
    await program().parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    if (!(error instanceof CommandFailed)) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    }
    return 1;
  }
}

function program(): Command {
  const root = new Command(PRODUCT)
    .description('An openEHR clinical data repository on MongoDB')
    .version(PRODUCT_VERSION)
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 wrong usage. Settings: docs/configuration.md');
  const commands = [
    startCommand(),
    demoCommand(),
    tokenCommand(),
    userCommand(),
    databaseCommand(),
    importCommand(),
    exportCommand(),
    verifyCommand(),
    auditCommand(),
    reindexCommand(),
    upgradeCommand(),
    catCommand(),
    templateCommand(),
    queryCommand(),
    codegenCommand(),
    aqlLspCommand(),
  ];
  for (const command of commands) root.addCommand(command);
  throwInsteadOfExit(root);
  return root;
}

/** commander ends the process by itself otherwise, and with 1 on wrong usage. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride().showHelpAfterError('Use --help for the options');
  for (const sub of command.commands) throwInsteadOfExit(sub);
}
