import { once } from 'node:events';
import { connect } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { timing, type Timing } from './measure.js';

/** What the thread of the client is given. */
interface Order {
  readonly host: string;
  readonly port: number;
  readonly paths: readonly string[];
  readonly runs: number;
}

/** A thread cannot load TypeScript before it has said how. */
const THREAD = `import('tsx/esm/api').then(({ register }) => {
  register();
  return import(${JSON.stringify(import.meta.url)});
});`;

/**
 * Times GETs of one client that waits for each answer, over one connection, from a thread of its own: neither the
 * server's event loop nor Node's HTTP client is in the figure. @throws Error when an answer is not 200
 */
export async function timeOneClient(url: string, paths: readonly string[], runs: number): Promise<Timing> {
  const { hostname: host, port } = new URL(url);
  const order: Order = { host, port: Number(port), paths, runs };
  const worker = new Worker(THREAD, { eval: true, workerData: order });
  const [times] = (await once(worker, 'message')) as [readonly number[]];
  await worker.terminate();
  return timing('GET', times);
}

async function runClient({ host, port, paths, runs }: Order): Promise<number[]> {
  const socket = connect({ host, port, noDelay: true });
  const times: number[] = [];
  for (let run = -runs / 4; run < runs; run += 1) {
    const start = performance.now();
    socket.write(
      `GET ${paths[Math.abs(run) % paths.length] ?? ''} HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\n\r\n`,
    );
    await answerOf(socket);
    if (run >= 0) times.push(performance.now() - start);
  }
  socket.destroy();
  return times;
}

/** Reads one answer to its end, which `Content-Length` gives. */
async function answerOf(socket: ReturnType<typeof connect>): Promise<void> {
  let text: Buffer = Buffer.alloc(0);
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    text = text.length === 0 ? chunk : Buffer.concat([text, chunk]);
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) continue;
    const head = text.toString('latin1', 0, end);
    if (!head.startsWith('HTTP/1.1 200')) throw new Error(head);
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
    if (text.length >= end + 4 + length) return;
  }
}

if (!isMainThread) parentPort?.postMessage(await runClient(workerData as Order));
