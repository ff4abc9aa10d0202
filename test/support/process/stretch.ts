import mongoose from 'mongoose';
import { secondsOf } from './processor-time.js';

/** What the processors did: `worker` is the process that does the work, `database` what it asks. */
interface Processors {
  readonly worker: number;
  readonly database: number;
}

/** Seconds of processor time so far; nothing where the system does not tell. */
async function processors(pid: number): Promise<Processors> {
  const { pid: database } = await mongoose.connection.getClient().db('admin').command({ serverStatus: 1 });
  return { worker: secondsOf(pid) ?? 0, database: secondsOf(Number(database)) ?? 0 };
}

/** A part of some work: how many COMPOSITIONs were done in it, and in what time. */
export class Stretch {
  constructor(
    readonly count: number,
    readonly seconds: number,
    readonly processors: Processors,
  ) {}

  static sum(parts: readonly Stretch[]): Stretch {
    const of = (value: (part: Stretch) => number): number =>
      parts.reduce((sum, part) => sum + value(part), 0);
    return new Stretch(
      of(({ count }) => count),
      of(({ seconds }) => seconds),
      { worker: of((part) => part.processors.worker), database: of((part) => part.processors.database) },
    );
  }

  /** COMPOSITIONs in a second. */
  get rate(): number {
    return this.count / this.seconds;
  }

  /** COMPOSITIONs in a second of processor time of both: a busy machine changes it little. */
  get rateOfProcessors(): number {
    return this.count / (this.processors.worker + this.processors.database);
  }
}

/** Measures from now on. The function that it gives ends the stretch behind so many. */
export async function begun(pid: number): Promise<(count: number, end?: number) => Promise<Stretch>> {
  const before = await processors(pid);
  const start = Date.now();
  return async (count, end = Date.now()) => {
    const { worker, database } = await processors(pid);
    const took = { worker: worker - before.worker, database: database - before.database };
    return new Stretch(count, (end - start) / 1_000, took);
  };
}
