import { isDeepStrictEqual } from 'node:util';
import { CdrError } from '../../openehr/base/errors.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { LIFECYCLE } from '../../change/commit/codes.js';
import { subjectOf } from '../../change/commit/ehr-flags.js';
import type { VersionDoc } from '../../models/version.js';
import { requiredVersion, stateOf, withFields } from '../content.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import type { ContainerPair } from './pairs.js';
import type { MergeResolutions, PairChoice, Side } from '../request.js';

/** When the content of a container came to be, and the VERSION that has it: merges take content over. */
export interface ContentOrigin {
  readonly versionUid: string;
  readonly time: Date;
}

/** What is known of both sides of pairs, by object id. */
export interface PairFacts {
  readonly latest: ReadonlyMap<string, VersionDoc>;
  readonly origins: ReadonlyMap<string, ContentOrigin>;
}

/** A pair of persistent compositions with what becomes of it. */
export interface ChosenPair extends ContainerPair {
  /** Whose content goes on, or both as they are. */
  readonly choice: PairChoice;
  /** What decided: the request, that the other one is incomplete, or that its content came to be later. */
  readonly reason: 'chosen' | 'complete' | 'later';
}

/**
 * What becomes of each pair. An incomplete version never replaces a complete one. Pure.
 * See docs/spec/merge.md#resolutions.
 * @throws conflict when a choice names no pair, is made twice, or would let an incomplete version replace a complete one
 */
export function choosePairs(
  pairs: readonly ContainerPair[],
  facts: PairFacts,
  { compositions }: MergeResolutions,
): ChosenPair[] {
  const named = new Set(pairs.flatMap(namesOf));
  const unknown = [...compositions.keys()].filter((name) => !named.has(name));
  if (unknown.length > 0)
    throw new CdrError('conflict', `resolutions name what is no pair of this merge: ${unknown.join(', ')}`);
  return pairs.map((pair) => chosen(pair, facts, compositions));
}

/** What a choice may call a pair: its template, and both containers. */
function namesOf({ templateId, source, target }: ContainerPair): string[] {
  return [templateId, source._id, target._id];
}

function chosen(
  pair: ContainerPair,
  { latest, origins }: PairFacts,
  choices: MergeResolutions['compositions'],
): ChosenPair {
  const words = new Set(namesOf(pair).flatMap((name) => choices.get(name) ?? []));
  if (words.size > 1)
    throw new CdrError('conflict', `resolutions choose differently for the pair of ${pair.templateId}`);
  const complete = completeSide(pair, latest);
  const [choice] = words;
  if (choice === undefined)
    return {
      ...pair,
      choice: complete ?? laterSide(pair, origins),
      reason: complete === null ? 'later' : 'complete',
    };
  if (choice !== 'both' && complete !== null && choice !== complete)
    throw new CdrError(
      'conflict',
      `resolutions let ${pair[choice].latest_version_uid}, which is incomplete, replace the complete ${pair[complete].latest_version_uid}`,
    );
  return { ...pair, choice, reason: 'chosen' };
}

/** The one side that is complete while the other one is not; null: both are alike. */
function completeSide(pair: ContainerPair, latest: ReadonlyMap<string, VersionDoc>): Side | null {
  const isIncomplete = (side: Side): boolean =>
    stateOf(requiredVersion(latest, pair[side])) === LIFECYCLE.incomplete;
  if (isIncomplete('source') === isIncomplete('target')) return null;
  return isIncomplete('source') ? 'target' : 'source';
}

function laterSide({ source, target }: ContainerPair, origins: PairFacts['origins']): Side {
  return originOf(source, origins).time.getTime() > originOf(target, origins).time.getTime()
    ? 'source'
    : 'target';
}

/** Where the content of a container is from; its latest version where no merge brought it. */
export function originOf(
  { _id, latest_version_uid: versionUid, latest_time_committed: time }: VersionedObjectDoc,
  origins: PairFacts['origins'],
): ContentOrigin {
  return origins.get(_id) ?? { versionUid, time };
}

/** What the EHR_STATUS of both EHRs say differently. */
export interface StatusDifference {
  readonly field: string;
  /** null: the attribute is absent. */
  readonly source: JsonValue;
  readonly target: JsonValue;
  /** Whose value the target has afterwards. */
  readonly survivor: Side;
}

/** What is no statement about the patient. */
const NOT_COMPARED = new Set(['_type', 'uid']);

/** Attributes in which two EHR_STATUS differ, and which side stays: the target's unless the request chose. Pure. */
export function statusDifferences(
  source: JsonObject,
  target: JsonObject,
  { ehrStatus }: MergeResolutions,
): StatusDifference[] {
  const choices: ReadonlyMap<string, Side> = ehrStatus;
  const fields = new Set([...Object.keys(source), ...Object.keys(target)]);
  return [...fields]
    .filter((field) => !NOT_COMPARED.has(field) && !isDeepStrictEqual(source[field], target[field]))
    .sort()
    .map((field) => ({
      field,
      source: source[field] ?? null,
      target: target[field] ?? null,
      survivor: choices.get(field) ?? 'target',
    }));
}

/**
 * The target's EHR_STATUS with the attributes of the source that were chosen; null: it stays as it is. Pure.
 * @throws conflict when the source was chosen for a subject that it does not have
 */
export function mergedStatus(
  target: JsonObject,
  differences: readonly StatusDifference[],
): JsonObject | null {
  const taken = differences.filter(({ survivor }) => survivor === 'source');
  if (taken.length === 0) return null;
  const status = withFields(
    target,
    taken.map(({ field, source }) => [field, source]),
  );
  if (taken.some(({ field }) => field === 'subject') && subjectOf(status) === null)
    throw new CdrError('conflict', 'resolutions choose the subject of the source, which has no external_ref');
  return status;
}
