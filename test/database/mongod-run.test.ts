import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import { DEFAULT_LIMITS } from '../../packages/embedded-mongodb/src/front/limits.js';
import { startEmbedded } from '../../packages/embedded-mongodb/src/spawn.js';
import { mongodAccess, mongodOptions, openReplicaSet, runMongod } from '../../database/mongod-run.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everchart-mongod-'));
});
afterEach(() => {
  // The engine may still be writing its last files.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const text = (name: string): string => readFileSync(join(folder, name), 'utf8');

describe('a mongod that is started', () => {
  it('asks every client for a password and listens on 127.0.0.1 alone', () => {
    const { args, ...options } = mongodOptions('/data', 27_117);
    expect(options).toEqual({
      auth: true,
      keyfileLocation: '/data/mongod.key',
      port: 27_117,
      ip: '127.0.0.1',
      dbPath: '/data/mongod',
      replSet: 'rs0',
      storageEngine: 'wiredTiger',
    });
    if (process.platform !== 'win32') expect(args).toEqual(['--nounixsocket']);
  });

  it('has its password and key in files of this user alone, and keeps them and its port', async () => {
    const first = await mongodAccess(folder);
    expect(first.password).toMatch(/^[\w-]{43}$/);
    expect(text('mongod.uri')).toBe(
      `mongodb://everchart:${first.password}@127.0.0.1:${first.port}/?replicaSet=rs0&authSource=admin\n`,
    );
    expect(text('mongod.key')).toMatch(/^[\w+/]{64}$/);
    expect(['mongod.uri', 'mongod.key'].map((name) => mode(join(folder, name)))).toEqual(['600', '600']);
    const key = text('mongod.key');
    expect(await mongodAccess(folder)).toEqual(first);
    expect(text('mongod.key')).toBe(key);
  });

  it('comes back on the port that data of an earlier release remember', async () => {
    writeFileSync(join(folder, 'mongod.port'), '31234');
    expect((await mongodAccess(folder)).port).toBe(31_234);
  });
});

/**
 * There may be no mongod on this machine, so the embedded database stands in for one that was set up before: it has
 * the same handshake and login, and refuses to make a user without a login, too.
 */
describe('a set that is initiated and has its user', () => {
  it('is opened with its password and refused with another', async () => {
    const server = await startEmbedded({ dir: null, port: 0, log: () => undefined });
    const { password } = new URL(readFileSync(server.uriFile, 'utf8').trim());
    await openReplicaSet({ port: server.port!, password });
    const wrong = openReplicaSet({ port: server.port!, password: 'another' });
    await expect(wrong).rejects.toMatchObject({ code: 18 });
    await server.stop();
  });

  it('is run, used and ended by its program', async () => {
    const program = join(folder, 'mongod');
    const embedded = JSON.stringify({ cacheSizeGB: 0.25, limits: DEFAULT_LIMITS }).slice(1, -1);
    // as mongod does: says when it is ready, ends on SIGINT; its arguments are kept to be looked at
    const lines = [
      '#!/bin/sh',
      '[ "$1" = --version ] && echo "db version v8.0.0" && exit',
      'args="$*"; while [ $# -gt 0 ]; do case $1 in --port) port=$2;; --dbpath) path=$2;; esac; shift; done',
      'echo "$args" > "$path/../args"; cp "$path/../mongod.uri" "$path/port.uri"',
      `cd ${process.cwd()}`,
      `tail -f /dev/null | ${process.execPath} --import tsx packages/embedded-mongodb/src/main.ts "{\\"dir\\":\\"$path\\",\\"port\\":$port,${embedded.replaceAll('"', '\\"')}}" | sed -u 's/^/Waiting for connections /' &`,
      `trap 'pkill -TERM -P $$; wait; exit 0' INT`,
      'wait',
    ];
    writeFileSync(program, `${lines.join('\n')}\n`);
    chmodSync(program, 0o755);
    const data = join(folder, 'data');
    mkdirSync(data);
    chmodSync(data, 0o755);
    const said: string[] = [];
    const running = await runMongod({ path: program, version: '8.0.0' }, data, (line) => said.push(line));
    expect(mode(data)).toBe('700');
    expect(said).toEqual([expect.stringMatching(/^database: the data folder .* is now 0700$/)]);
    const client = await new mongoose.mongo.MongoClient(running.uri).connect();
    await client.db('test').collection('things').insertOne({ n: 1 });
    await client.close();
    const open = new mongoose.mongo.MongoClient(running.uri.replace(/\/\/.*@/, '//'));
    await expect(open.db('test').collection('things').countDocuments()).rejects.toMatchObject({ code: 13 });
    await open.close();
    expect(readFileSync(join(data, 'args'), 'utf8')).toMatch(
      /^--port \d+ --dbpath \S+\/mongod --replSet rs0 --storageEngine wiredTiger --bind_ip 127\.0\.0\.1 --auth --keyFile \S+\/mongod\.key --nounixsocket\n$/,
    );
    // the embedded database cannot be shut down by a command, about which the library complains
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    await running.stop();
    warn.mockRestore();
  });
});
