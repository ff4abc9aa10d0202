import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { judged, watchOthers, type Pace } from './pace.js';
import { settingsOf } from './registry.js';

const PACKAGE = 'node_modules/everchart';
const PROGRAM = `${PACKAGE}/src/everchart.mjs`;

/** The most seconds: of the processor for `--version`, and from `npx everchart start` to the first answer. */
const MOST = { version: 0.3, answer: 3 };
/** How many times as much as Node.js alone `--version` may take, whatever the machine does beside it. */
const TIMES_NODE = 4;

/** Says how quick the command is that is installed in a folder. @throws Error when it is slower than it may be */
export async function checkPace(folder: string): Promise<void> {
  const seconds = processorSeconds(folder, `${PROGRAM} --version`);
  const alone = processorSeconds(folder, '-e 0');
  const said = `everchart --version: ${seconds.toFixed(2)} s of the processor of at most ${MOST.version}, Node.js alone ${alone.toFixed(2)}`;
  if (seconds > MOST.version && seconds > TIMES_NODE * alone) throw new Error(said);
  const answer = judged('first answer of npx everchart start', await paceOfAnswer(folder), MOST.answer);
  process.stdout.write(`${said}\n${answer}\n`);
}

/** Processor seconds that Node.js takes with these arguments: the least of several runs. */
function processorSeconds(cwd: string, args: string): number {
  const timed = `{ TIMEFORMAT='%U %S'; time node ${args} >/dev/null; } 2>&1`;
  const runs = Array.from({ length: 5 }, () => {
    const line = execFileSync('bash', ['-c', timed], { cwd, encoding: 'utf8' });
    return line.split(' ').reduce((sum, part) => sum + Number(part), 0);
  });
  return Math.min(...runs);
}

/** Starts the server on a database that has nothing, asks until it answers a query, and stops it. */
async function paceOfAnswer(folder: string): Promise<Pace> {
  const others = watchOthers();
  const start = performance.now();
  const server = await startInstalled(folder, ['npx', 'everchart', 'start']);
  let seconds: number;
  try {
    const query = `${server.origin}/rest/openehr/v1/query/aql?q=SELECT%20e%20FROM%20EHR%20e`;
    while ((await fetch(query)).status !== 200) await pause(20);
    seconds = (performance.now() - start) / 1_000;
  } finally {
    await server.stop();
  }
  return { seconds, others: others() };
}

/** What a person or a monitoring asks of a server; all of it comes from its package. */
const PAGES = ['/', '/console', '/swagger-ui.html', '/rest/openapi.json', '/management/health'];

/** Asks the installed server for its pages and who it is. @throws Error when it says something else, or speaks to another machine */
export async function checkServed(folder: string): Promise<void> {
  const spokenTo = watchConnections(folder);
  const settings = { ...spokenTo.settings, MANAGEMENT_ENDPOINTS: 'health,info', MANAGEMENT_ACCESS: 'PUBLIC' };
  const server = await startInstalled(folder, [process.execPath, PROGRAM, 'start'], settings);
  try {
    for (const path of PAGES) {
      const { status } = await fetch(server.origin + path);
      if (status !== 200) throw new Error(`${path} is ${status}`);
    }
    const info = (await (await fetch(`${server.origin}/management/info`)).json()) as { started: string };
    const { version } = JSON.parse(readFileSync(join(folder, PACKAGE, 'package.json'), 'utf8')) as {
      version: string;
    };
    const expected = { build: { name: 'everchart', version }, started: info.started };
    if (!isDeepStrictEqual(info, expected) || Number.isNaN(Date.parse(info.started)))
      throw new Error(`/management/info says ${JSON.stringify(info)}`);
  } finally {
    await server.stop();
  }
  const others = spokenTo.others();
  if (others !== '') throw new Error(`the server spoke to ${others}`);
  process.stdout.write(`${PAGES.length} pages of the installed server, which spoke to no other machine\n`);
}

/** What notes each host that a process of Node.js connects to, but this machine. */
const noting = (report: string): string => `import { appendFileSync } from 'node:fs';
import { Socket } from 'node:net';
const { connect } = Socket.prototype;
Socket.prototype.connect = function (...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const { path, host } = typeof first === 'object' ? first : Number(first) > 0 ? { host: second } : { path: first };
  const isHere = path || typeof host !== 'string' || /^(?:localhost|127\\..*|::1)$/.test(host);
  if (!isHere) appendFileSync(${JSON.stringify(report)}, host + '\\n');
  return connect.apply(this, args);
};
`;
const CALL = "fetch('http://nobody.invalid').catch(() => undefined)";

/** Settings with which processes note the machines that they speak to, and what was noted. @throws Error when nothing is noted */
function watchConnections(folder: string): {
  readonly settings: Readonly<Record<string, string>>;
  readonly others: () => string;
} {
  const [hook, report] = [join(folder, 'noting.mjs'), join(folder, 'spoken-to.txt')];
  const settings = { NODE_OPTIONS: `--import=${pathToFileURL(hook).href}` };
  const others = (): string => readFileSync(report, 'utf8').trim();
  writeFileSync(hook, noting(report));
  writeFileSync(report, '');
  execFileSync('env', [...settingsOf(settings), process.execPath, '-e', CALL], { cwd: folder });
  if (others() !== 'nobody.invalid') throw new Error(`it was noted: ${others()}`);
  writeFileSync(report, '');
  return { settings, others };
}

interface Installed {
  readonly origin: string;
  stop(): Promise<void>;
}

/** Starts the server that is installed in a folder, and waits until it says where it listens. */
async function startInstalled(
  folder: string,
  command: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Installed> {
  const own = { PORT: '0', HOST: '127.0.0.1', EMBEDDED_DATA_DIR: join(folder, 'data') };
  const server = spawn('env', [...settingsOf({ ...own, ...settings }), ...command], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = once(server, 'close');
  const address = await new Promise<string>((resolve, reject) => {
    let text = '';
    server.stdout.on('data', (part: Buffer) => {
      text += part.toString();
      const [, found] = /listening on (http:[^"\s]+)/.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
    server.once('close', () => {
      reject(new Error(`the server ended:\n${text}`));
    });
  });
  return {
    origin: new URL(address).origin,
    stop: async () => {
      // As Ctrl-C, to all that the command started.
      if (server.pid !== undefined) process.kill(-server.pid, 'SIGINT');
      await ended;
    },
  };
}
