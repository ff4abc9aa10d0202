import { FIELD, SEGMENT_FIELD } from '../../index/document.js';
import { fieldRef, call, variable } from '../../plan/expression.js';
import { aqlError } from '../../syntax/aql-error.js';
import { MAX_OPEN_CONTAINS } from '../../syntax/limits.js';
import { boundAliases, firstClass } from '../../semantics/from-walk.js';
import type { Alias, FromClass, FromNode } from '../../semantics/scope-types.js';
import { classSet } from '../../semantics/typing.js';
import { bindAlias, joinedLevel, joinName, unfold, unseenLevel, unwind, unwindAny } from './bind-state.js';
import type { Fold, Level } from './bind-state.js';
import { absent, candidates, isFoldable, isVersioned, slotOf, tuples } from './contains.js';
import {
  documentsOf,
  excludedKey,
  isCoveredByMatch,
  rootClass,
  rootMatches,
} from '../document/document-scope.js';
import type { Expression, Reference } from '../../plan/expression.js';
import type { Stage } from '../../index/stage.js';
import { referencedIds } from './folder.js';
import { ehrOrVersionPredicateHolds } from '../path/virtual-object-predicate.js';
import type { AliasBinding } from '../path/binding.js';
import { elementOf, predicateHolds } from '../path/predicate.js';
import { documentSubtree, subtreeBelow } from './subtree.js';
import type { Subtree } from './subtree.js';
import { lookup, type LookupStep, type Step } from '../../plan/steps.js';
import { archetypeIdsOf } from '../../semantics/node-classes.js';
import { counted, step } from '../../../openehr/base/work.js';
import { zip } from '../../../openehr/base/required.js';

/**
 * Binds one operand inside the documents of `aql`: the match, then the classes below it.
 * docs/spec/aql.md#containment
 */
export function bindDocument(node: FromClass, level: Level, extra: readonly Stage[] = []): Step[] {
  const { visibility, ehr } = level.state;
  const root = rootClass(node);
  const fromRoot = root === null ? [] : rootMatches(root.alias, visibility.systemId);
  const documents = documentsOf(node, visibility, ehr, [...extra, ...fromRoot]);
  return [documents, ...bindVersionAndBelow(node, level)];
}

function bindVersionAndBelow(node: FromClass, level: Level): Step[] {
  const { alias, contains } = node;
  const whole = documentSubtree(fieldRef(FIELD.segments), null, null);
  if (alias.kind !== 'version') return bindBelow(node, whole, level);
  level.state.bindings.set(alias.index, {
    alias,
    document: level.prefix,
    object: null,
    slot: fieldRef(`${level.prefix}_id`),
    classes: classSet(alias.classes),
  });
  const own = versionPredicate(alias, level);
  if (contains === null) return own;
  if (contains.negated) return [...own, keepWhere(absent(contains.child, whole, level.state.binder))];
  return [...own, ...bindBelow(contains.child, whole, level)];
}

/** What the native match does not check of a VERSION. */
function versionPredicate(alias: Alias, level: Level): Step[] {
  const { binder, visibility } = level.state;
  if (alias.predicate === null || isCoveredByMatch(alias.predicate, visibility.systemId)) return [];
  const classes = classSet(alias.classes);
  const binding: AliasBinding = { alias, document: '', object: null, slot: fieldRef('_id'), classes };
  const steps: Step[] = [];
  const holds = ehrOrVersionPredicateHolds(alias.predicate, {
    ...{ binding, visibility, steps },
    environment: binder.environment,
  });
  return [...steps, keepWhere(holds)];
}

function keepWhere(condition: Expression): Step {
  return { kind: 'filter', condition };
}

/** Binds a part of FROM below a subtree, stage by stage. */
function bindBelow(node: FromNode, subtree: Subtree, level: Level): Step[] {
  step();
  if (level.fold !== undefined && isFoldable(node, subtree)) return folded(node, subtree, level, level.fold);
  if (node.kind !== 'class') return (node.kind === 'or' ? bindOr : bindAnd)(node.operands, subtree, level);
  const { alias, contains } = node;
  const { binder } = level.state;
  const { steps, below } = bindClass(alias, subtree, level);
  if (contains === null) return steps;
  if (alias.classes.includes('FOLDER'))
    return [
      ...steps,
      ...bindBelowFolder(
        contains,
        { ...below, isFolder: isOnlyFolder(alias) },
        { ...level, fold: undefined },
      ),
    ];
  if (contains.negated) {
    if (excludedKey(node, level.state.visibility) !== null) return steps;
    return [...steps, keepWhere(absent(contains.child, below, binder))];
  }
  return [...steps, ...bindBelow(contains.child, below, level)];
}

/** Each operand is looked for once in the subtree, not once for each match of those before it. */
function bindAnd(operands: readonly FromNode[], subtree: Subtree, level: Level): Step[] {
  const [first, ...others] = operands;
  if (first === undefined) throw new TypeError('AND is never empty');
  const fold: Fold = { outer: level, fields: [] };
  const own = bindBelow(first, subtree, level);
  const found = counted(others).flatMap((each) => bindBelow(each, subtree, { ...level, fold }));
  return [...found, ...own, ...unfold(fold, null)];
}

function folded(node: FromNode, subtree: Subtree, level: Level, { outer, fields }: Fold): Step[] {
  const field = joinName('b', node);
  fields.push(field);
  registerAll(node, level, `${outer.prefix}${field}.`);
  return [
    { kind: 'set', field, value: tuples(node, subtree, level.state.binder) },
    { kind: 'match', match: { [`${field}.0`]: { $exists: true } } },
  ];
}

function bindClass(alias: Alias, subtree: Subtree, level: Level): { steps: Step[]; below: Subtree } {
  const { binder } = level.state;
  const slot = slotOf(alias);
  bindAlias(alias, slot, level, level.prefix);
  if (
    subtree.kind === 'document' &&
    subtree.at === null &&
    isVersioned(alias) &&
    !alias.classes.includes('FOLDER')
  ) {
    // A root is the first segment; the match has found its type and archetype.
    const set: Step = { kind: 'set', field: slot, value: call('$first', subtree.segs) };
    const below = documentSubtree(subtree.segs, fieldRef(slot), archetypeIdsOf(alias));
    return { steps: [set, ...rootCondition(alias, slot, level)], below };
  }
  const steps: Step[] = [
    { kind: 'set', field: slot, value: candidates(alias, subtree, binder) },
    unwind(slot, false, level),
  ];
  return { steps, below: below(alias, subtree, fieldRef(slot), level) };
}

function below(alias: Alias, subtree: Subtree, at: Reference, level: Level): Subtree {
  const { shapes, environment } = level.state.binder;
  return subtreeBelow(alias, subtree, at, { shapes, subsumption: environment.subsumption });
}

/** What the native match on `keys` does not check of a root. */
function rootCondition(alias: Alias, slot: string, level: Level): Step[] {
  if (alias.predicate === null) return [];
  const ids = archetypeIdsOf(alias);
  const plain = counted(alias.predicate.alternatives).every(
    (conditions) => conditions.length === 1 && conditions[0]?.kind === 'node' && conditions[0].name === null,
  );
  const isImplied =
    plain &&
    counted(ids)?.every((id) => counted(alias.classes).some((each) => id.includes(`-${each}.`))) === true;
  if (isImplied && !level.state.visibility.subsumption) return [];
  const element = elementOf(fieldRef(`${slot}.${SEGMENT_FIELD.object}`), classSet(alias.classes), true);
  return [keepWhere(predicateHolds(alias.predicate, element, level.state.binder.environment))];
}

function bindOr(operands: readonly FromNode[], subtree: Subtree, level: Level): Step[] {
  const { binder } = level.state;
  const fields = counted(operands).map((each) => joinName('u', each));
  const sets = counted(zip(operands, fields)).map(([each, field]): Step => {
    registerAll(each, level, `${level.prefix}${field}.`);
    return { kind: 'set', field, value: tuples(each, subtree, binder) };
  });
  return [...sets, ...unwindAny(fields, level)];
}

function registerAll(node: FromNode, level: Level, prefix: string): void {
  for (const alias of counted(boundAliases(node))) bindAlias(alias, slotOf(alias), level, prefix);
}

// ---------------------------------------------------------------- FOLDER

type Contains = NonNullable<FromClass['contains']>;

/** Below an alias that is (`isFolder`) or may be a FOLDER. */
interface FolderSubtree extends Subtree {
  readonly isFolder: boolean;
}

/** What a FOLDER contains: nodes of its own document, and the COMPOSITIONs that it refers to. */
function bindBelowFolder(contains: Contains, folder: FolderSubtree, level: Level): Step[] {
  return contains.negated
    ? absentBelowFolder(contains.child, folder, level)
    : joinBelowFolder(contains.child, folder, level);
}

function joinBelowFolder(node: FromNode, folder: FolderSubtree, level: Level): Step[] {
  if (node.kind === 'class') {
    if (folder.isFolder && isOnlyFolder(node.alias)) return bindBelow(node, folder, level);
    const { steps, field } = membersBelow(node, folder, level, false);
    level.state.order.push(`${level.prefix}${field}._id`);
    return [...steps, unwind(field, false, level)];
  }
  if (node.kind === 'and')
    return counted(node.operands).flatMap((each) => joinBelowFolder(each, folder, level));
  const members = counted(node.operands).map((each) => membersBelow(each, folder, level, false));
  return [
    ...counted(members).flatMap(({ steps }) => steps),
    ...unwindAny(
      counted(members).map(({ field }) => field),
      level,
    ),
  ];
}

function absentBelowFolder(node: FromNode, folder: FolderSubtree, level: Level): Step[] {
  const { steps, field } = membersBelow(node, folder, unseenLevel(level), true);
  return [...steps, { kind: 'match', match: { [field]: { $size: 0 } } }];
}

function isOnlyFolder(alias: Alias): boolean {
  return alias.kind === 'object' && counted(alias.classes).every((each) => each === 'FOLDER');
}

/** An array with all matches of a part of FROM below a FOLDER. */
function membersBelow(
  node: FromNode,
  folder: FolderSubtree,
  level: Level,
  firstOnly: boolean,
): { readonly steps: Step[]; readonly field: string } {
  const field = joinName('t', node);
  const inner: Level = { ...joinedLevel(level), prefix: `${level.prefix}${field}.`, ehrField: FIELD.ehrId };
  requireFewJoins(inner, node);
  const parts: LookupStep[] = [];
  const sets: Step[] = [];
  if (node.kind !== 'class' || !folder.isFolder || canBeInFolder(node.alias)) {
    const variables = { folder: folder.at };
    const subtree: FolderSubtree = { ...folder, at: variable('folder') };
    const steps =
      node.kind === 'class' ? bindBelow(node, subtree, inner) : joinBelowFolder(node, subtree, inner);
    const join = {
      as: `${field}s`,
      from: 'aql',
      localField: FIELD.versionUid,
      foreignField: FIELD.versionUid,
    } as const;
    parts.push(lookup(join, steps, { variables, firstOnly }));
  }
  if (node.kind === 'class' && !isOnlyFolder(node.alias)) {
    const refs = `${field}r`;
    sets.push({ kind: 'set', field: refs, value: referencedIds(folder) });
    const sameEhr: Step = {
      kind: 'filter',
      condition: call('$eq', [fieldRef(FIELD.ehrId), variable('ehr')]),
    };
    const steps = bindDocument(node, inner, [{ type: 'COMPOSITION' }]);
    const join = {
      as: `${field}c`,
      from: 'aql',
      localField: refs,
      foreignField: FIELD.versionedObjectUid,
    } as const;
    parts.push(lookup(join, [sameEhr, ...steps], { variables: { ehr: fieldRef(FIELD.ehrId) }, firstOnly }));
  }
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return { steps: [...sets, { ...only, as: field }], field };
  return {
    steps: [...sets, ...parts, { kind: 'merge', field, parts: counted(parts).map(({ as }) => as) }],
    field,
  };
}

/** Both parts of what may be in a FOLDER hold all that is below: the pipeline doubles with each level. */
function requireFewJoins({ prefix }: Level, node: FromNode): void {
  if (prefix.split('.').length - 1 <= MAX_OPEN_CONTAINS) return;
  throw aqlError(
    firstClass(node).alias.at,
    `CONTAINS can be nested at most ${MAX_OPEN_CONTAINS} levels deep below classes that may be a FOLDER, here starts one more`,
  );
}

/** Whether an alias can stand in the document of a FOLDER. */
function canBeInFolder(alias: Alias): boolean {
  return alias.kind === 'object' && alias.rootTypes.includes('FOLDER');
}
