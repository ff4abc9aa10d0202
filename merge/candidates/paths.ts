import type { LeafSuffix } from '../../aql/index/document.js';
import { leafKey } from '../../aql/index/keys.js';

/** A configured path, and under which keys the leaf index has its values. */
export interface CandidatePath {
  /** As configured. */
  readonly text: string;
  readonly archetypeId: string;
  readonly leafKeys: readonly string[];
}

/** Paths that may be configured: each costs a look-up for every EHR. */
export const MAX_CANDIDATE_PATHS = 10;

const PATH =
  /^(openEHR-[A-Z0-9_]+-[A-Z0-9_]+\.[\w-]+\.v\d[\w.-]*)((?:\/[a-z_]+(?:\[(?:at|id)[\d.]+\])?)*\/[a-z_]+\[(?:at|id)[\d.]+\])\/(value\/.+)$/;

/** What a value may be compared by, and as what the leaf index holds it. */
const ENDINGS: Readonly<Record<string, readonly LeafSuffix[]>> = {
  'value/value': ['s', 'd', 't'],
  'value/id': ['i'],
  'value/defining_code/code_string': ['c'],
  'value/magnitude': ['m'],
};

const FORM =
  '<archetype id of the ELEMENT>/<attribute>[<at-code>]/…/value/value, such as openEHR-EHR-CLUSTER.telecom.v1/items[at0001]/value/value';

/**
 * The paths of `MERGE_CANDIDATE_PATHS`, a comma list. `problems`: what is wrong, empty when nothing is.
 * docs/spec/merge.md#candidates
 */
export function readCandidatePaths(texts: readonly string[]): {
  readonly paths: readonly CandidatePath[];
  readonly problems: readonly string[];
} {
  const read = texts.map(readPath);
  const problems = read.filter((each) => typeof each === 'string');
  if (texts.length > MAX_CANDIDATE_PATHS)
    problems.push(`${texts.length} paths are more than ${MAX_CANDIDATE_PATHS}`);
  const twice = texts.find((text, index) => texts.indexOf(text) !== index);
  if (twice !== undefined) problems.push(`${twice} is given twice`);
  return { paths: read.filter((each) => typeof each !== 'string'), problems };
}

/** The path, or what is wrong with it. */
function readPath(text: string): CandidatePath | string {
  const [, archetypeId, path, ending] = PATH.exec(text) ?? [];
  if (archetypeId === undefined || path === undefined || ending === undefined)
    return `${text} is no path of an ELEMENT's value: ${FORM}`;
  const suffixes = ENDINGS[ending];
  if (suffixes === undefined)
    return `${text} ends with ${ending}: it must end with one of ${Object.keys(ENDINGS).join(', ')}`;
  const leafKeys = suffixes.map((suffix) => leafKey(archetypeId, path, suffix));
  return { text, archetypeId, leafKeys };
}
