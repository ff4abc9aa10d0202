/** The server's side of SCRAM-SHA-256. RFC 5802, RFC 7677. */
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';

/** The mechanism's name. */
export const MECHANISM = 'SCRAM-SHA-256';

const ITERATIONS = 15_000;
const SALT_BYTES = 28;
const NONCE_BYTES = 24;
const HASH_BYTES = 32;

/** A login that is refused: a malformed or replayed message, or the wrong proof. */
export class ScramError extends Error {}

/** What the server keeps of one user: nothing from which the password could be had. */
export interface ScramCredentials {
  readonly user: string;
  readonly salt: Buffer;
  readonly iterations: number;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

/** Credentials with a new salt. `password`: ASCII, which SASLprep leaves as it is. */
export function scramCredentials(user: string, password: string): ScramCredentials {
  const salt = randomBytes(SALT_BYTES);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, HASH_BYTES, 'sha256');
  return {
    user,
    salt,
    iterations: ITERATIONS,
    storedKey: createHash('sha256').update(hmac(salted, 'Client Key')).digest(),
    serverKey: hmac(salted, 'Server Key'),
  };
}

/** One login: the client's first message, then its final one, each once. */
export class ScramConversation {
  readonly #credentials: ScramCredentials;
  /** What the final message must belong to; null before the first and after the final one. */
  #begun: Begun | null = null;

  /** `credentials`: those of the only user; another user's login goes on to its end and fails there. */
  constructor(credentials: ScramCredentials) {
    this.#credentials = credentials;
  }

  /** Answers the client's first message. @throws ScramError when it is malformed */
  first(message: string): string {
    const parsed = CLIENT_FIRST.exec(message)?.groups as FirstParts | undefined;
    if (parsed === undefined) throw new ScramError('the first message is malformed');
    const { header, bare, user, nonce } = parsed;
    const { salt, iterations } = this.#credentials;
    const whole = nonce + randomBytes(NONCE_BYTES).toString('base64');
    const reply = `r=${whole},s=${salt.toString('base64')},i=${iterations}`;
    this.#begun = {
      header,
      nonce: whole,
      start: `${bare},${reply}`,
      isKnown: nameOf(user) === this.#credentials.user,
    };
    return reply;
  }

  /** Answers the client's final message. @throws ScramError when it is malformed or the proof is wrong */
  final(message: string): string {
    const begun = this.#begun;
    this.#begun = null; // a nonce serves once
    if (begun === null) throw new ScramError('there is no login that it belongs to');
    const parsed = CLIENT_FINAL.exec(message)?.groups as FinalParts | undefined;
    if (parsed === undefined) throw new ScramError('the final message is malformed');
    const { binding, nonce, proof } = parsed;
    if (nonce !== begun.nonce) throw new ScramError('the nonce is not that of this login');
    if (binding !== Buffer.from(begun.header).toString('base64')) {
      throw new ScramError('the channel binding is not that of the first message');
    }
    const { storedKey, serverKey } = this.#credentials;
    const text = `${begun.start},c=${binding},r=${nonce}`;
    const clientKey = xor(Buffer.from(proof, 'base64'), hmac(storedKey, text));
    const isProven = timingSafeEqual(createHash('sha256').update(clientKey).digest(), storedKey);
    if (!isProven || !begun.isKnown) throw new ScramError('the user or the password is wrong');
    return `v=${hmac(serverKey, text).toString('base64')}`;
  }
}

interface Begun {
  /** The header about channel binding of the first message. */
  readonly header: string;
  readonly nonce: string;
  /** What was said so far, as the proof covers it. */
  readonly start: string;
  readonly isKnown: boolean;
}

interface FirstParts {
  readonly header: string;
  readonly bare: string;
  readonly user: string;
  readonly nonce: string;
}

interface FinalParts {
  readonly binding: string;
  readonly nonce: string;
  readonly proof: string;
}

/** No channel binding, no other identity (`a=`), no extension that has to be understood (`m=`). Nonce: ≤ 256 characters. */
const CLIENT_FIRST =
  /^(?<header>[ny],,)(?<bare>n=(?<user>(?:[^,=\0]|=2C|=3D){1,256}),r=(?<nonce>[\x21-\x2b\x2d-\x7e]{1,256}))$/;
/** A proof of 32 bytes. */
const CLIENT_FINAL =
  /^c=(?<binding>[A-Za-z0-9+/=]{4,16}),r=(?<nonce>[\x21-\x2b\x2d-\x7e]{1,512}),p=(?<proof>[A-Za-z0-9+/]{43}=)$/;

function nameOf(escaped: string): string {
  return escaped.replaceAll('=2C', ',').replaceAll('=3D', '=');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function xor(one: Buffer, other: Buffer): Buffer {
  return Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0)));
}
