import { setImmediate } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import type { DerivedContent } from '../aql/index/derive.js';

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
