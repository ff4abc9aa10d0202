import { FIELD } from '../../index/document.js';
import { IMPORTED_KEY } from '../../index/keys.js';
import { fieldCondition } from '../../index/field-condition.js';
import { indexedClass, indexedField, type IndexedClass } from '../../index/indexed-paths.js';
import type { Predicate, PredicateCondition } from '../../syntax/ast.js';
import type { Alias, FromClass, FromNode } from '../../semantics/scope-types.js';
import { ROOT_TYPES, type RootType } from '../../../openehr/rm/root-type.js';
import type { MongoValue, Stage } from '../../index/stage.js';
import { isLatestOnly, isOneBranch } from '../../plan/steps.js';
import type { DocumentsStep, Step } from '../../plan/steps.js';
import { isRootClass } from '../../semantics/node-classes.js';
import { archetypeIdsOf } from '../../semantics/node-classes.js';
import { counted } from '../../../openehr/base/work.js';
import { required } from '../../../openehr/base/required.js';

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

/** Finds the `aql` documents of an operand of FROM. `ehr`: see `DocumentsStep`. */
export function documentsOf(
  node: FromClass,
  visibility: Visibility,
  ehr: number | null,
  extra: readonly Stage[],
): Step {
  const version = versionAlias(node);
  const { asOf } = visibility;
  const { keys, conditions } = documentKeys(node, visibility);
  return {
    kind: 'documents',
    ehr,
    owner: ownerOf(visibility),
    rootTypes: reachableRootTypes(node),
    keys,
    conditions: [...conditions, ...versionClass(version), ...extra],
    exact: version === null ? [] : versionMatches(version.predicate, visibility.systemId),
    index: [],
    versions: (version?.versions ?? 'latest') === 'latest' ? 'latest' : 'all',
    asOf,
    isOfOneEhr: visibility.ehrId !== null || visibility.joined,
  };
}

function ownerOf({ ehrId, joined: isJoined }: Visibility): DocumentsStep['owner'] {
  if (isJoined) return 'joined';
  return ehrId === null ? 'queryable' : { ehrId };
}

/** What was imported, or all else, where the class says so: what was restored as it was made is an ORIGINAL_VERSION too. */
function versionClass(version: Alias | null): Stage[] {
  const [only, ...others] = version?.classes ?? [];
  if (only === undefined || others.length > 0) return [];
  return [{ [FIELD.keys]: only === IMPORTED_KEY ? only : { $nin: [IMPORTED_KEY] } }];
}

/** The VERSION class that an operand starts with, if it does. */
function versionAlias(node: FromClass): Alias | null {
  return node.alias.kind === 'version' ? node.alias : null;
}

/** The class of the versioned root in an operand, when it names one. */
export function rootClass(node: FromClass): FromClass | null {
  const { alias, contains } = node;
  if (alias.kind === 'object') return counted(alias.classes).every(isRootClass) ? node : null;
  return contains?.negated === false && contains.child.kind === 'class' ? rootClass(contains.child) : null;
}

/** The types of versioned object that can match the whole operand. */
function reachableRootTypes(node: FromNode): readonly RootType[] {
  if (node.kind !== 'class') {
    const each = counted(node.operands).map(reachableRootTypes);
    return ROOT_TYPES.filter((type) =>
      node.kind === 'and'
        ? counted(each).every((types) => types.includes(type))
        : counted(each).some((types) => types.includes(type)),
    );
  }
  const { alias, contains } = node;
  if (alias.kind !== 'version' || contains === null || contains.negated) return alias.rootTypes;
  const inner = reachableRootTypes(contains.child);
  return counted(alias.rootTypes).filter((type) => inner.includes(type));
}

/** Conditions on the versions that are asked for: in one branch or two (see `isOneBranch`). */
export function inVersions(
  conditions: readonly Stage[],
  which: Pick<DocumentsStep, 'versions' | 'asOf' | 'isOfOneEhr'>,
): Stage {
  const { asOf } = which;
  if (isLatestOnly(which)) return joinConditions([{ [FIELD.isLatest]: true }, ...conditions]);
  if (isOneBranch(which)) return joinConditions(conditions);
  if (asOf === null) return bothBranches(conditions, [], []);
  const committed: Stage = { [FIELD.timeCommitted]: { $lte: asOf } };
  const replaced: Stage[] = which.versions === 'all' ? [] : [{ [FIELD.replacedAt]: { $gt: asOf } }];
  return bothBranches(conditions, [committed], [committed, ...replaced]);
}

/** The latest versions (at `as_of`) that fit some conditions, joined by their EHR. */
export function latestMatch(conditions: readonly Stage[], visibility: Visibility): Stage {
  return inVersions(conditions, { versions: 'latest', asOf: visibility.asOf, isOfOneEhr: true });
}

function bothBranches(all: readonly Stage[], current: readonly Stage[], past: readonly Stage[]): Stage {
  return {
    $or: [
      joinConditions([{ [FIELD.isLatest]: true }, ...all, ...current]),
      joinConditions([{ [FIELD.isLatest]: false }, ...all, ...past]),
    ],
  };
}

/** Conditions as one match document; those on the same field go under `$and`. */
function joinConditions(conditions: readonly Stage[]): Stage {
  const merged: Record<string, MongoValue> = {};
  const rest: Stage[] = [];
  for (const condition of counted(conditions)) {
    const fields = Object.keys(condition);
    if (counted(fields).some((field) => field in merged)) rest.push(condition);
    else Object.assign(merged, condition);
  }
  return rest.length === 0
    ? merged
    : { ...merged, $and: [...((merged.$and ?? []) as MongoValue[]), ...rest] };
}

// ---------------------------------------------------------------- keys

/** `keys` that a matching document must have: the deepest archetype first, as it bounds the index best. */
function documentKeys(node: FromClass, visibility: Visibility): Pick<DocumentsStep, 'keys' | 'conditions'> {
  const { all, others } = requiredKeys(node, visibility);
  const distinct = [...new Set(all)];
  const archetypes = counted(distinct)
    .filter((key) => key.includes('.'))
    .reverse();
  // Classes add little once an archetype is known.
  const keys = archetypes.length > 0 ? archetypes : distinct;
  const excluded = excludedKeys(node, visibility);
  if (keys.length > 0 || others.length > 0) return { keys, conditions: [...others, ...excluded] };
  const [only, ...more] = reachableRootTypes(node);
  const ofTypes = only !== undefined && more.length === 0 ? only : { $in: reachableRootTypes(node) };
  return { keys, conditions: [{ [FIELD.keys]: ofTypes }, ...excluded] };
}

interface RequiredKeys {
  readonly all: readonly string[];
  /** Conditions with alternatives. */
  readonly others: readonly Stage[];
}

function requiredKeys(node: FromNode, visibility: Visibility): RequiredKeys {
  if (node.kind !== 'class') {
    const each = counted(node.operands).map((operand) => requiredKeys(operand, visibility));
    if (node.kind === 'and') return requiredTogether(each);
    if (counted(each).some(({ all, others }) => all.length === 0 && others.length === 0)) return NONE;
    if (counted(each).every(({ all, others }) => all.length === 1 && others.length === 0))
      return { all: [], others: [{ [FIELD.keys]: { $in: counted(each).flatMap(({ all }) => all) } }] };
    return { all: [], others: [{ $or: counted(each).map(asMatch) }] };
  }
  const own = ownKeys(node.alias, visibility);
  const stays = node.contains !== null && !node.contains.negated && !leavesDocument(node);
  return stays ? requiredTogether([own, requiredKeys(node.contains.child, visibility)]) : own;
}

/** Below a FOLDER other documents follow. */
function leavesDocument(node: FromClass): boolean {
  return node.alias.classes.includes('FOLDER');
}

const NONE: RequiredKeys = { all: [], others: [] };

function requiredTogether(parts: readonly RequiredKeys[]): RequiredKeys {
  return {
    all: counted(parts).flatMap(({ all }) => all),
    others: counted(parts).flatMap(({ others }) => others),
  };
}

function asMatch({ all, others }: RequiredKeys): Stage {
  return joinConditions([...(all.length === 0 ? [] : [{ [FIELD.keys]: { $all: [...all] } }]), ...others]);
}

function ownKeys(alias: Alias, visibility: Visibility): RequiredKeys {
  if (alias.kind !== 'object') return NONE;
  const ids = visibility.subsumption ? null : archetypeIdsOf(alias);
  const names = ids ?? alias.classes;
  const [only] = names;
  if (names.length === 1 && only !== undefined) return { all: [only], others: [] };
  // A list of nearly all classes excludes nothing that the type does not.
  return names.length > 12 ? NONE : { all: [], others: [{ [FIELD.keys]: { $in: [...names] } }] };
}

/** `root NOT CONTAINS class` without further conditions is exactly the lack of a key. */
function excludedKeys(node: FromClass, visibility: Visibility): Stage[] {
  const root = rootClass(node);
  const key = root === null ? null : excludedKey(root, visibility);
  return key === null ? [] : [{ [FIELD.keys]: { $nin: [...key] } }];
}

/** Keys whose lack is all that a NOT CONTAINS below a root says; null when more has to be looked at. */
export function excludedKey(node: FromClass, visibility: Visibility): readonly string[] | null {
  const { alias, contains } = node;
  const isRoot = counted(alias.classes).every((each) => each === 'COMPOSITION' || each === 'EHR_STATUS');
  if (contains?.negated !== true || !isRoot || contains.child.kind !== 'class') return null;
  const { alias: inner, contains: deeper } = contains.child;
  if (deeper !== null || counted(inner.classes).some((each) => alias.classes.includes(each))) return null;
  return inner.predicate === null ? inner.classes : bareArchetype(inner, visibility);
}

/** The archetype id of `CLASS [id]` without any other condition. */
function bareArchetype({ classes, predicate }: Alias, { subsumption }: Visibility): readonly string[] | null {
  const conditions = onlyAlternative(predicate) ?? [];
  const [first] = conditions;
  if (conditions.length !== 1 || first?.kind !== 'node' || first.name !== null || subsumption) return null;
  const { id } = first;
  return id.isArchetypeId && classes.length === 1 && id.value.includes(`-${required(classes[0], 'class')}.`)
    ? [id.value]
    : null;
}

// ---------------------------------------------------------------- predicates on documents

/** Native conditions that follow from a VERSION predicate: its uid and commit time. */
function versionMatches(predicate: Predicate | null, systemId: string): Stage[] {
  return predicateMatches('VERSION', predicate, systemId);
}

function predicateMatches(
  owner: IndexedClass | null,
  predicate: Predicate | null,
  systemId: string,
): Stage[] {
  return counted(onlyAlternative(predicate) ?? []).flatMap((condition) => {
    if (condition.kind !== 'predicate-comparison') return [];
    const { path, operator, operand } = condition;
    const field = indexedField(owner, path.steps);
    // The start time of a COMPOSITION is compared after the match.
    if (field === FIELD.startTime) return [];
    const match = fieldCondition(field, operator, operand, systemId);
    return match === null ? [] : [match];
  });
}

/** Whether the native match says all that a VERSION predicate does. */
export function isCoveredByMatch(predicate: Predicate, systemId: string): boolean {
  const conditions = onlyAlternative(predicate);
  return (
    conditions !== null &&
    counted(conditions).every((condition) => {
      const one = { ...predicate, alternatives: [[condition]] };
      return versionMatches(one, systemId).length === 1;
    })
  );
}

/** Native conditions that follow from the predicate of a versioned root: its uid and template. */
export function rootMatches(alias: Alias, systemId: string): Stage[] {
  return predicateMatches(indexedClass(alias), alias.predicate, systemId);
}

function onlyAlternative(predicate: Predicate | null): readonly PredicateCondition[] | null {
  const [first, second] = predicate?.alternatives ?? [];
  return first === undefined || second !== undefined ? null : first;
}
