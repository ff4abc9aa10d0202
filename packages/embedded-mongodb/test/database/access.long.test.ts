import { spawn } from 'node:child_process';
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { MAX_LOGIN_ATTEMPTS } from '../../src/access/authentication.js';
import { MAX_SOCKET_PATH_BYTES } from '../../src/access/socket-path.js';
import { startEmbedded, type EmbeddedDatabase } from '../../src/spawn.js';
import { WireClient } from '../support/wire.js';

const { BSON, MongoClient } = mongoose.mongo;
const NOBODY = 65_534;
const asRoot = process.getuid?.() === 0 ? it : it.skip;

let folder: string;
let dir: string;
let lines: string[];
let started: EmbeddedDatabase[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everchart-access-'));
  dir = join(folder, 'data');
  lines = [];
  started = [];
});
afterEach(async () => {
  for (const server of started) {
    await server.stop();
    if (server.port === null) rmSync(dirname(server.address), { recursive: true, force: true });
  }
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: { dir?: string | null; port?: number } = {}): Promise<EmbeddedDatabase> {
  const server = await startEmbedded({ dir, log: (line) => lines.push(line), ...options });
  started.push(server);
  return server;
}

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Writes and reads one document. */
async function use(uri: string, options: mongoose.mongo.MongoClientOptions = {}): Promise<number> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5_000, ...options });
  try {
    const things = client.db('test').collection('things');
    await client.withSession((session) =>
      session.withTransaction(() => things.insertOne({ n: 1 }, { session })),
    );
    return await things.countDocuments();
  } finally {
    await client.close();
  }
}

/** Local addresses on which a process listens, as the system has them (Linux). */
function listensOn(pid: number): string[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1] ?? [];
      } catch {
        return []; // closed meanwhile
      }
    }),
  );
  const rows = ['tcp', 'tcp6'].flatMap((kind) => readFileSync(`/proc/net/${kind}`, 'utf8').split('\n'));
  const LISTEN = '0A';
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((columns) => columns[3] === LISTEN && sockets.has(columns[9] ?? ''))
    .map((columns) => columns[1] ?? '');
}

/** What another user of this machine gets who connects to the socket. */
async function connectAsNobody(path: string): Promise<string> {
  const script = `require('node:net').connect(process.argv[1])
    .on('connect', function () { console.log('connected'); this.destroy(); })
    .on('error', (error) => console.log(error.code));`;
  const child = spawn(process.execPath, ['-e', script, path], {
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return chunk.toString().trim();
}

describe('the socket of the embedded database', () => {
  it('is in a folder of this user alone, with a path that every system takes, and no port is open', async () => {
    const server = await start();
    expect(await use(server.uri)).toBe(1);
    expect(dirname(server.address)).toMatch(/^.+\/everchart-[0-9a-f]{16}$/);
    expect(Buffer.byteLength(server.address)).toBeLessThanOrEqual(MAX_SOCKET_PATH_BYTES);
    expect(mode(dirname(server.address))).toBe('700');
    if (process.platform === 'linux') expect(listensOn(server.pid)).toEqual([]);
  });

  it('is named in a file of this user alone beside the data', async () => {
    const server = await start();
    expect(server.uriFile).toBe(join(dir, 'socket.uri'));
    expect(readFileSync(server.uriFile, 'utf8')).toBe(`${server.uri}\n`);
    expect(mode(server.uriFile)).toBe('600');
  });

  asRoot('is out of reach for another user of the machine', async () => {
    const server = await start();
    chmodSync(server.address, 0o777);
    expect(await connectAsNobody(server.address)).toBe('EACCES');
  });

  it('has the same path after a stop and after a crash', async () => {
    const first = await start();
    await first.stop();
    expect(existsSync(first.address)).toBe(false);
    const second = await start();
    expect(second.uri).toBe(first.uri);
    process.kill(second.pid, 'SIGKILL');
    while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(existsSync(second.address)).toBe(true);
    const third = await start();
    expect(third.uri).toBe(first.uri);
    expect(await use(third.uri)).toBe(1);
    expect(readdirSync(dirname(third.address))).toEqual(['mongodb.sock']);
  });

  it('has another path where its folder was opened to others, or taken by another user', async () => {
    const first = await start();
    await first.stop();
    chmodSync(dirname(first.address), 0o755);
    const second = await start();
    expect(second.address).not.toBe(first.address);
    await second.stop();
    if (process.getuid?.() !== 0) return;
    chownSync(dirname(second.address), NOBODY, NOBODY);
    expect((await start()).address).not.toBe(second.address);
  });

  it('is not where a file names another kind of path, or one that another user could have written', async () => {
    mkdirSync(dir);
    const other = join(folder, 'other.sock');
    writeFileSync(other, '');
    for (const [path, fileMode] of [
      [other, 0o600],
      [join(folder, 'everchart-0123456789abcdef', 'mongodb.sock'), 0o644],
    ] as const) {
      rmSync(join(dir, 'socket.uri'), { force: true });
      writeFileSync(join(dir, 'socket.uri'), `mongodb://${encodeURIComponent(path)}/`, { mode: fileMode });
      const server = await start();
      expect(server.address).not.toBe(path);
      await server.stop();
      expect(existsSync(other)).toBe(true);
    }
  });
});

describe('the data folder of the embedded database', () => {
  it('is made for this user alone, with everything in it', async () => {
    const server = await start();
    await use(server.uri);
    expect(mode(dir)).toBe('700');
    const open = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
      (name) => (statSync(join(dir, name)).mode & 0o077) !== 0,
    );
    expect(open).toEqual([]);
  });

  it('is closed to others when it was open to them, and the log says so', async () => {
    mkdirSync(dir);
    chmodSync(dir, 0o755);
    await start();
    expect(mode(dir)).toBe('700');
    expect(lines).toEqual([`the data folder ${dir} was open to other users (0755) and is now 0700`]);
  });

  asRoot('is refused when it belongs to another user', async () => {
    mkdirSync(dir);
    chownSync(dir, NOBODY, NOBODY);
    await expect(start()).rejects.toThrow(`the data folder ${dir} belongs to another user (uid ${NOBODY}`);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('serves one process; a second one is told how to share it', async () => {
    const server = await start();
    await expect(start()).rejects.toThrow(
      `the data folder ${dir} is in use by another process: to share it, set MONGODB_URI to the connection string in its socket.uri or port.uri`,
    );
    expect(await use(server.uri)).toBe(1);
  });
});

const passwordOf = (server: EmbeddedDatabase): string =>
  new URL(readFileSync(server.uriFile, 'utf8').trim()).password;

describe('the embedded database on a port', () => {
  it('listens on 127.0.0.1 and lets in who knows the password of the file', async () => {
    const server = await start({ port: 0 });
    expect(server.uriFile).toBe(join(dir, 'port.uri'));
    expect(mode(server.uriFile)).toBe('600');
    expect(passwordOf(server)).toHaveLength(43);
    expect(server.uri).toBe(`mongodb://${server.address}/?replicaSet=rs0&w=majority&maxPoolSize=0`);
    expect(await use(readFileSync(server.uriFile, 'utf8').trim())).toBe(1);
    const auth = { username: 'everchart', password: passwordOf(server) };
    expect(await use(server.uri, { auth })).toBe(2);
    const PORT = server.port!.toString(16).toUpperCase().padStart(4, '0');
    if (process.platform === 'linux') expect(listensOn(server.pid)).toEqual([`0100007F:${PORT}`]);
  });

  it('keeps its password from one start to the next, and from a start without a port between them', async () => {
    const first = await start({ port: 0 });
    const password = passwordOf(first);
    await first.stop();
    await (await start()).stop();
    expect(passwordOf(await start({ port: 0 }))).toBe(password);
  });

  it('refuses a wrong password, another user and another mechanism', async () => {
    const server = await start({ port: 0 });
    const password = passwordOf(server);
    const refused = { code: 18, codeName: 'AuthenticationFailed' };
    const wrong = use(server.uri, { auth: { username: 'everchart', password: `${password}x` } });
    await expect(wrong).rejects.toMatchObject(refused);
    const other = use(server.uri, { auth: { username: 'admin', password } });
    await expect(other).rejects.toMatchObject(refused);
    const auth = { username: 'everchart', password };
    await expect(use(server.uri, { auth, authMechanism: 'SCRAM-SHA-1' })).rejects.toMatchObject(refused);
    await expect(use(server.uri, { auth, authMechanism: 'PLAIN' })).rejects.toMatchObject(refused);
    await expect(use(server.uri, { auth, authSource: 'test' })).rejects.toMatchObject(refused);
  });

  it('answers nothing but the handshake without a login', async () => {
    const server = await start({ port: 0 });
    await expect(use(server.uri)).rejects.toMatchObject({ code: 13, codeName: 'Unauthorized' });
    const wire = await WireClient.connect(server.address);
    expect(await wire.command({ hello: 1, $db: 'admin' })).toMatchObject({ ok: 1, setName: 'rs0' });
    const commands = ['ping', 'find', 'insert', 'buildInfo', 'setParameter', 'serverStatus', 'endSessions'];
    for (const name of [...commands, 'killAllSessions', 'dropDatabase', 'commitTransaction', 'nonsense']) {
      expect(await wire.command({ [name]: 1, $db: 'admin' })).toMatchObject({ ok: 0, code: 13 });
    }
    wire.close();
  });

  it('closes a connection that sends a large message before its login', async () => {
    const server = await start({ port: 0 });
    const wire = await WireClient.connect(server.address);
    wire.send({ hello: 1, $db: 'admin', padding: 'x'.repeat(20_000) });
    await expect(wire.receive()).rejects.toThrow('closed');
  });
});

/** The steps of a login as a client of its own takes them. */
class Login {
  constructor(
    readonly wire: WireClient,
    readonly password: string,
  ) {}

  start(payload: string): Promise<Record<string, unknown>> {
    const saslStart = { saslStart: 1, mechanism: 'SCRAM-SHA-256', options: { skipEmptyExchange: true } };
    return this.wire.command({ ...saslStart, payload: new BSON.Binary(Buffer.from(payload)), $db: 'admin' });
  }

  async begin(nonce: string): Promise<string> {
    const reply = await this.start(`n,,n=everchart,r=${nonce}`);
    return (reply['payload'] as mongoose.mongo.Binary).toString('utf8');
  }

  go(payload: string): Promise<Record<string, unknown>> {
    const body = { saslContinue: 1, conversationId: 1, payload: new BSON.Binary(Buffer.from(payload)) };
    return this.wire.command({ ...body, $db: 'admin' });
  }

  /** The final message that proves the password. */
  final(nonce: string, serverFirst: string): string {
    const [, whole, salt, iterations] = /^r=(.*),s=(.*),i=(\d+)$/.exec(serverFirst)!;
    expect(whole!.startsWith(nonce)).toBe(true);
    expect(Number(iterations)).toBeGreaterThanOrEqual(15_000);
    const salted = pbkdf2Sync(this.password, Buffer.from(salt!, 'base64'), Number(iterations), 32, 'sha256');
    const clientKey = createHmac('sha256', salted).update('Client Key').digest();
    const storedKey = createHash('sha256').update(clientKey).digest();
    const text = `n=everchart,r=${nonce},${serverFirst},c=biws,r=${whole}`;
    const signature = createHmac('sha256', storedKey).update(text).digest();
    const proof = Buffer.from(clientKey.map((byte, at) => byte ^ signature[at]!));
    return `c=biws,r=${whole},p=${proof.toString('base64')}`;
  }
}

describe('a login to the embedded database', () => {
  let server: EmbeddedDatabase;
  const login = async (): Promise<Login> =>
    new Login(await WireClient.connect(server.address), passwordOf(server));
  const refused = { ok: 0, code: 18 };
  beforeAll(async () => {
    server = await startEmbedded({ dir: null, port: 0, log: () => undefined });
  });
  afterAll(() => server.stop());

  it('cannot be replayed, neither on its connection nor on another', async () => {
    const first = await login();
    const final = first.final('abc', await first.begin('abc'));
    expect(await first.go(final)).toMatchObject({ ok: 1, done: true });
    expect(await first.wire.command({ ping: 1, $db: 'admin' })).toMatchObject({ ok: 1 });
    expect(await first.go(final)).toMatchObject(refused);
    const second = await login();
    await second.begin('abc');
    expect(await second.go(final)).toMatchObject(refused);
    expect(await second.wire.command({ ping: 1, $db: 'admin' })).toMatchObject({ ok: 0, code: 13 });
    first.wire.close();
    second.wire.close();
  });

  it.each([
    ['no channel binding header', 'n=everchart,r=abc'],
    ['channel binding', 'p=tls-unique,,n=everchart,r=abc'],
    ['another identity', 'n,a=root,n=everchart,r=abc'],
    ['an extension that must be understood', 'n,,m=x,n=everchart,r=abc'],
    ['no nonce', 'n,,n=everchart'],
    ['an empty nonce', 'n,,n=everchart,r='],
    ['a malformed name', 'n,,n=ever=chart,r=abc'],
    ['nothing', ''],
  ])('is refused when it begins with %s', async (_what, payload) => {
    const { wire, ...rest } = await login();
    expect(await new Login(wire, rest.password).start(payload)).toMatchObject(refused);
    wire.close();
  });

  it('is refused when its final message is malformed, of another nonce or binding, or comes first', async () => {
    const changes: ((final: string) => string)[] = [
      (final) => final.replace('biws', 'eSws'),
      (final) => final.replace(',r=', ',r=x'),
      (final) => final.replace(/,p=.*/, ''),
      (final) => final.replace(/,p=.*/, ',p=AAAA'),
      (final) => `${final},x=1`,
      () => '',
    ];
    for (const change of changes) {
      const client = await login();
      const final = client.final('abc', await client.begin('abc'));
      expect(await client.go(change(final))).toMatchObject(refused);
      expect(await client.go(final)).toMatchObject(refused);
      client.wire.close();
    }
    const { wire, password } = await login();
    expect(await new Login(wire, password).go('c=biws,r=abc,p=AAAA')).toMatchObject(refused);
    wire.close();
  });

  it('may be tried three times on one connection', async () => {
    const client = await login();
    for (let attempt = 0; attempt < MAX_LOGIN_ATTEMPTS; attempt += 1) {
      expect(await client.start('nonsense')).toMatchObject(refused);
    }
    client.wire.send({ hello: 1, $db: 'admin' });
    await expect(client.wire.receive()).rejects.toThrow('closed');
  });

  it('ends with a logout', async () => {
    const client = await login();
    await client.go(client.final('abc', await client.begin('abc')));
    expect(await client.wire.command({ logout: 1, $db: 'admin' })).toMatchObject({ ok: 1 });
    expect(await client.wire.command({ ping: 1, $db: 'admin' })).toMatchObject({ ok: 0, code: 13 });
    client.wire.close();
  });
});
