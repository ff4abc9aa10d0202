/** A `mongod` that mongodb-memory-server downloads, for machines that cannot run the embedded engine. */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { DatabaseSettings } from '../config/settings.js';
import { downloadMirror, downloadOnce } from '../packages/embedded-mongodb/src/engine/library-environment.js';
import { dataFolder, SourceUnavailable, type LocalDatabase, type LogLine } from './local-source.js';
import { runMongod } from './mongod-run.js';

/** How long the parts of the step may take, in ms. */
export interface DownloadTimes {
  readonly reachMs: number;
  readonly wholeMs: number;
}

const TIMES: DownloadTimes = { reachMs: 3_000, wholeMs: 60_000 };
const DEFAULT_MIRROR = 'https://fastdl.mongodb.org';

/** Downloads and starts a mongod. @throws SourceUnavailable when it cannot be had in time */
export async function startDownloadSource(
  settings: DatabaseSettings,
  log: LogLine,
  times: DownloadTimes = TIMES,
): Promise<LocalDatabase> {
  const { url, isPlainHttp } = downloadMirror();
  const mirror = new URL(url ?? DEFAULT_MIRROR);
  const isPlain = isPlainHttp || mirror.protocol === 'http:';
  await reach(mirror, isPlain, times.reachMs);
  return within(times.wholeMs, download(settings, mirror, log));
}

/** @throws SourceUnavailable */
async function download(settings: DatabaseSettings, mirror: URL, log: LogLine): Promise<LocalDatabase> {
  downloadOnce();
  try {
    const { DryMongoBinary, MongoBinary } = await import('mongodb-memory-server');
    const { version } = DryMongoBinary.getEnsuredOptions();
    log(`database: downloading mongod ${version} from ${mirror.host}, which may take a minute`);
    const path = await MongoBinary.getPath({ version });
    const description = `downloaded mongod ${version}`;
    const local = await runMongod({ path, version }, dataFolder(settings.embeddedDataDir), log);
    log(`database: ${description}`);
    return { ...local, description };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new SourceUnavailable(`it failed: ${text.replaceAll(/\s+/g, ' ')}`);
  }
}

/** Whether the host answers at all: a download from one that does not would be silent for a minute. */
function reach(mirror: URL, isPlain: boolean, timeoutMs: number): Promise<void> {
  const port = Number(mirror.port === '' ? (isPlain ? 80 : 443) : mirror.port);
  const { hostname: host } = mirror;
  return new Promise((resolve, reject) => {
    const socket: Socket = isPlain
      ? connectTcp({ host, port })
      : connectTls({ host, port, servername: host });
    const fail = (reason: string): void => {
      socket.destroy();
      reject(new SourceUnavailable(`${mirror.host} cannot be reached: ${reason}`));
    };
    const timer = setTimeout(() => {
      fail(`no answer within ${timeoutMs} ms`);
    }, timeoutMs);
    socket.once(isPlain ? 'connect' : 'secureConnect', () => {
      clearTimeout(timer);
      socket.destroy();
      resolve();
    });
    socket.once('error', (error: Error) => {
      clearTimeout(timer);
      fail(error.message);
    });
  });
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new SourceUnavailable(`it took longer than ${timeoutMs} ms`));
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
