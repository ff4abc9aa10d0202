import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import { timing, quantile } from './measure.js';

/** What a server answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends a request below a base URL. @throws the socket's error */
export type Send = (method: string, path: string, body?: string, type?: string) => Promise<Answer>;

/** A client with connections of its own, as cheap as can be: its processor time falls on the machine that is measured. */
export function loadClient(base: string, token: string | undefined): { send: Send; close: () => void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const once: Send = (method, path, body, type = 'application/json') =>
    new Promise((resolve, reject) => {
      const content = body === undefined ? {} : { 'content-type': type };
      const headers = { accept: 'application/json', ...content, ...authorization };
      const sent = request(`${base}${path}`, { method, agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const { statusCode: status = 0, headers: answered } = response;
          resolve({ status, headers: answered, text: Buffer.concat(chunks).toString() });
        });
      });
      sent.on('error', reject).end(body);
    });
  // A server may close an idle connection in the moment in which it is used again.
  const send: Send = (...args) =>
    once(...args).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ECONNRESET') return once(...args);
      throw error;
    });
  return {
    send,
    close: () => {
      agent.destroy();
    },
  };
}

/** One figure of the table. Times in milliseconds, of each request. */
export interface Figure {
  readonly figure: string;
  readonly requests: number;
  readonly clients: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  /** Answers of 400 and above. */
  readonly errors: number;
  /** Processor time of the server and of its database for one request; absent where the server is somebody else's. */
  readonly processor?: readonly [server: number, database: number];
  readonly rows?: number;
  /** Of the sorted rows: equal answers of two servers have equal ones. */
  readonly digest?: string;
}

/** Processor time so far of a server and of its database, milliseconds. */
export type ProcessorTime = () => readonly [server: number, database: number];

/** Runs `work` so often by so many clients, each of which waits for its answer before it goes on. */
export async function timed(
  { figure, requests, clients }: Pick<Figure, 'figure' | 'requests' | 'clients'>,
  processor: ProcessorTime | null,
  work: (index: number) => Promise<Answer>,
): Promise<Figure> {
  const times: number[] = [];
  let [next, errors] = [0, 0];
  const before = processor?.();
  const start = performance.now();
  const client = async (): Promise<void> => {
    while (next < requests) {
      const sent = performance.now();
      const { status } = await work(next++);
      if (status >= 400) errors += 1;
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const perSecond = (requests / (performance.now() - start)) * 1000;
  const after = processor?.();
  const { medianMs: p50, p95Ms: p95 } = timing(figure, times);
  return {
    ...{ figure, requests, clients, perSecond, p50, p95, errors },
    ...(before !== undefined &&
      after !== undefined && {
        processor: [(after[0] - before[0]) / requests, (after[1] - before[1]) / requests] as const,
      }),
  };
}

/** Number of the rows of a RESULT_SET, and a digest of them in whichever order. */
export function rowsOf({ status, text }: Answer): Pick<Figure, 'rows' | 'digest'> {
  if (status !== 200) return { digest: `status ${status}` };
  const { rows } = JSON.parse(text) as { rows: unknown[][] };
  const sorted = rows.map((row) => JSON.stringify(row.map(comparable))).sort();
  return {
    rows: rows.length,
    digest: createHash('sha1').update(sorted.join('\n')).digest('hex').slice(0, 12),
  };
}

/** Servers write times and sums in different ways. */
function comparable(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toFixed(6));
  return typeof value === 'string' ? value.replace('.000Z', 'Z') : value;
}

/** The same figures of several runs, each value the median. */
export function medianFigures(runs: readonly (readonly Figure[])[]): Figure[] {
  return (runs[0] ?? []).map((first, at) => {
    const all = runs.flatMap((run) => run[at] ?? []);
    const median = (value: (each: Figure) => number): number => quantile(all.map(value), 0.5);
    return {
      ...first,
      perSecond: median(({ perSecond }) => perSecond),
      p50: median(({ p50 }) => p50),
      p95: median(({ p95 }) => p95),
      errors: all.reduce((sum, { errors }) => sum + errors, 0),
      ...(first.processor !== undefined && {
        processor: [
          median(({ processor }) => processor?.[0] ?? 0),
          median(({ processor }) => processor?.[1] ?? 0),
        ] as const,
      }),
    };
  });
}
