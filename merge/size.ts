import type { MergeSnapshot } from './plan/plan.js';
import type { MergeWay } from './steps.js';

/** What one transaction of the embedded database holds, and surely of any other. */
const SURE_BYTES = 256 * 1024 * 1024;

/** A VERSION once as text and once taken apart for queries. */
const BYTES_PER_BYTE = 3;
/** Of a document beside the content of a VERSION. */
const BYTES_PER_DOCUMENT = 500;
/** Measured on two cores: docs/performance.md. */
const SECONDS_PER_DOCUMENT = 0.000_2;
/** A merge in steps is published to the servers, and waits for them. */
const SECONDS_OF_STEPS = 1;

/** About how large a merge is, and whether it can be written the way it goes. */
export interface MergeSize {
  readonly documents: number;
  readonly bytes: number;
  readonly limit_bytes: number;
  readonly expected_seconds: number;
  readonly fits: boolean;
}

/** Estimates a merge from what it changes: every VERSION with its derived document, containers, CONTRIBUTIONs, tags. Pure. */
export function sizeOf({ source }: Pick<MergeSnapshot, 'source'>, way: MergeWay): MergeSize {
  const { versions, counts } = source;
  const listed = {
    compositions: source.containers.length,
    contributions: source.contributionUids.length,
    tags: source.tags.length,
  };
  const { compositions, contributions, tags } = counts ?? listed;
  const documents = versions.count * 2 + compositions + contributions + tags;
  const bytes = Math.round(
    versions.count * versions.averageBytes * BYTES_PER_BYTE + documents * BYTES_PER_DOCUMENT,
  );
  const seconds = documents * SECONDS_PER_DOCUMENT + (way === 'steps' ? SECONDS_OF_STEPS : 0);
  return {
    documents,
    bytes,
    limit_bytes: SURE_BYTES,
    expected_seconds: Math.ceil(seconds * 10) / 10,
    fits: way === 'steps' || bytes <= SURE_BYTES,
  };
}
