import { setImmediate } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { CdrError, type ErrorCode, type ErrorDetails } from '../openehr/base/errors.js';
import type { DerivedContent } from '../aql/index/derive.js';

/** What a job gives back over the boundary between threads: its value, or the refusal of what it was given. */
export type Answer<T> =
  | { readonly value: T }
  | {
      readonly refused: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly details: Pick<ErrorDetails, 'violations' | 'problems' | 'budget' | 'about'>;
      };
    };

/** Runs a job; errors lose their class between threads, so that a `CdrError` goes over as data. */
export function answerOf<T>(job: () => T): Answer<T> {
  try {
    return { value: job() };
  } catch (error) {
    return refusedBy(error);
  }
}

function refusedBy(error: unknown): Answer<never> {
  if (!(error instanceof CdrError)) throw error;
  const { code, message, details } = error;
  const { violations, problems, budget, about } = details;
  return {
    refused: {
      code,
      message,
      details: {
        ...(violations && { violations }),
        ...(problems && { problems }),
        ...(budget && { budget }),
        ...(about && { about }),
      },
    },
  };
}

/** The value of an answer. @throws CdrError that the job refused with */
export function valueOf<T>(answer: Answer<T>): T {
  if ('value' in answer) return answer.value;
  const { code, message, details } = answer.refused;
  throw new CdrError(code, message, details);
}

/** Derived content on its way between threads, in parts that each take little time to be read. */
export interface DerivedBytes {
  /** Without `segs` and `lv`. */
  readonly rest: Uint8Array;
  readonly segs: readonly Uint8Array[];
  readonly lv: readonly Uint8Array[];
}

/** So many segments or leaves make one part. */
const SEGMENTS_AT_ONCE = 20;
const LEAVES_AT_ONCE = 2000;

/** Serialises derived content. */
export function derivedBytes({ segs, lv, ...rest }: DerivedContent): DerivedBytes {
  return {
    rest: serialize(rest),
    segs: partsOf(segs, SEGMENTS_AT_ONCE),
    lv: partsOf(lv, LEAVES_AT_ONCE),
  };
}

/** Reads derived content back; between its parts other requests get their turn. */
export async function derivedFrom({ rest, segs, lv }: DerivedBytes): Promise<DerivedContent> {
  return {
    ...(deserialize(rest) as Omit<DerivedContent, 'segs' | 'lv'>),
    segs: await listOf<DerivedContent['segs'][number]>(segs),
    lv: await listOf<DerivedContent['lv'][number]>(lv),
  };
}

function partsOf(list: readonly unknown[], atOnce: number): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let start = 0; start < list.length; start += atOnce)
    parts.push(serialize(list.slice(start, start + atOnce)));
  return parts;
}

async function listOf<T>(parts: readonly Uint8Array[]): Promise<T[]> {
  const list: T[] = [];
  for (const part of parts) {
    for (const item of deserialize(part) as T[]) list.push(item);
    await setImmediate();
  }
  return list;
}
