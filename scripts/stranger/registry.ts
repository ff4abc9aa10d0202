import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { toolProgram } from '../tools.js';

/** A registry of npm's on this machine. */
interface Registry {
  /** What sends npm and npx there: nothing of it stays in what this user has. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** What the command `env` is given. */
export function settingsOf(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

/** How long verdaccio may take to answer, in ms. */
const PATIENCE_MS = 120_000;

/** Serves the packed files of a folder; what else is asked for comes from where npm is set to look. */
export async function startRegistry(packed: string, folder: string): Promise<Registry> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const config = join(folder, 'config.yaml');
  // JSON is YAML.
  writeFileSync(config, JSON.stringify(configOf(folder)));
  const server = spawn(toolProgram('verdaccio'), ['--config', config, '--listen', `127.0.0.1:${port}`], {
    stdio: 'ignore',
  });
  const ended = once(server, 'exit');
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM');
    await ended;
  };
  try {
    await answering(`${url}-/ping`);
    const env = await environment(url, folder);
    for (const file of readdirSync(packed).filter((name) => name.endsWith('.tgz')))
      execFileSync('env', [...settingsOf(env), 'npm', 'publish', join(packed, file)], { stdio: 'pipe' });
    return { env, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Ours is published here alone, and everything else is passed on. */
function configOf(folder: string): object {
  const elsewhere = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  const ours = { access: '$all', publish: '$authenticated' };
  return {
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    uplinks: { elsewhere: { url: elsewhere, timeout: '60s' } },
    packages: { '@everchart/*': ours, everchart: ours, '**': { access: '$all', proxy: 'elsewhere' } },
    max_body_size: '100mb',
    log: { type: 'stdout', format: 'json', level: 'error' },
  };
}

/** Settings of npm, with somebody who may publish there. */
async function environment(url: string, folder: string): Promise<Record<string, string>> {
  const user = { name: 'stranger', password: crypto.randomUUID() };
  const answer = await fetch(`${url}-/user/org.couchdb.user:${user.name}`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(user),
  });
  const { token } = (await answer.json()) as { token: string };
  const npmrc = join(folder, 'npmrc');
  const lines = [`registry=${url}`, `${url.replace('http:', '')}:_authToken=${token}`, 'ignore-scripts=true'];
  writeFileSync(npmrc, [...lines, 'audit=false', 'fund=false', 'update-notifier=false'].join('\n'), {
    mode: 0o600,
  });
  return { npm_config_userconfig: npmrc, npm_config_registry: url, npm_config_cache: join(folder, 'cache') };
}

async function answering(url: string): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  const isThere = (): Promise<boolean> =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isThere())) {
    if (Date.now() > end) throw new Error('the registry does not answer');
    await pause(100);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
