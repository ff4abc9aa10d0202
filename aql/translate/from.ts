import type { Alias, FromClass, FromNode } from '../scope-types.js';
import { absent, candidates, isVersioned, slotOf, tuples } from './contains.js';
import type { Binder } from './contains.js';
import { documentMatch, excludedKey, rootPredicate, rootTypesOf } from './document-scope.js';
import type { Visibility } from './document-scope.js';
import type { Expression, Stage } from './expression.js';
import { elementOf, predicateHolds } from './predicate.js';
import type { Place } from './place.js';
import { archetypeIdsOf, documentRegion, regionBelow } from './region.js';
import type { Region } from './region.js';
import type { LookupStep, SourceCollection, Step } from './stages.js';

/** What binding FROM needs and collects. */
export interface FromState {
  readonly binder: Binder;
  /** Of the EHR that is being bound. */
  readonly visibility: Visibility;
  readonly places: Map<number, Place>;
  /** Fields that make the order of rows unambiguous. */
  readonly order: string[];
  /** Conditions on the first document that follow from WHERE. */
  readonly prefilter: readonly Stage[];
}

/** A pipeline's beginning: all of FROM. */
export interface BoundFrom {
  readonly collection: SourceCollection;
  readonly steps: readonly Step[];
}

/** One level of pipeline: where its bindings are seen from outside, and which field has the EHR id. */
interface Level {
  readonly prefix: string;
  readonly ehrField: string;
  readonly state: FromState;
}

/** Binds an EHR and all that it contains. AQL page 2.3. */
export function bindEhr(node: FromClass, state: FromState, prefix = ''): BoundFrom {
  const { contains } = node;
  const base = contains === null || contains.negated ? null : baseOperand(contains.child);
  if (base === null) return bindFromEhrs(node, state, prefix);
  const level: Level = { prefix, ehrField: 'ehr', state };
  addEhrPlace(node.alias, level);
  const [first, others] = base;
  state.order.push(`${prefix}_id`);
  const document = bindDocument(first, level, state.visibility, state.prefilter);
  const joined = { ...level, state: { ...state, prefilter: [], visibility: joinedVisibility(state) } };
  const ehrSteps = ehrPredicate(node.alias, level);
  return {
    collection: 'aql',
    steps: [...document, ...others.flatMap((each) => join(each, joined)), ...ehrSteps],
  };
}

function joinedVisibility({ visibility }: FromState): Visibility {
  return { ...visibility, joined: true };
}

/** The operand to start with: a class, or the first class of an AND; an OR has none that must be there. */
function baseOperand(child: FromNode): [FromClass, FromNode[]] | null {
  if (child.kind === 'class') return [child, []];
  if (child.kind === 'or') return null;
  const first = child.operands.find((each): each is FromClass => each.kind === 'class');
  return first === undefined ? null : [first, child.operands.filter((each) => each !== first)];
}

function bindFromEhrs(node: FromClass, state: FromState, prefix: string): BoundFrom {
  const level: Level = {
    prefix,
    ehrField: '_id',
    state: { ...state, prefilter: [], visibility: joinedVisibility(state) },
  };
  addEhrPlace(node.alias, level);
  state.order.push(`${prefix}_id`);
  const { visibility } = state;
  const visible: Stage = {
    ...(visibility.ehrId === null ? { is_queryable: true } : { _id: { $eq: visibility.ehrId } }),
    state: 'active',
    ...(visibility.asOf === null ? {} : { time_created: { $lte: visibility.asOf } }),
  };
  const steps: Step[] = [{ kind: 'match', match: visible }, ...ehrPredicate(node.alias, level)];
  if (node.contains?.negated === true) steps.push(...joinAbsent(node.contains.child, level));
  else if (node.contains !== null) steps.push(...join(node.contains.child, level));
  return { collection: 'ehrs', steps };
}

function addEhrPlace(alias: Alias, { prefix, ehrField, state }: Level): void {
  state.places.set(alias.index, {
    alias,
    document: prefix,
    object: null,
    slot: `$${prefix}${ehrField}`,
    classes: new Set(['EHR']),
  });
}

/** Whatever an EHR predicate says beside the id that made it fixed. */
function ehrPredicate(alias: Alias, level: Level): Step[] {
  if (alias.predicate === null) return [];
  const slot = `h${alias.index}`;
  const object = {
    _type: 'EHR',
    ehr_id: { _type: 'HIER_OBJECT_ID', value: `$${level.ehrField}` },
    system_id: { _type: 'HIER_OBJECT_ID', value: { $first: `$${slot}e.system_id` } },
    time_created: {
      _type: 'DV_DATE_TIME',
      _m: { $toLong: { $first: `$${slot}e.time_created` } },
    },
  };
  const holds = predicateHolds(alias.predicate, elementOf(`$${slot}`, new Set(['EHR'])), {
    ...level.state.binder.environment,
  });
  return [
    lookup({ as: `${slot}e`, from: 'ehrs', localField: level.ehrField, foreignField: '_id' }, []),
    { kind: 'set', field: slot, value: object },
    { kind: 'match', match: { $expr: holds } },
  ];
}

/** A join of other documents. */
export function lookup(
  join: Pick<LookupStep, 'as' | 'from' | 'localField' | 'foreignField'>,
  steps: readonly Step[],
  more: Partial<Pick<LookupStep, 'variables' | 'firstOnly'>> = {},
): LookupStep {
  return { kind: 'lookup', variables: {}, firstOnly: false, ...join, ...more, steps };
}

// ---------------------------------------------------------------- joins by EHR

/** Binds more of what an EHR contains to the documents at hand, one row per combination. */
function join(node: FromNode, level: Level): Step[] {
  if (node.kind !== 'class')
    return node.kind === 'or'
      ? joinOr(node.operands, level)
      : node.operands.flatMap((each) => join(each, level));
  const step = joinLookup(node, level);
  level.state.order.push(`${level.prefix}${step.as}._id`, `${level.prefix}${step.as}i`);
  return [step, { kind: 'unwind', field: step.as, preserve: false, index: `${step.as}i` }];
}

function joinOr(operands: readonly FromNode[], level: Level): Step[] {
  const lookups = operands.map((each) => joinLookup(each, level));
  const some: Step = {
    kind: 'match',
    match: { $or: lookups.map(({ as }) => ({ [`${as}.0`]: { $exists: true } })) },
  };
  const unwinds = lookups.map(({ as }): Step => {
    level.state.order.push(`${level.prefix}${as}i`);
    return { kind: 'unwind', field: as, preserve: true, index: `${as}i` };
  });
  return [...lookups, some, ...unwinds];
}

function joinLookup(node: FromNode, level: Level): LookupStep {
  const as = `t${aliasesOf(node)[0] ?? ''}${node.kind === 'class' ? '' : 'g'}`;
  const inner: Level = { ...level, prefix: `${level.prefix}${as}.` };
  if (node.kind === 'class') {
    const steps = bindDocument(node, { ...inner, ehrField: 'ehr' }, level.state.visibility, []);
    return lookup({ as, from: 'aql', localField: level.ehrField, foreignField: 'ehr' }, steps);
  }
  const steps = join(node, { ...inner, ehrField: '_id' });
  return lookup({ as, from: 'ehrs', localField: level.ehrField, foreignField: '_id' }, steps);
}

function aliasesOf(node: FromNode): number[] {
  if (node.kind === 'class') return [node.alias.index];
  return node.operands.flatMap(aliasesOf);
}

/** Keeps what has no match of a part of FROM. */
function joinAbsent(node: FromNode, level: Level): Step[] {
  const steps: LookupStep[] = [];
  const nothing = (each: FromNode): Stage => {
    if (each.kind !== 'class')
      return { [each.kind === 'or' ? '$and' : '$or']: each.operands.map((operand) => nothing(operand)) };
    const step = { ...joinLookup(each, level), firstOnly: true };
    steps.push(step);
    return { [step.as]: { $size: 0 } };
  };
  const match = nothing(node);
  return [...steps, { kind: 'match', match }];
}

// ---------------------------------------------------------------- one document

/** Binds one operand inside the documents of `aql`: the match, then the classes below it. */
function bindDocument(
  node: FromClass,
  level: Level,
  visibility: Visibility,
  prefilter: readonly Stage[],
): Step[] {
  const root = rootClass(node);
  const fromRoot = root === null ? [] : rootPredicate(root.alias.predicate, visibility.systemId);
  const match = documentMatch(node, visibility, [...fromRoot, ...prefilter]);
  return [{ kind: 'match', match }, ...bindVersionAndBelow(node, level)];
}

/** The class of the versioned root in an operand, when it names one. */
function rootClass(node: FromClass): FromClass | null {
  if (node.alias.kind === 'object') return isVersioned(node.alias) ? node : null;
  return node.contains?.negated === false && node.contains.child.kind === 'class'
    ? rootClass(node.contains.child)
    : null;
}

function bindVersionAndBelow(node: FromClass, level: Level): Step[] {
  const { alias, contains } = node;
  const whole = documentRegion('$segs', null, null);
  if (alias.kind !== 'version') return bindInside(node, whole, level);
  level.state.places.set(alias.index, {
    alias,
    document: level.prefix,
    object: null,
    slot: `$${level.prefix}_id`,
    classes: new Set(['ORIGINAL_VERSION']),
  });
  if (contains === null) return [];
  if (contains.negated) return [keepWhere(absent(contains.child, whole, level.state.binder))];
  return bindInside(contains.child, whole, level);
}

function keepWhere(condition: Expression): Step {
  return { kind: 'match', match: { $expr: condition } };
}

/** Binds a part of FROM below a region, stage by stage. */
function bindInside(node: FromNode, region: Region, level: Level): Step[] {
  if (node.kind !== 'class')
    return node.kind === 'or'
      ? bindOr(node.operands, region, level)
      : node.operands.flatMap((each) => bindInside(each, region, level));
  const { alias, contains } = node;
  const { binder } = level.state;
  const { steps, below } = bindClass(alias, region, level);
  if (contains === null) return steps;
  if (contains.negated) {
    if (excludedKey(node, level.state.visibility) !== null) return steps;
    return [...steps, keepWhere(absent(contains.child, below, binder))];
  }
  return [...steps, ...bindInside(contains.child, below, level)];
}

function bindClass(alias: Alias, region: Region, level: Level): { steps: Step[]; below: Region } {
  const { binder } = level.state;
  const slot = slotOf(alias);
  addPlace(alias, slot, level, level.prefix);
  if (
    region.kind === 'document' &&
    region.at === null &&
    isVersioned(alias) &&
    !alias.classes.includes('FOLDER')
  ) {
    // A root is the first segment; the match has found its type and archetype.
    const set: Step = { kind: 'set', field: slot, value: { $first: region.segs } };
    const below = documentRegion(region.segs, `$${slot}`, archetypeIdsOf(alias));
    return { steps: [set, ...rootCondition(alias, slot, level)], below };
  }
  level.state.order.push(`${level.prefix}${slot}i`);
  const steps: Step[] = [
    { kind: 'set', field: slot, value: candidates(alias, region, binder) },
    { kind: 'unwind', field: slot, preserve: false, index: `${slot}i` },
  ];
  return { steps, below: below(alias, region, `$${slot}`, level) };
}

function below(alias: Alias, region: Region, at: string, level: Level): Region {
  const { shapes, environment } = level.state.binder;
  return regionBelow(alias, region, at, { shapes, subsumption: environment.subsumption });
}

/** What the native match on `keys` does not tell about a root. */
function rootCondition(alias: Alias, slot: string, level: Level): Step[] {
  if (alias.predicate === null) return [];
  const ids = archetypeIdsOf(alias);
  const plain = alias.predicate.alternatives.every(
    (conditions) => conditions.length === 1 && conditions[0]?.kind === 'node' && conditions[0].name === null,
  );
  const told = plain && ids?.every((id) => alias.classes.some((each) => id.includes(`-${each}.`))) === true;
  if (told && !level.state.visibility.subsumption) return [];
  const element = elementOf(`$${slot}.o`, new Set(alias.classes), true);
  return [keepWhere(predicateHolds(alias.predicate, element, level.state.binder.environment))];
}

function addPlace(alias: Alias, slot: string, level: Level, prefix: string): void {
  level.state.places.set(alias.index, {
    alias,
    document: level.prefix,
    object: `$${prefix}${slot}.o`,
    slot: `$${prefix}${slot}`,
    classes: new Set(alias.classes),
  });
}

function bindOr(operands: readonly FromNode[], region: Region, level: Level): Step[] {
  const { binder } = level.state;
  const fields = operands.map((each) => `u${aliasesOf(each)[0] ?? ''}`);
  const sets = operands.map((each, i): Step => {
    const field = fields[i] ?? '';
    registerAll(each, level, `${level.prefix}${field}.`);
    return { kind: 'set', field, value: tuples(each, region, binder) };
  });
  const some: Step = {
    kind: 'match',
    match: { $or: fields.map((field) => ({ [`${field}.0`]: { $exists: true } })) },
  };
  const unwinds = fields.map((field): Step => {
    level.state.order.push(`${level.prefix}${field}i`);
    return { kind: 'unwind', field, preserve: true, index: `${field}i` };
  });
  return [...sets, some, ...unwinds];
}

function registerAll(node: FromNode, level: Level, prefix: string): void {
  if (node.kind !== 'class') {
    for (const each of node.operands) registerAll(each, level, prefix);
    return;
  }
  addPlace(node.alias, slotOf(node.alias), level, prefix);
  if (node.contains?.negated === false) registerAll(node.contains.child, level, prefix);
}

/** Kinds of versioned object that an operand can be found in. */
export function rootsOf(node: FromNode): readonly string[] {
  return rootTypesOf(node);
}
