/** Starting and stopping the embedded database from the process that uses it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { defaultCacheSizeGB } from './engine/cache-size.js';
import { engineEnvironment } from './engine/library-environment.js';
import type { ChildFailed, ChildOptions, ChildReady, ChildReport } from './child-protocol.js';
import { DEFAULT_LIMITS, type FrontLimits } from './front/limits.js';

/** How the database is to run. */
export interface EmbeddedOptions {
  /** Folder of the data; null: a temporary one. */
  readonly dir: string | null;
  /** Port of 127.0.0.1, asking for a password; 0: any free one. Default: a UNIX socket. */
  readonly port?: number;
  /** Memory for the data, in GiB. Default: by the machine's memory. */
  readonly cacheSizeGB?: number;
  readonly limits?: Partial<FrontLimits>;
  /** Gets the child's log, line by line. */
  readonly log: (line: string) => void;
  /** Called when the child ends without having been stopped. */
  readonly onUnexpectedEnd?: () => void;
}

/** A running embedded database. */
export interface EmbeddedDatabase extends ChildReady {
  /** Ends the child in order and waits for it. */
  stop(): Promise<void>;
}

/** Why the embedded database did not start. */
export class EmbeddedStartError extends Error {
  /** Whether the engine cannot be had on this machine at all. */
  readonly isUnavailable: boolean;

  /** `failure`: the child's report. */
  constructor(failure: ChildFailed) {
    super(failure.reason);
    this.isUnavailable = failure.isUnavailable;
  }
}

/** Starts the child, which then reports on its stdout (`ChildReport`). */
export function launchEmbedded(options: EmbeddedOptions): ChildProcess {
  const argument: ChildOptions = {
    dir: options.dir,
    port: options.port ?? null,
    cacheSizeGB: options.cacheSizeGB ?? defaultCacheSizeGB(),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
  };
  return spawn(process.execPath, [...programArguments(), JSON.stringify(argument)], {
    env: engineEnvironment(),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Starts the child and waits until it serves. @throws EmbeddedStartError */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const child = launchEmbedded(options);
  forwardLog(child, options.log);
  const report = await firstReport(child);
  if (!report.ready) throw new EmbeddedStartError(report);
  let isStopping = false;
  child.once('exit', (code, signal) => {
    if (isStopping) return;
    options.log(`the embedded database ended unexpectedly (${signal ?? code ?? 'unknown'})`);
    options.onUnexpectedEnd?.();
  });
  letGo(child);
  return {
    ...report,
    stop: async () => {
      isStopping = true;
      await stopChild(child);
    },
  };
}

/** The child's program: TypeScript with its loader when this file is, JavaScript after a build. */
function programArguments(): string[] {
  const isSource = new URL(import.meta.url).pathname.endsWith('.ts');
  const program = fileURLToPath(new URL(isSource ? './main.ts' : './main.js', import.meta.url));
  if (!isSource) return [program];
  const loader = createRequire(import.meta.url).resolve('tsx');
  return ['--import', pathToFileURL(loader).href, program];
}

function forwardLog(child: ChildProcess, log: (line: string) => void): void {
  if (child.stderr === null) return;
  createInterface({ input: child.stderr }).on('line', log);
}

async function firstReport(child: ChildProcess): Promise<ChildReport> {
  const { stdout } = child;
  if (stdout === null) throw new Error('the child has no stdout');
  const line = await Promise.race([
    once(createInterface({ input: stdout }), 'line').then(([text]) => String(text)),
    once(child, 'exit').then(([code, signal]) => {
      const reason = `the embedded database ended at its start (${String(signal ?? code)})`;
      return JSON.stringify({ ready: false, isUnavailable: true, reason } satisfies ChildFailed);
    }),
  ]);
  return JSON.parse(line) as ChildReport;
}

/** The child must not keep its parent alive; it ends by itself when the parent's end of its stdin closes. */
function letGo(child: ChildProcess): void {
  child.unref();
  // they are sockets, though their type is wider
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if (stream instanceof Socket) stream.unref();
  }
}

const PATIENCE_MS = 10_000;

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = once(child, 'exit');
  child.stdin?.end();
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  await ended;
  clearTimeout(timer);
}
