/**
 * Queries beside merges in steps: while documents of a source still name it as their owner, pipelines take them for the
 * target's. docs/spec/merge.md#in-steps
 */

import { FIELD } from '../../aql/index/document.js';

type Json = null | boolean | number | string | Date | readonly Json[] | { readonly [name: string]: Json };
type Stage = Readonly<Record<string, Json>>;

interface Lookup {
  readonly from: string;
  readonly localField?: string;
  readonly foreignField?: string;
  readonly as: string;
  readonly pipeline?: readonly Stage[];
}

/** Merges that are moving documents. */
export interface MovingMerges {
  /** Where the documents of an EHR that is being merged belong: source to target. */
  readonly targets: ReadonlyMap<string, string>;
  /** `is_queryable` of the target by the source, where that of the source's documents is another. */
  readonly queryable: ReadonlyMap<string, boolean>;
}

/** Fields of an `aql` document: its owner, and whether that is queryable. */
const OWNER = FIELD.ehrId;
const QUERYABLE = FIELD.isQueryable;

/** Fields by which documents of an EHR are joined, by collection. */
const JOINED_BY: Readonly<Record<string, string>> = {
  aql: OWNER,
  contributions: 'ehr_id',
  versions: 'ehr_id',
  versioned_objects: 'ehr_id',
};

/** The pipeline as it is to be run while these merges move documents; the same while none does. Pure. */
export function withMovedOwners(
  { collection, pipeline }: { readonly collection: string; readonly pipeline: readonly object[] },
  merges: MovingMerges,
): readonly object[] {
  return merges.targets.size === 0 ? pipeline : rewritten(collection, pipeline as readonly Stage[], merges);
}

function rewritten(collection: string, pipeline: readonly Stage[], merges: MovingMerges): Stage[] {
  const start = pipeline.findIndex((stage) => stage.$match === undefined);
  const matches = pipeline.slice(0, start === -1 ? pipeline.length : start);
  const rest = pipeline.slice(matches.length).flatMap((stage) => joins(stage, merges));
  if (collection !== 'aql') return [...matches, ...rest];
  const set: Stage = { $set: { [OWNER]: belongingTo(`$${OWNER}`, merges) } };
  return [...matches.map((stage) => ({ $match: condition(stage.$match ?? {}, merges) })), set, ...rest];
}

/** Conditions of a match: on the owner and what it decides, and expressions that compare it. */
function condition(match: Json, merges: MovingMerges): Json {
  if (Array.isArray(match)) return match.map((each: Json) => condition(each, merges));
  if (!isObject(match)) return match;
  const { [QUERYABLE]: isQueryable, ...others } = match;
  if (typeof isQueryable === 'boolean' && merges.queryable.size > 0)
    return { $and: [condition(others, merges), queryableCondition(isQueryable, merges)] };
  return Object.fromEntries(
    Object.entries(match).map(([name, value]) => {
      if (name === OWNER) return [name, ownerCondition(value, merges)];
      if (name === '$expr') return [name, inExpression(value, merges)];
      return [name, name.startsWith('$') ? condition(value, merges) : value];
    }),
  );
}

/** What a document says of a source's EHR does not hold while it is the target's. */
function queryableCondition(wanted: boolean, { queryable }: MovingMerges): Json {
  const found = [...queryable].filter(([, isQueryable]) => isQueryable === wanted).map(([source]) => source);
  const others = { [QUERYABLE]: wanted, [OWNER]: { $nin: [...queryable.keys()] } };
  return found.length === 0 ? others : { $or: [others, { [OWNER]: { $in: found } }] };
}

/** Who names the source as its owner is found by the target, and not by the source. */
function ownerCondition(value: Json, merges: MovingMerges): Json {
  if (typeof value === 'string') return { $in: ownersOf(value, merges) };
  if (!isObject(value)) return value;
  const { $eq: one, $in: some, ...others } = value;
  const wanted = [
    ...(typeof one === 'string' ? [one] : []),
    ...(Array.isArray(some) ? some.map(String) : []),
  ];
  if (wanted.length === 0) return value;
  return { ...others, $in: wanted.flatMap((ehrId) => ownersOf(ehrId, merges)) };
}

/** What documents of an EHR name as their owner: nothing for a source, its sources too for a target. Pure. */
export function ownersOf(ehrId: string, { targets }: MovingMerges): string[] {
  if (targets.has(ehrId)) return [];
  return [ehrId, ...[...targets].filter(([, target]) => target === ehrId).map(([source]) => source)];
}

function inExpression(value: Json, merges: MovingMerges): Json {
  if (value === `$${OWNER}`) return belongingTo(value, merges);
  if (Array.isArray(value)) return value.map((each: Json) => inExpression(each, merges));
  if (!isObject(value) || '$literal' in value) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, inExpression(member, merges)]),
  );
}

/** Joins: by all ids that documents of the EHR may name, and what is joined belongs to the target. */
function joins(stage: Stage, merges: MovingMerges): Stage[] {
  if (!isObject(stage.$lookup ?? null)) return [stage];
  const lookup = stage.$lookup as unknown as Lookup & Stage;
  const { from, localField, foreignField, pipeline } = lookup;
  const inner =
    pipeline === undefined && from !== 'aql' ? {} : { pipeline: rewritten(from, pipeline ?? [], merges) };
  const isByOwner = localField !== undefined && foreignField === JOINED_BY[from];
  if (!isByOwner || isOfFolders(pipeline)) return [{ $lookup: { ...lookup, ...inner } }];
  const owners = `owners_${lookup.as}`.replaceAll('.', '_');
  return [
    { $set: { [owners]: allOwners(`$${localField}`, merges) } },
    { $lookup: { ...lookup, ...inner, localField: owners } },
  ];
}

/** What a merge ends keeps its container, with the source. */
function isOfFolders(pipeline: readonly Stage[] | undefined): boolean {
  const match = pipeline?.[0]?.$match ?? null;
  return isObject(match) && match.type === 'FOLDER';
}

function belongingTo(field: string, { targets }: MovingMerges): Json {
  const branches = [...targets].map(([source, target]) => ({
    case: { $eq: [field, source] },
    then: target,
  }));
  return { $switch: { branches, default: field } };
}

function allOwners(field: string, merges: MovingMerges): Json {
  const branches = [...new Set(merges.targets.values())].map((target) => ({
    case: { $eq: [field, target] },
    then: ownersOf(target, merges),
  }));
  return { $switch: { branches, default: field } };
}

function isObject(value: Json): value is { readonly [name: string]: Json } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.getPrototypeOf(value) === Object.prototype
  );
}
