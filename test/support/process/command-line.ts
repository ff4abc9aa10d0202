import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, jest } from '@jest/globals';
import { runCli } from '../../../cli/cli.js';
import { spawnEverchart } from './command.js';

/** What a command did. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command inside this process: for commands that talk to a server and touch no database themselves. */
export async function runHere(...args: readonly string[]): Promise<CommandResult> {
  const said = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    jest.spyOn(process[name], 'write').mockImplementation((chunk) => {
      said[name] += String(chunk);
      return true;
    }),
  );
  try {
    return { code: await runCli(args), ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Runs a command as a process of its own, in `folder` where it is given. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  folder?: string,
): Promise<CommandResult> {
  const child = spawnEverchart(args, env, {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(folder !== undefined && { cwd: folder }),
  });
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  return { code: await code, stdout, stderr };
}

/** What a program prints that ends well. */
export async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args);
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => (printed += piece.toString()));
  const status = await new Promise((resolve) => child.once('close', resolve));
  expect(status === 0 ? '' : printed).toBe('');
  return printed;
}
