import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import {
  createMessage,
  generateKey,
  readKey,
  readPrivateKey,
  readSignature,
  sign,
  verify,
  type KeyOptions,
} from 'openpgp';
import request from 'supertest';
import { commitInBulk } from '../../../change/bulk.js';
import { LIFECYCLE } from '../../../change/commit/codes.js';
import { changeContext } from '../../../change/commit/context.js';
import { KeyRing, openKeyRing } from '../../../change/commit/key-ring.js';
import type { Settings } from '../../../config/settings.js';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import type { VersionDoc } from '../../../models/version.js';
import { canonicalText } from '../../../openehr/base/jcs.js';
import { loadConfig } from '../../../src/settings/config.js';
import { creation, FOLDER } from '../../support/api/world.js';
import { testApp } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri, useDatabase } from '../../support/database.js';
import { merge } from '../../support/merge-http.js';
import { runCommand } from '../../support/process/command-line.js';
import {
  aComposition,
  dump,
  givenComposition,
  givenEhr,
  givenTemplate,
  V1,
  versionedObjectUidOf,
  versionUidOf,
  type Json,
} from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { WITH_ADMIN } from '../../support/tokens.js';

/** `SIGNING=pgp` and its key ring. docs/spec/storage.md#signatures */
const ARMOR = '-----BEGIN PGP SIGNATURE-----';
const HOUR_MS = 3_600_000;
const HOUR_S = 3_600;
const folder = mkdtempSync(join(tmpdir(), 'everchart-keys-'));

interface Keys {
  readonly privateKey: string;
  readonly publicKey: string;
}

const makeKeys = (name: string, more: Partial<KeyOptions> = {}): Promise<Keys> =>
  generateKey({ userIDs: [{ name }], ...more, format: 'armored' });

useDatabase();
let ehrId = '';
let former: Keys;
let present: Keys;
let stranger: Keys;
beforeAll(async () => {
  const unsigned = testApp();
  await givenTemplate(unsigned);
  ehrId = await givenEhr(unsigned);
  [former, present, stranger] = [
    await makeKeys('former'),
    await makeKeys('present'),
    await makeKeys('stranger'),
  ];
});
afterAll(async () => {
  await openKeyRing(testSettings());
  rmSync(folder, { recursive: true, force: true });
});

/** Settings with a ring of these keys. */
function withRing(keys: string, more: Partial<Settings> = {}): Partial<Settings> {
  const file = join(folder, `${randomUUID()}.asc`);
  writeFileSync(file, keys);
  return { signing: 'pgp', signingKeysFile: file, signingKeyPassphrase: null, ...more };
}

/** A server that was started with a ring of these keys. */
async function startedWith(keys: string, more: Partial<Settings> = {}): Promise<RequestListener> {
  const settings = withRing(keys, more);
  await openKeyRing(testSettings(settings));
  return testApp(settings);
}

const versionOf = (app: RequestListener, uid: string): request.Test =>
  request(app).get(
    `${V1}/ehr/${ehrId}/versioned_composition/${versionedObjectUidOf(uid)}/version/${uid}?verify=true`,
  );
const stateOf = async (app: RequestListener, uid: string): Promise<unknown> =>
  (await versionOf(app, uid)).headers['everchart-signature'];

async function signatureOf(text: string, { privateKey }: Keys, date = new Date()): Promise<string> {
  const message = await createMessage({ binary: Buffer.from(text) });
  const signingKeys = await readPrivateKey({ armoredKey: privateKey });
  return sign({ message, signingKeys, detached: true, format: 'armored', date });
}

/** Ids of the keys that made the signature of a VERSION. */
async function makersOf(app: RequestListener, uid: string): Promise<string[]> {
  const armoredSignature = String(((await versionOf(app, uid)).body as Json).signature);
  return (await readSignature({ armoredSignature })).getSigningKeyIDs().map((id) => id.toHex());
}

it('signs a VERSION as anybody can verify who has the public key', async () => {
  const app = await startedWith(former.privateKey);
  const uid = await givenComposition(app, ehrId);
  const { body, headers } = await versionOf(app, uid);
  const { signature, ...rest } = body as Json;
  const { signatures } = await verify({
    message: await createMessage({ binary: Buffer.from(canonicalText(rest)) }),
    signature: await readSignature({ armoredSignature: String(signature) }),
    verificationKeys: (await readKey({ armoredKey: former.publicKey })).toPublic(),
  });
  await expect(signatures[0]!.verified).resolves.toBe(true);
  expect(headers['everchart-signature']).toBe('verified');
});

it('signs whatever is committed, and seals it so', async () => {
  const settings = withRing(former.privateKey, WITH_ADMIN);
  await openKeyRing(testSettings(settings));
  const app = testApp(settings);
  const [source, target] = [await givenEhr(app), await givenEhr(app)];
  const at = (path: string): string => `${V1}/ehr/${source}${path}`;
  const uid = await givenComposition(app, source);
  const changed = await request(app)
    .put(at(`/composition/${versionedObjectUidOf(uid)}`))
    .set('If-Match', uid)
    .send(aComposition());
  expect((await request(app).delete(at(`/composition/${versionUidOf(changed)}`))).status).toBe(204);
  const status = await request(app).get(at('/ehr_status'));
  const put = request(app).put(at('/ehr_status')).set('If-Match', versionUidOf(status));
  expect((await put.send(status.body as object)).status).toBe(200);
  expect((await request(app).post(at('/directory')).send(FOLDER)).status).toBe(201);
  const two = creation(aComposition()) as Json;
  two.versions.push(two.versions[0]);
  expect((await request(app).post(at('/contribution')).send(two)).status).toBe(201);
  const imported = {
    ehrId: source,
    contributions: [[{ object: aComposition(), lifecycleState: LIFECYCLE.complete }]],
  };
  const committer = { _type: 'PARTY_IDENTIFIED', name: 'import' };
  const context = changeContext(testSettings(settings));
  expect(await commitInBulk(context, { committer, isLenient: false }, [imported])).toEqual([true]);
  const versions = mongoose.connection.collection<VersionDoc>('versions');
  const stored = () => versions.find({ ehr_id: { $in: [source, target] } }).toArray();
  const isSigned = ({ signature }: VersionDoc): boolean => signature?.startsWith(ARMOR) === true;
  expect((await stored()).map(isSigned)).toEqual(Array(10).fill(true));
  expect((await merge(app, source, target)).status).toBe(200);
  expect((await stored()).filter((version) => !isSigned(version))).toEqual([]);
  await sealNewRecords();
  expect((await verifyStorage()).violations).toEqual([]);
});

it('goes on with another key; where the ring has one no more, it does not tell of what that one signed', async () => {
  const before = await startedWith(former.privateKey);
  const first = await givenComposition(before, ehrId);
  const after = await startedWith(former.publicKey + present.privateKey);
  const second = await givenComposition(after, ehrId);
  const ids = await Promise.all(
    [former, present].map(async ({ publicKey }) =>
      (await readKey({ armoredKey: publicKey })).getKeyID().toHex(),
    ),
  );
  expect([await makersOf(after, first), await makersOf(after, second)]).toEqual(ids.map((id) => [id]));
  expect([await stateOf(after, first), await stateOf(after, second)]).toEqual(['verified', 'verified']);
  const without = await startedWith(present.privateKey);
  expect([await stateOf(without, first), await stateOf(without, second)]).toEqual([
    'unverifiable',
    'verified',
  ]);
  expect((await verifyStorage()).violations).toEqual([]);
  await openKeyRing(testSettings());
  expect([await stateOf(testApp(), first), await stateOf(testApp(), second)]).toEqual([
    'unverifiable',
    'unverifiable',
  ]);
});

describe('what a client signed', () => {
  const commit = (app: RequestListener, signature: string): request.Test => {
    const contribution = creation(aComposition()) as Json;
    contribution.versions[0].signature = signature;
    return request(app)
      .post(`${V1}/ehr/${ehrId}/contribution`)
      .set('Prefer', 'return=representation')
      .send(contribution);
  };

  it('is kept as it is', async () => {
    const app = await startedWith(former.publicKey + present.privateKey);
    for (const signature of [await signatureOf('anything', stranger), `${ARMOR}\n\nnothing`, 'of a client']) {
      const made = await commit(app, signature);
      expect(made.status).toBe(201);
      const { body, headers } = await versionOf(app, String((made.body as Json).versions[0].id.value));
      expect([(body as Json).signature, headers['everchart-signature']]).toEqual([signature, 'unverifiable']);
    }
  });

  it.each(['pgp', 'digest', 'none'] as const)(
    'by a key of the ring is 422 where it is not that of the VERSION: SIGNING=%s',
    async (signing) => {
      const app = await startedWith(former.publicKey + present.privateKey, { signing });
      const before = await dump();
      const refused = await commit(app, await signatureOf('another text', former));
      expect([refused.status, (refused.body as Json).message]).toEqual([
        422,
        'versions[0]: the signature is not that of the version that would be made',
      ]);
      expect((await dump()) === before).toBe(true);
    },
  );
});

it('shows a change of what was stored, to who reads it and to verify', async () => {
  const app = await startedWith(present.privateKey);
  const uid = await givenComposition(app, ehrId);
  const versions = mongoose.connection.collection<{ _id: string }>('versions');
  const stored = await versions.findOne({ _id: uid });
  await versions.updateOne({ _id: uid }, { $set: { 'commit_audit.committer.name': 'somebody else' } });
  expect(await stateOf(app, uid)).toBe('mismatched');
  const { violations } = await verifyStorage();
  await versions.replaceOne({ _id: uid }, stored!);
  expect(violations).toContainEqual({
    kind: 'versions',
    id: uid,
    message: 'its signature is not that of what it is',
  });
  expect(await stateOf(app, uid)).toBe('verified');
});

it('is verified by the command line too, and ends the start of a server where it cannot be read', async () => {
  const app = await startedWith(present.privateKey);
  const uid = await givenComposition(app, ehrId);
  const file = join(folder, 'verify.asc');
  writeFileSync(file, present.publicKey);
  const env = { LOG_LEVEL: 'warn', MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: testDatabaseName() };
  const verifiedWith = (more: Readonly<Record<string, string>>) =>
    runCommand(['verify'], { ...env, ...more });
  expect((await verifiedWith({ SIGNING_KEYS_FILE: file })).stdout).toContain('no violation');
  const versions = mongoose.connection.collection<{ _id: string }>('versions');
  const stored = await versions.findOne({ _id: uid });
  // Nothing is derived of this, nor is it sealed yet.
  const description = { _type: 'DV_TEXT', value: 'by somebody else' };
  await versions.updateOne({ _id: uid }, { $set: { 'commit_audit.description': description } });
  const [known, unknown] = [await verifiedWith({ SIGNING_KEYS_FILE: file }), await verifiedWith({})];
  await versions.replaceOne({ _id: uid }, stored!);
  expect([known.code, known.stdout]).toEqual([1, expect.stringContaining('its signature is not that of')]);
  expect([unknown.code, unknown.stdout]).toEqual([0, expect.stringContaining('no violation')]);
  const missing = { SIGNING: 'pgp', SIGNING_KEYS_FILE: join(folder, 'missing.asc'), PORT: '0' };
  const started = await runCommand(['start'], { ...env, ...missing });
  expect([started.code, started.stdout + started.stderr]).toEqual([
    1,
    expect.stringMatching(/SIGNING_KEYS_FILE .*missing\.asc/),
  ]);
});

describe('a ring', () => {
  const problemOf = (keys: string, more?: Partial<Settings>): Promise<unknown> =>
    startedWith(keys, more).then(
      () => 'none',
      (error: unknown) => (error instanceof Error ? error.message : error),
    );

  it('that cannot be used ends the start', async () => {
    expect(await problemOf('nothing')).toMatch(
      /^SIGNING_KEYS_FILE .*\.asc: it holds no armored key of OpenPGP$/,
    );
    expect(await problemOf(former.publicKey)).toMatch(
      /it holds no private key, which SIGNING=pgp signs with$/,
    );
    const expired = await makeKeys('old', {
      date: new Date(Date.now() - 2 * HOUR_MS),
      keyExpirationTime: HOUR_S,
    });
    expect(await problemOf(expired.privateKey)).toMatch(/its last private key cannot sign: /);
    const settings = testSettings({ signing: 'pgp', signingKeysFile: join(folder, 'missing.asc') });
    await expect(openKeyRing(settings)).rejects.toThrow(/SIGNING_KEYS_FILE .*missing\.asc: .*ENOENT/);
    expect(() => testApp({ signing: 'pgp' })).toThrow('the key ring is not open');
    expect(() => loadConfig({ SIGNING: 'pgp' })).toThrow(/SIGNING=pgp needs SIGNING_KEYS_FILE/);
    expect(() => loadConfig({ SIGNING: 'gpg' })).toThrow(/SIGNING must be one of \[none, digest, pgp\]/);
  });

  it('has its key under a passphrase', async () => {
    const locked = await makeKeys('locked', { passphrase: 'open sesame' });
    expect(await problemOf(locked.privateKey)).toMatch(
      /SIGNING_KEY_PASSPHRASE does not open its last private key$/,
    );
    const app = await startedWith(locked.privateKey, { signingKeyPassphrase: 'open sesame' });
    expect(await stateOf(app, await givenComposition(app, ehrId))).toBe('verified');
  });

  it('verifies what a key signed while it was valid, and what a clock ahead of this one dates', async () => {
    const keys = await makeKeys('old', {
      date: new Date(Date.now() - 2 * HOUR_MS),
      keyExpirationTime: HOUR_S,
    });
    const key = await readPrivateKey({ armoredKey: keys.privateKey });
    const ring = new KeyRing([key], key);
    const then = await signatureOf('text', keys, new Date(Date.now() - 1.5 * HOUR_MS));
    expect(await ring.judge('text', then)).toBe('verified');
    expect(await ring.judge('texts', then)).toBe('mismatched');
    await expect(ring.sign('text')).rejects.toMatchObject({ code: 'unavailable' });
    const own = new KeyRing([await readKey({ armoredKey: present.publicKey })], null);
    const soon = await signatureOf('text', present, new Date(Date.now() + HOUR_MS));
    expect(await own.judge('text', soon)).toBe('verified');
  });
});
