import { createHash } from 'node:crypto';

/** What a server has answered, all together and in whatever order. */
export interface AnswerDigest {
  readonly count: number;
  /**
   * The sum modulo 2^256 of the SHA-256 of each path with its answer (the rows of a query), in hexadecimal: the same as long as the server says the same
   * to the same questions. A sum, for what is asked twice counts twice.
   */
  readonly sha256: string;
}

/** The digest of no answer. */
export const NO_ANSWER: AnswerDigest = { count: 0, sha256: '0'.repeat(64) };

const MODULUS = 1n << 256n;
const numberOf = (hex: string): bigint => BigInt(`0x${hex}`);

/** The digest of one answer. */
export function answerDigest(path: string, status: number, said: string): AnswerDigest {
  return { count: 1, sha256: createHash('sha256').update(`${path}\n${status}\n${said}`).digest('hex') };
}

/** The digest of what two stand for, together. */
export function addedAnswers(one: AnswerDigest, other: AnswerDigest): AnswerDigest {
  const sum = (numberOf(one.sha256) + numberOf(other.sha256)) % MODULUS;
  return { count: one.count + other.count, sha256: sum.toString(16).padStart(64, '0') };
}
