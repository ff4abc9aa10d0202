import { readFileSync, readlinkSync } from 'node:fs';

/** For how long a process has been gone before what it sent last is done for certain, ms. */
const GRACE_MS = 5_000;

/** Names the set of processes that this one can see, so that a number of one of them means the same; null: it cannot tell. */
export function placeOfProcesses(): string | null {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return null;
  }
}

interface Process {
  readonly id: string;
  readonly place: string | null;
  readonly pid: number;
}

/** Which of the servers of a database ran on this machine and have ended without a word. */
export class EndedProcesses {
  /** When each was first found to be gone. */
  #since = new Map<string, number>();

  constructor(readonly place: string | null) {}

  /** Looks which of them are gone. */
  look(servers: readonly Process[]): void {
    const gone = servers.filter(
      ({ place, pid }) => place !== null && place === this.place && !isRunning(pid),
    );
    const now = performance.now();
    this.#since = new Map(gone.map(({ id }) => [id, this.#since.get(id) ?? now]));
  }

  /** Those that have been gone for long enough. */
  ids(): string[] {
    const now = performance.now();
    return [...this.#since].filter(([, since]) => now - since > GRACE_MS).map(([id]) => id);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
