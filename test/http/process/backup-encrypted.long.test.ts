import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import mongoose from 'mongoose';
import { encrypting } from '../../../cli/transfer/encryption.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { emptied } from '../../support/interchange.js';
import { runCommand, type CommandResult } from '../../support/process/command-line.js';
import { givenComposition, givenEhr, givenTemplate } from '../../support/resources.js';

useDatabase();
const app = testApp();
const place = mkdtempSync(join(tmpdir(), 'everchart-encrypted-'));
const at = (name: string): string => join(place, name);
const [file, plain, own, others] = [at('store.backup'), at('plain'), at('key.txt'), at('others.txt')];
/** Another database of the same engine. */
const other = (): string => `${testDatabaseName()}-other`;
const PASSPHRASE = 'correct horse battery staple';
let recipient = '';

const run = (
  database: string,
  args: readonly string[],
  further: Record<string, string> = {},
): Promise<CommandResult> =>
  runCommand(args, {
    ...{ LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: database },
    ...{ EVERCHART_BACKUP_PASSPHRASE: '', ...further },
  });

/** All but what the record of a backup says, which is written when that is there. */
const documentsIn = async (database: string): Promise<Record<string, unknown[]>> => {
  const db = mongoose.connection.getClient().db(database);
  const found: Record<string, unknown[]> = {};
  for (const { name } of await db.listCollections().toArray())
    found[name] = await db
      .collection(name)
      .find(name === 'audit' ? { operation: { $ne: 'backup' } } : {})
      .sort({ _id: 1 })
      .toArray();
  return found;
};

/** What is said of a restore, which has written nothing. */
async function refused(args: readonly string[], further: Record<string, string> = {}): Promise<string> {
  const { code, stderr } = await run(other(), ['restore', ...args], further);
  expect(code).toBe(1);
  expect(await documentsIn(other())).toEqual({});
  return stderr;
}

beforeAll(async () => {
  await emptied();
  await givenTemplate(app);
  await givenComposition(app, await givenEhr(app));
  await sealNewRecords();
  const identity = await generateX25519Identity();
  recipient = await identityToRecipient(identity);
  // As age-keygen writes it.
  writeFileSync(own, `# created: 2026-11-27T22:00:00Z\n# public key: ${recipient}\n${identity}\n`);
  writeFileSync(others, `${await generateX25519Identity()}\n`);
  const second = await identityToRecipient(await generateX25519Identity());
  const keys = ['--encrypt-to', second, '--encrypt-to', recipient];
  const made = await run(testDatabaseName(), ['backup', '--output', file, ...keys]);
  expect([made.code === 0 ? '' : made.stderr, made.stdout]).toEqual([
    '',
    expect.stringMatching(/^\d+ documents backed up\n$/),
  ]);
  expect((await run(testDatabaseName(), ['backup', '--output', plain])).code).toBe(0);
});
afterEach(() => mongoose.connection.getClient().db(other()).dropDatabase());
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe('a backup that is encrypted to keys', () => {
  it('is a file of this user alone in the format of age, in which nothing of the store stands', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'latin1');
    expect(text).toMatch(/^age-encryption\.org\/v1\n-> X25519 /);
    expect(text).not.toContain('everchart');
  });

  it('is tried out and restored by the identity of one of them', async () => {
    const tried = await run(other(), ['restore', '--check', file, '--identity', own]);
    expect([tried.code === 0 ? '' : tried.stderr, tried.stdout]).toEqual([
      '',
      expect.stringContaining('no violation'),
    ]);
    expect(await documentsIn(other())).toEqual({});
    const restored = await run(other(), ['restore', file, '--identity', own]);
    expect(restored.code === 0 ? '' : restored.stderr).toBe('');
    expect(await documentsIn(other())).toEqual(await documentsIn(testDatabaseName()));
  });

  it('is refused without an identity, with another one, and with what is none', async () => {
    expect(await refused([file])).toContain('--identity');
    expect(await refused([file, '--identity', others])).toContain(`no identity of ${others} opens ${file}`);
    writeFileSync(at('broken'), `${readFileSync(others, 'utf8').slice(0, -8)}\n`);
    writeFileSync(at('empty'), '# nothing\n');
    writeFileSync(at('public'), `${recipient}\n`);
    expect(await refused([file, '--identity', at('broken')])).toContain('line 1 of');
    expect(await refused([file, '--identity', at('empty')])).toContain('holds no identity');
    expect(await refused([file, '--identity', at('public')])).toContain('begins with AGE-SECRET-KEY-1');
    expect(await refused([file, '--identity', at('absent')])).toContain('ENOENT');
    // Who expects what a key opens does not take what anybody may have written.
    expect(await refused([plain, '--identity', own])).toContain('is not encrypted');
  });

  it('is refused before anything is written when it was cut, or a byte of it is another one', async () => {
    const bytes = readFileSync(file);
    const begin = bytes.indexOf('\n--- ') + 60;
    const changedAt = (place: number): Buffer => {
      const copy = Buffer.from(bytes);
      copy[place]! ^= 1;
      return copy;
    };
    const wrong = [
      bytes.subarray(0, -1),
      bytes.subarray(0, begin + 40),
      bytes.subarray(0, 60),
      Buffer.concat([bytes, Buffer.from('x')]),
      ...[begin, Math.floor((begin + bytes.length) / 2), bytes.length - 1, begin - 20].map(changedAt),
    ];
    for (const [index, one] of wrong.entries()) {
      writeFileSync(at('wrong'), one);
      expect([index, await refused([at('wrong'), '--identity', own])]).toEqual([
        index,
        expect.stringContaining('is not what was encrypted: it was cut or changed'),
      ]);
    }
  });

  it('is not begun for what is no key', async () => {
    for (const key of ['age1', recipient.slice(0, -1), readFileSync(others, 'utf8').trim()]) {
      const { code, stderr } = await run(testDatabaseName(), [
        'backup',
        '--output',
        at('none'),
        '--encrypt-to',
        key,
      ]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('a key that begins with age1')]);
      expect(stderr).not.toContain(key.slice(0, 30).padEnd(30, '?'));
    }
    expect(() => statSync(at('none'))).toThrow('ENOENT');
  });
});

it('a backup that is encrypted by a passphrase is opened by that alone', async () => {
  const name = at('by-passphrase');
  const begin = ['backup', '--output', name, '--encrypt-to', 'passphrase'];
  expect((await run(testDatabaseName(), begin)).stderr).toContain('set EVERCHART_BACKUP_PASSPHRASE');
  const both = await run(testDatabaseName(), [...begin, '--encrypt-to', recipient]);
  expect([both.code, both.stderr]).toEqual([1, expect.stringContaining('no other key')]);
  const made = await run(testDatabaseName(), begin, { EVERCHART_BACKUP_PASSPHRASE: PASSPHRASE });
  expect(made.code === 0 ? '' : made.stderr).toBe('');
  expect(await refused([name])).toContain('the passphrase is missing');
  expect(await refused([name], { EVERCHART_BACKUP_PASSPHRASE: 'another one' })).toContain(
    'the passphrase is not that of',
  );
  const restored = await run(other(), ['restore', name], { EVERCHART_BACKUP_PASSPHRASE: PASSPHRASE });
  expect(restored.code === 0 ? '' : restored.stderr).toBe('');
  expect(await documentsIn(other())).toEqual(await documentsIn(testDatabaseName()));
});

it('what is encrypted is read no faster than what was encrypted is taken', async () => {
  const decrypter = new Decrypter();
  const identity = await generateX25519Identity();
  decrypter.addIdentity(identity);
  const encrypted = (await encrypting([await identityToRecipient(identity)]))();
  const piece = Buffer.alloc(1 << 16, 'x');
  const MOST = 64;
  let written = 0;
  // Whoever does not stop when nobody takes anything would write all of it.
  const write = async (): Promise<void> => {
    for (; written < 1_000; written += 1)
      if (!encrypted.write(piece)) await new Promise((resolve) => encrypted.once('drain', resolve));
    encrypted.end();
  };
  const writing = write();
  for (let turn = 0; turn < 50; turn += 1) await setTimeout(1);
  expect(written).toBeLessThan(MOST);
  let bytes = 0;
  for await (const chunk of await decrypter.decrypt(
    ReadableStream.from(encrypted as AsyncIterable<Uint8Array>),
  ))
    bytes += chunk.length;
  await writing;
  expect(bytes).toBe(1_000 * piece.length);
});
