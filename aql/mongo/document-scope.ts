import { templateKey } from '../../models/layout.js';
import type { Predicate, PredicateComparison, PredicateCondition } from '../syntax/ast.js';
import { parseVersionOperand } from '../semantics/identifier-operand.js';
import type { Alias, FromClass, FromNode, RootType } from '../semantics/scope-types.js';
import type { Expression, Stage } from './expression.js';
import { archetypeIdsOf } from './region.js';
import { isRootClass } from './types.js';
import { literalIn } from './comparison.js';

/** Which documents a query may see at all. */
export interface Visibility {
  /** The one EHR that is asked for; null = all queryable ones. */
  readonly ehrId: string | null;
  /** Joined by its EHR to something that is visible: no condition on the owner is needed. */
  readonly joined: boolean;
  /** Request parameter `as_of`. */
  readonly asOf: Date | null;
  readonly systemId: string;
  readonly subsumption: boolean;
}

/** A native match on `aql` that finds the documents of an operand of FROM: necessary, not sufficient. */
export function documentMatch(node: FromClass, visibility: Visibility, extra: readonly Stage[]): Stage {
  const version = versionAlias(node);
  // Every version here was made here.
  if (version !== null && !version.classes.includes('ORIGINAL_VERSION')) return { _id: { $in: [] } };
  const conditions: Stage[] = [
    ...owner(visibility),
    ...typeMatch(rootTypesOf(node)),
    ...keyMatch(node, visibility),
    ...extra,
  ];
  const exact = version === null ? [] : versionMatches(version.predicate, visibility.systemId);
  return inVersions(version?.versions ?? 'latest', [...conditions, ...exact], visibility);
}

function owner({ ehrId, joined: isJoined }: Visibility): Stage[] {
  if (isJoined) return [];
  return ehrId === null ? [{ q: true }] : [{ ehr: { $eq: ehrId } }];
}

/** The VERSION class that an operand starts with, if it does. */
function versionAlias(node: FromClass): Alias | null {
  return node.alias.kind === 'version' ? node.alias : null;
}

/** The class of the versioned root in an operand, when it names one. */
export function rootClass(node: FromClass): FromClass | null {
  const { alias, contains } = node;
  if (alias.kind === 'object') return alias.classes.every(isRootClass) ? node : null;
  return contains?.negated === false && contains.child.kind === 'class' ? rootClass(contains.child) : null;
}

/** The types of versioned object that can match the whole operand. */
function rootTypesOf(node: FromNode): readonly RootType[] {
  if (node.kind !== 'class') {
    const each = node.operands.map(rootTypesOf);
    const all: readonly RootType[] = ['COMPOSITION', 'EHR_STATUS', 'FOLDER'];
    return all.filter((type) =>
      node.kind === 'and'
        ? each.every((types) => types.includes(type))
        : each.some((types) => types.includes(type)),
    );
  }
  const { alias, contains } = node;
  if (alias.kind !== 'version' || contains === null || contains.negated) return alias.rootTypes;
  const inner = rootTypesOf(contains.child);
  return alias.rootTypes.filter((type) => inner.includes(type));
}

function typeMatch(types: readonly RootType[]): Stage[] {
  const [only] = types;
  if (types.length === 1 && only !== undefined) return [{ type: only }];
  return types.length === 3 ? [] : [{ type: { $in: [...types] } }];
}

/**
 * The partial indexes need `latest: true` or `latest: false` literally; for both there is one branch each, and
 * nothing may stand beside them (docs/spec/storage.md#indexes-of-aql). With one EHR the history index serves without.
 */
function inVersions(
  versions: Alias['versions'],
  conditions: readonly Stage[],
  { asOf, ehrId, joined: isJoined }: Visibility,
): Stage {
  const everything = versions !== 'latest';
  if (!everything && asOf === null) return joined([{ latest: true }, ...conditions]);
  if (asOf === null) {
    if (ehrId !== null || isJoined) return joined(conditions);
    return bothBranches(conditions, [], []);
  }
  const committed: Stage = { tc: { $lte: asOf } };
  const replaced: Stage[] = everything ? [] : [{ to: { $gt: asOf } }];
  return bothBranches(conditions, [committed], [committed, ...replaced]);
}

/** The latest versions (at `as_of`) that fit some conditions, joined by their EHR. */
export function latestMatch(conditions: readonly Stage[], visibility: Visibility): Stage {
  return inVersions('latest', conditions, { ...visibility, joined: true });
}

function bothBranches(all: readonly Stage[], current: readonly Stage[], past: readonly Stage[]): Stage {
  return {
    $or: [joined([{ latest: true }, ...all, ...current]), joined([{ latest: false }, ...all, ...past])],
  };
}

/** Conditions as one match document; those on the same field go under `$and`. */
function joined(conditions: readonly Stage[]): Stage {
  const merged: Record<string, Expression> = {};
  const rest: Stage[] = [];
  for (const condition of conditions) {
    const fields = Object.keys(condition);
    if (fields.some((field) => field in merged)) rest.push(condition);
    else Object.assign(merged, condition);
  }
  return rest.length === 0
    ? merged
    : { ...merged, $and: [...((merged.$and ?? []) as Expression[]), ...rest] };
}

// ---------------------------------------------------------------- keys

/** `keys` that a matching document must have: the deepest archetype first, as it bounds the index best. */
function keyMatch(node: FromClass, visibility: Visibility): Stage[] {
  const { all, others } = requiredKeys(node, visibility);
  const distinct = [...new Set(all)];
  const archetypes = distinct.filter((key) => key.includes('.')).reverse();
  // Classes add little once an archetype is known.
  const keys = archetypes.length > 0 ? archetypes : distinct;
  const [only] = keys;
  const excluded = excludedKeys(node, visibility);
  if (keys.length === 0 && others.length === 0) {
    const types = rootTypesOf(node);
    return [{ keys: types.length === 1 ? (types[0] ?? null) : { $in: [...types] } }, ...excluded];
  }
  const required: Stage[] =
    only === undefined ? [] : [{ keys: keys.length === 1 ? { $eq: only } : { $all: keys } }];
  return [...required, ...others, ...excluded];
}

interface RequiredKeys {
  readonly all: readonly string[];
  /** Conditions with alternatives. */
  readonly others: readonly Stage[];
}

function requiredKeys(node: FromNode, visibility: Visibility): RequiredKeys {
  if (node.kind !== 'class') {
    const each = node.operands.map((operand) => requiredKeys(operand, visibility));
    if (node.kind === 'and') return together(each);
    if (each.some(({ all, others }) => all.length === 0 && others.length === 0)) return NONE;
    if (each.every(({ all, others }) => all.length === 1 && others.length === 0))
      return { all: [], others: [{ keys: { $in: each.flatMap(({ all }) => all) } }] };
    return { all: [], others: [{ $or: each.map(asMatch) }] };
  }
  const own = ownKeys(node.alias, visibility);
  const stays = node.contains !== null && !node.contains.negated && !leavesDocument(node);
  return stays ? together([own, requiredKeys(node.contains.child, visibility)]) : own;
}

/** Below a FOLDER other documents follow. */
function leavesDocument(node: FromClass): boolean {
  return node.alias.classes.includes('FOLDER');
}

const NONE: RequiredKeys = { all: [], others: [] };

function together(parts: readonly RequiredKeys[]): RequiredKeys {
  return { all: parts.flatMap(({ all }) => all), others: parts.flatMap(({ others }) => others) };
}

function asMatch({ all, others }: RequiredKeys): Stage {
  return joined([...(all.length === 0 ? [] : [{ keys: { $all: [...all] } }]), ...others]);
}

function ownKeys(alias: Alias, visibility: Visibility): RequiredKeys {
  if (alias.kind !== 'object') return NONE;
  const ids = visibility.subsumption ? null : archetypeIdsOf(alias);
  const names = ids ?? alias.classes;
  const [only] = names;
  if (names.length === 1 && only !== undefined) return { all: [only], others: [] };
  // A list of nearly all classes excludes nothing that the type does not.
  return names.length > 12 ? NONE : { all: [], others: [{ keys: { $in: [...names] } }] };
}

/** `root NOT CONTAINS class` without further conditions is exactly the lack of a key. */
function excludedKeys(node: FromClass, visibility: Visibility): Stage[] {
  const root = rootClass(node);
  const key = root === null ? null : excludedKey(root, visibility);
  return key === null ? [] : [{ keys: { $nin: [...key] } }];
}

/** Keys whose lack is all that a NOT CONTAINS below a root says; null when more has to be looked at. */
export function excludedKey(node: FromClass, visibility: Visibility): readonly string[] | null {
  const { alias, contains } = node;
  const isRoot = alias.classes.every((each) => each === 'COMPOSITION' || each === 'EHR_STATUS');
  if (contains?.negated !== true || !isRoot || contains.child.kind !== 'class') return null;
  const { alias: inner, contains: deeper } = contains.child;
  if (deeper !== null || inner.classes.some((each) => alias.classes.includes(each))) return null;
  return inner.predicate === null ? inner.classes : bareArchetype(inner, visibility);
}

/** The archetype id of `CLASS [id]` without any other condition. */
function bareArchetype({ classes, predicate }: Alias, { subsumption }: Visibility): readonly string[] | null {
  const conditions = onlyAlternative(predicate) ?? [];
  const [first] = conditions;
  if (conditions.length !== 1 || first?.kind !== 'node' || first.name !== null || subsumption) return null;
  const [name] = classes;
  const { id } = first;
  return id.isArchetypeId && classes.length === 1 && id.value.includes(`-${name ?? ''}.`) ? [id.value] : null;
}

// ---------------------------------------------------------------- predicates on documents

/** Native conditions that follow from a VERSION predicate: its uid and commit time. */
function versionMatches(predicate: Predicate | null, systemId: string): Stage[] {
  return (onlyAlternative(predicate) ?? []).flatMap((condition) => {
    if (condition.kind !== 'predicate-comparison') return [];
    const path = condition.path.steps.map(({ attribute }) => attribute).join('/');
    if (path === 'uid/value') return uidMatch(condition, systemId);
    if (path === 'commit_audit/time_committed' || path === 'commit_audit/time_committed/value')
      return timeMatch(condition);
    return [];
  });
}

/** Whether the native match says all that a VERSION predicate does. */
export function isCoveredByMatch(predicate: Predicate, systemId: string): boolean {
  const conditions = onlyAlternative(predicate);
  return (
    conditions !== null &&
    conditions.every((condition) => {
      const one = { ...predicate, alternatives: [[condition]] };
      return versionMatches(one, systemId).length === 1;
    })
  );
}

/** Native conditions that follow from the predicate of a versioned root: its uid and template. */
export function rootPredicate(predicate: Predicate | null, systemId: string): Stage[] {
  return (onlyAlternative(predicate) ?? []).flatMap((condition) => {
    if (condition.kind !== 'predicate-comparison' || condition.operator !== '=') return [];
    const path = condition.path.steps.map(({ attribute }) => attribute).join('/');
    if (path === 'uid/value') return uidMatch(condition, systemId);
    if (path === 'archetype_details/template_id/value' && condition.operand.kind === 'string')
      return [{ keys: { $eq: templateKey(condition.operand.value) } }];
    return [];
  });
}

function onlyAlternative(predicate: Predicate | null): readonly PredicateCondition[] | null {
  const [first, second] = predicate?.alternatives ?? [];
  return first === undefined || second !== undefined ? null : first;
}

function uidMatch({ operator, operand }: PredicateComparison, systemId: string): Stage[] {
  if (operator !== '=' || operand.kind !== 'string') return [];
  return uidEquals(operand.value, systemId);
}

/** `_id` condition of `uid/value = text`; the ids of a container's versions start with its uuid. */
export function uidEquals(text: string, systemId: string): Stage[] {
  const uid = parseVersionOperand(text, systemId);
  if (uid === null) return [];
  if (uid.versionUid !== null) return [{ _id: { $eq: uid.versionUid } }];
  return [{ _id: { $gte: `${uid.versionedObjectUid}::`, $lt: `${uid.versionedObjectUid}:;` } }];
}

const TIME_OPERATOR: Readonly<Record<string, string>> = {
  '=': '$eq',
  '<': '$lt',
  '<=': '$lte',
  '>': '$gt',
  '>=': '$gte',
};

function timeMatch({ operator, operand }: PredicateComparison): Stage[] {
  const mongo = TIME_OPERATOR[operator];
  const instant = operand.kind === 'string' ? literalIn('instant', operand) : null;
  return mongo === undefined || typeof instant !== 'number' ? [] : [{ tc: { [mongo]: new Date(instant) } }];
}
