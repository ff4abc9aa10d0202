import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { Duplex } from 'node:stream';
import type * as Age from 'age-encryption';
import { typedPassword } from '../../src/identity/password.js';
import { secretIn } from './address.js';

/** The word of `--encrypt-to` that stands for a passphrase, and the variable that may hold it. */
const PASSPHRASE = 'passphrase';
const VARIABLE = 'EVERCHART_BACKUP_PASSPHRASE';

/** How a file in the format of age begins, and how its header says that a passphrase opens it. */
const BEGINNING = 'age-encryption.org/v1\n';
const BY_PASSPHRASE = '-> scrypt ';
/** A key that opens files, as `age-keygen` writes it. */
const IDENTITY = /^AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]+$/;

/** What makes a stream that is read of the one that is written. */
type Conversion = (input: ReadableStream<Uint8Array>) => Promise<AsyncIterable<Uint8Array>>;

/**
 * What encrypts in the format of age (age-encryption.org/v1). `to`: keys that begin with `age1`, each of which opens it alone, or the word `passphrase`.
 * @throws Error for what is no such key, and where no passphrase is given
 */
export async function encrypting(to: readonly string[]): Promise<() => Duplex> {
  const { Encrypter } = await age();
  const encrypter = new Encrypter();
  if (to.includes(PASSPHRASE)) {
    if (to.length > 1) throw new Error(`--encrypt-to ${PASSPHRASE} goes with no other key`);
    encrypter.setPassphrase(await passphraseTwice());
  } else for (const recipient of to) addRecipient(encrypter, recipient);
  return () => converted(async (input) => await encrypter.encrypt(input));
}

/**
 * What decrypts a file; null: it is not encrypted. `identityFile`: keys that may open it. Without it a passphrase does.
 * @throws Error where what opens it is missing or is none, and for a file that is not encrypted beside keys
 */
export async function decrypting(
  path: string,
  identityFile: string | undefined,
): Promise<(() => Duplex) | null> {
  const header = headerOf(path);
  if (!header.startsWith(BEGINNING)) {
    // Who expects what only a key opens would take what anybody may have written.
    if (identityFile !== undefined) throw new Error(`${path} is not encrypted: leave out --identity`);
    return null;
  }
  const isByPassphrase = header.includes(BY_PASSPHRASE);
  if (!isByPassphrase && identityFile === undefined)
    throw new Error(`${path} is encrypted to a key: name the file that holds its identity by --identity`);
  const { Decrypter } = await age();
  const decrypter = new Decrypter();
  if (isByPassphrase) decrypter.addPassphrase(await passphrase());
  else for (const identity of identitiesIn(identityFile ?? '')) addIdentity(decrypter, identity);
  const closed = isByPassphrase
    ? `the passphrase is not that of ${path}`
    : `no identity of ${identityFile ?? ''} opens ${path}`;
  return () =>
    converted(async (input) => readable(await decrypter.decrypt(input).catch(said(closed, path)), path));
}

/** The library, which nothing but an encrypted backup loads. */
async function age(): Promise<typeof Age> {
  const file = new URL('age.mjs', import.meta.url).href;
  return (await import(file)) as typeof Age;
}

/** @throws Error that does not repeat more than the beginning: it may be a key that opens files */
function addRecipient(encrypter: Age.Encrypter, recipient: string): void {
  try {
    encrypter.addRecipient(recipient);
  } catch (cause) {
    const hint = recipient.startsWith('AGE-SECRET-KEY') ? ', but one that opens files' : '';
    throw new Error(
      `--encrypt-to takes a key that begins with age1, or the word ${PASSPHRASE}; ${recipient.slice(0, 8)}… is none${hint}`,
      { cause },
    );
  }
}

function addIdentity(decrypter: Age.Decrypter, { text, place }: { text: string; place: string }): void {
  try {
    decrypter.addIdentity(text);
  } catch (cause) {
    throw new Error(`${place} is no identity of age`, { cause });
  }
}

/** @throws Error that repeats nothing of the file, and the system's own */
function identitiesIn(file: string): { readonly text: string; readonly place: string }[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const found = lines.flatMap((line, index) => {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) return [];
    const place = `line ${index + 1} of ${file}`;
    if (!IDENTITY.test(text))
      throw new Error(`${place} is no identity of age, which begins with AGE-SECRET-KEY-1`);
    return [{ text, place }];
  });
  if (found.length === 0) throw new Error(`${file} holds no identity of age`);
  return found;
}

async function passphraseTwice(): Promise<string> {
  const first = await passphrase();
  if (secretIn(VARIABLE) === null && (await typedPassword('Again: ')) !== first)
    throw new Error('the two passphrases differ');
  return first;
}

async function passphrase(): Promise<string> {
  const found = secretIn(VARIABLE);
  if (found !== null) return found;
  if (!process.stdin.isTTY) throw new Error(`the passphrase is missing: set ${VARIABLE}`);
  const typed = await typedPassword('Passphrase: ');
  if (typed === '') throw new Error('a passphrase has at least one character');
  return typed;
}

/** What stands at the beginning of a file; '' for a pipe, which has no place to read at. */
function headerOf(path: string): string {
  const first = Buffer.alloc(BEGINNING.length + BY_PASSPHRASE.length);
  const descriptor = openSync(path, 'r');
  try {
    return first.toString('latin1', 0, readSync(descriptor, first, 0, first.length, 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESPIPE') throw error;
    return '';
  } finally {
    closeSync(descriptor);
  }
}

function converted(convert: Conversion): Duplex {
  return Duplex.from(async function* (source: AsyncIterable<Uint8Array>) {
    yield* await convert(ReadableStream.from(source));
  });
}

async function* readable(chunks: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    said('', path)(error);
  }
}

/** What the library says in words of this product; what the system says of the file stays. `closed`: that nothing opens it. */
function said(closed: string, path: string): (error: unknown) => never {
  return (cause) => {
    const { message, code } = cause as NodeJS.ErrnoException;
    if (code !== undefined) throw cause;
    if (closed !== '' && message.includes('no identity matched')) throw new Error(closed, { cause });
    throw new Error(`${path} is not what was encrypted: it was cut or changed`, { cause });
  };
}
