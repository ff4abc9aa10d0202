import { readFile } from 'node:fs/promises';
import type * as OpenPgp from 'openpgp';
import type { Key, PrivateKey, PublicKey } from 'openpgp';
import type { Settings } from '../../config/settings.js';
import { CdrError } from '../../openehr/base/errors.js';

/** How a signature of OpenPGP begins in text; one that is longer than any that is made is not looked at. */
const ARMOR = '-----BEGIN PGP SIGNATURE-----';
const MAX_SIGNATURE = 16_384;
/** A file may hold several, one behind the other. */
const KEY_BLOCK = /-----BEGIN PGP (PUBLIC|PRIVATE) KEY BLOCK-----[\s\S]*?-----END PGP \1 KEY BLOCK-----/g;

/** What the keys of a ring tell of a signature. */
type Judgement = 'verified' | 'mismatched' | 'unverifiable';

/** OpenPGP keys of a server: what VERSIONs are signed with and verified by. docs/spec/storage.md#signatures */
export class KeyRing {
  readonly #keys: PublicKey[];
  readonly #signing: PrivateKey | null;

  /** `signing`: what signs; null: nothing is signed. */
  constructor(keys: readonly Key[], signing: PrivateKey | null) {
    this.#keys = keys.map((key) => key.toPublic());
    this.#signing = signing;
  }

  /** Whether one of the keys signs. */
  get signs(): boolean {
    return this.#signing !== null;
  }

  /** The signature of a text, apart from it. @throws unavailable when the key may sign no more */
  async sign(text: string): Promise<string> {
    if (this.#signing === null) throw new TypeError('no key of the ring signs');
    const { createMessage, sign } = await openPgp();
    const message = await createMessage({ binary: Buffer.from(text) });
    try {
      // Its type is not known without a peer of the package that is for streams.
      const signature: unknown = await sign({ message, signingKeys: this.#signing, detached: true });
      return String(signature);
    } catch (cause) {
      const why = 'the key that VERSIONs are signed with can sign no more: it has expired or was revoked';
      throw new CdrError('unavailable', why, { cause });
    }
  }

  /** Whether a signature is that of a text; where the ring lacks the key of one who made it, nobody here can tell. */
  async judge(text: string, signature: string): Promise<Judgement> {
    const { createMessage, readSignature, verify } = await openPgp();
    const read = await readSignature({ armoredSignature: signature }).catch(() => null);
    const makers = read?.getSigningKeyIDs() ?? [];
    const isKnown = makers.every((id) => this.#keys.some((key) => key.getKeys(id).length > 0));
    if (read === null || makers.length === 0 || !isKnown) return 'unverifiable';
    // A server whose clock is ahead may have made it.
    const made = Array.from(read.packets, ({ created }) => created?.getTime() ?? 0);
    const { signatures } = await verify({
      message: await createMessage({ binary: Buffer.from(text) }),
      signature: read,
      verificationKeys: this.#keys,
      date: new Date(Math.max(Date.now(), ...made)),
    });
    const outcomes = await Promise.allSettled(signatures.map(({ verified }) => verified));
    return outcomes.every(({ status }) => status === 'fulfilled') ? 'verified' : 'mismatched';
  }
}

/** The library, which only a server with a key ring loads. */
async function openPgp(): Promise<typeof OpenPgp> {
  const file = new URL('openpgp.mjs', import.meta.url).href;
  return (await import(file)) as typeof OpenPgp;
}

/** The ring of this process; null: it has none. */
export const keys: { ring: KeyRing | null } = { ring: null };

type RingSettings = Pick<Settings, 'signing' | 'signingKeysFile' | 'signingKeyPassphrase'>;

/** Reads the ring that the settings name: from now on it is that of this process. @throws Error naming what is wrong with it */
export async function openKeyRing(settings: RingSettings): Promise<void> {
  const { signingKeysFile: file } = settings;
  keys.ring = null;
  if (file === null) return;
  try {
    keys.ring = await ringOf(await readFile(file, 'utf8'), settings);
  } catch (error) {
    throw new Error(`SIGNING_KEYS_FILE ${file}: ${reasonOf(error)}`, { cause: error });
  }
}

async function ringOf(text: string, settings: RingSettings): Promise<KeyRing> {
  const { readKeys } = await openPgp();
  const found: Key[] = [];
  for (const [armoredKeys] of text.matchAll(KEY_BLOCK)) found.push(...(await readKeys({ armoredKeys })));
  if (found.length === 0) throw new Error('it holds no armored key of OpenPGP');
  return new KeyRing(found, settings.signing === 'pgp' ? await signingKeyOf(found, settings) : null);
}

/** The last private key signs, so that a new one is added behind those before it. */
async function signingKeyOf(
  found: readonly Key[],
  { signingKeyPassphrase: passphrase }: RingSettings,
): Promise<PrivateKey> {
  const { decryptKey } = await openPgp();
  const last = found.findLast((key): key is PrivateKey => key.isPrivate());
  if (last === undefined) throw new Error('it holds no private key, which SIGNING=pgp signs with');
  const opened = last.isDecrypted()
    ? last
    : await decryptKey({ privateKey: last, passphrase: passphrase ?? '' }).catch((cause: unknown) => {
        throw new Error('SIGNING_KEY_PASSPHRASE does not open its last private key', { cause });
      });
  await opened.getSigningKey().catch((cause: unknown) => {
    throw new Error(`its last private key cannot sign: ${reasonOf(cause)}`, { cause });
  });
  return opened;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether a signature is one of OpenPGP. */
export function isOpenPgp(signature: string): boolean {
  return signature.length <= MAX_SIGNATURE && signature.trimStart().startsWith(ARMOR);
}
