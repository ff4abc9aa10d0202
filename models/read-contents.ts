import { Binary, deserialize } from 'bson';
import { step } from '../openehr/base/work.js';
import type { EhrDoc } from './ehr.js';
import { unknownEncoding } from './inflated.js';
import type { StoredVersion } from './version-text.js';

/** What a row of `contentsPlan` holds: an EHR, and one of its VERSIONs if it has any. */
interface StoredRow {
  readonly ehr: EhrDoc;
  readonly version?: StoredVersion;
}

/** A VERSION whose content is still as it is stored: text, or compressed. */
export interface UnreadVersion extends Omit<StoredVersion, 'data' | 'encoding'> {
  readonly content: string | Uint8Array | null;
}

/** What the EHRs of a query hold. */
interface Contents {
  readonly ehrs: readonly EhrDoc[];
  readonly versions: readonly UnreadVersion[];
}

/**
 * EHRs and VERSIONs of rows of `contentsPlan`, which are BSON documents one behind another; pure, for threads without a database.
 * A VERSION names the EHR that it belongs to, also while a merge moves it.
 * @throws Error for content of an encoding that this release does not know
 */
export function readContents(chunks: readonly Uint8Array[]): Contents {
  const ehrs = new Map<string, EhrDoc>();
  const versions: UnreadVersion[] = [];
  for (const chunk of chunks)
    for (const { ehr, version } of rowsOf(chunk)) {
      step();
      ehrs.set(ehr._id, ehr);
      if (version !== undefined) versions.push({ ...version, ehr_id: ehr._id, content: contentOf(version) });
    }
  return { ehrs: [...ehrs.values()], versions };
}

function* rowsOf(chunk: Uint8Array): Generator<StoredRow> {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  let start = 0;
  while (start < chunk.byteLength) {
    step();
    const end = start + view.getInt32(start, true);
    yield deserialize(chunk.subarray(start, end)) as StoredRow;
    start = end;
  }
}

function contentOf({ _id, encoding, data }: StoredVersion): string | Uint8Array | null {
  const content: unknown = data;
  if (!(content instanceof Binary)) return content as string | null;
  if (encoding !== 'deflate') throw unknownEncoding(_id, encoding);
  return content.buffer.subarray(0, content.position);
}
