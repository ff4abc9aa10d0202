import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { programArguments } from './command.js';

/** A server in a process of its own, so that a test can kill it. */
export interface ServerProcess {
  readonly url: string;
  readonly process: ChildProcess;
  /** Each line that it wrote so far. */
  readonly said: readonly string[];
  /** SIGKILL: no goodbye to anyone; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM: the exit code. */
  stop(): Promise<number | null>;
}

const START_TIMEOUT_MS = 60_000;

/** Starts `test/support/process/server-main.ts` on a free port with these variables and waits until it listens. */
export async function startServerProcess(env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const child = spawn(process.execPath, programArguments('server-main'), {
    cwd: new URL('../../..', import.meta.url),
    env: { ...process.env, PORT: '0', HOST: '127.0.0.1', NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  const said: string[] = [];
  const url = await listening(child, said);
  return {
    url,
    process: child,
    said,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}

function listening(child: ChildProcess, said: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the server did not start:\n${said.join('\n')}`));
    }, START_TIMEOUT_MS);
    const read = (line: string): void => {
      said.push(line);
      // No test expects one, and the answer alone does not tell which it was.
      if (line.includes('internal error')) process.stderr.write(`${line}\n`);
      const url = /listening on (http:[^",\s]+)/.exec(line)?.[1];
      if (url !== undefined) {
        clearTimeout(timer);
        resolve(url);
      }
    };
    createInterface({ input: child.stdout! }).on('line', read);
    createInterface({ input: child.stderr! }).on('line', read);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the server ended with ${String(code)}:\n${said.join('\n')}`));
    });
  });
}
