import { CommanderError, type Command } from 'commander';
import { codegenCommand } from './command/command.js';
import { remoteServer } from './command/server.js';

const USAGE = 2;

/** Runs `everchart-codegen` with these arguments and gives the exit code. */
export function runCodegen(args: readonly string[], version: string): Promise<number> {
  return runProgram(codegenCommand('everchart-codegen', remoteServer).version(version), args);
}

/** Runs a command of a package with these arguments and gives the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runProgram(program: Command, args: readonly string[]): Promise<number> {
  for (const command of [program, ...program.commands])
    command.exitOverride().showHelpAfterError('Use --help for the options');
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
