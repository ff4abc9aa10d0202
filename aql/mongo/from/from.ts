import { FIELD } from '../../index/document.js';
import { parseEhrId } from '../../../openehr/base/object-version-id.js';
import { isPlainPath } from '../../semantics/node-identity.js';
import type { Alias, FromClass, FromNode } from '../../semantics/scope-types.js';
import { joinedLevel, joinName, unfold, unseenLevel, unwind, unwindAny } from './bind-state.js';
import type { Fold, FromState, Level } from './bind-state.js';
import { fieldRef } from '../../plan/expression.js';
import type { Stage } from '../../index/stage.js';
import { bindDocument } from './bind-document.js';
import { ehrOrVersionPredicateHolds } from '../path/virtual-object-predicate.js';
import type { AliasBinding } from '../path/binding.js';
import { lookup, type LookupStep, type SourceCollection, type Step } from '../../plan/steps.js';
import { counted, step as countStep } from '../../../openehr/base/work.js';

/** A pipeline's beginning: all of FROM. */
export interface BoundFrom {
  readonly collection: SourceCollection;
  readonly steps: readonly Step[];
}

/** Binds an EHR and all that it contains. docs/spec/aql.md#containment */
export function bindEhr(node: FromClass, state: FromState, prefix = ''): BoundFrom {
  const { contains } = node;
  const base = contains === null || contains.negated ? null : baseOperand(contains.child);
  if (base === null) return bindFromEhrs(node, state, prefix);
  const level: Level = { prefix, ehrField: FIELD.ehrId, state };
  bindEhrAlias(node.alias, level);
  const [first, others] = base;
  state.order.push(`${prefix}_id`);
  const fold: Fold = { outer: level, fields: [] };
  const document = bindDocument(first, others.length === 0 ? level : { ...level, fold });
  const own = unfold(fold, null);
  const joined = joinAnd(others, sameEhrLevel(level));
  const ehrSteps = ehrPredicate(node.alias, level);
  return {
    collection: 'aql',
    steps: [...document, ...joined.steps, ...own, ...joined.unfolded, ...ehrSteps],
  };
}

/** The operand to start with: a class, or the first class of an AND; an OR has none that must be there. */
function baseOperand(child: FromNode): [FromClass, FromNode[]] | null {
  if (child.kind === 'class') return [child, []];
  if (child.kind === 'or') return null;
  const first = counted(child.operands).find((each): each is FromClass => each.kind === 'class');
  return first === undefined ? null : [first, counted(child.operands).filter((each) => each !== first)];
}

function bindFromEhrs(node: FromClass, state: FromState, prefix: string): BoundFrom {
  const level = joinedLevel({ prefix, ehrField: '_id', state });
  bindEhrAlias(node.alias, level);
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

function bindEhrAlias(alias: Alias, { prefix, ehrField, state }: Level): void {
  state.bindings.set(alias.index, {
    alias,
    document: prefix,
    object: null,
    slot: fieldRef(`${prefix}${ehrField}`),
    classes: new Set(['EHR']),
  });
}

/** Whatever an EHR predicate says beside the id that made it fixed. */
function ehrPredicate(alias: Alias, level: Level): Step[] {
  const { binder, visibility } = level.state;
  if (alias.predicate === null || isFixedBy(alias)) return [];
  const binding: AliasBinding = {
    alias,
    document: '',
    object: null,
    slot: fieldRef(level.ehrField),
    classes: new Set(['EHR']),
  };
  const steps: Step[] = [];
  const state = { binding, visibility, environment: binder.environment, steps };
  const holds = ehrOrVersionPredicateHolds(alias.predicate, state);
  return [...steps, { kind: 'filter', condition: holds }];
}

/** Whether a predicate is nothing but the ehr_id that the EHR is fixed to. */
function isFixedBy({ predicate, fixedEhrId }: Alias): boolean {
  const [group, another] = predicate?.alternatives ?? [];
  const [condition, second] = group ?? [];
  if (another !== undefined || second !== undefined || condition?.kind !== 'predicate-comparison')
    return false;
  const { operand, operator } = condition;
  const isId = isPlainPath(condition, ['ehr_id', 'value']) && operator === '=' && operand.kind === 'string';
  return isId && fixedEhrId !== null && parseEhrId(operand.value) === fixedEhrId;
}

// ---------------------------------------------------------------- joins by EHR

/**
 * The same level for documents of the same EHR. Of the one EHR that a query fixes they are the same for each document
 * that they are joined to: without a field to join by, the database looks for them once and keeps them.
 */
function sameEhrLevel(level: Level): Level {
  const { state } = level;
  return state.visibility.ehrId === null ? joinedLevel(level) : { ...level, state: { ...state, ehr: null } };
}

/** Joins, and what unfolds the arrays in what they bring, to be done after all of them. */
interface Joins {
  readonly steps: readonly Step[];
  readonly unfolded: readonly Step[];
}

/** Binds more of what an EHR contains to the documents at hand, one row per combination. */
function join(node: FromNode, level: Level): Step[] {
  countStep();
  if (node.kind === 'or') return joinOr(node.operands, level);
  if (node.kind === 'and') {
    const { steps, unfolded } = joinAnd(node.operands, level);
    return [...steps, ...unfolded];
  }
  const step = joinLookup(node, level);
  level.state.order.push(`${level.prefix}${step.as}._id`);
  return [step, unwind(step.as, false, level)];
}

/** Documents are joined to documents: their matches are unfolded when all are there. */
function joinAnd(operands: readonly FromNode[], level: Level): Joins {
  const parts = counted(operands).map((each): Joins => {
    if (each.kind === 'or') return { steps: joinOr(each.operands, level), unfolded: [] };
    if (each.kind === 'and') return joinAnd(each.operands, level);
    const fold: Fold = { outer: level, fields: [] };
    const step = joinLookup(each, level, fold);
    level.state.order.push(`${level.prefix}${step.as}._id`);
    return { steps: [step, unwind(step.as, false, level)], unfolded: unfold(fold, step.as) };
  });
  return {
    steps: counted(parts).flatMap(({ steps }) => steps),
    unfolded: counted(parts).flatMap(({ unfolded }) => unfolded),
  };
}

function joinOr(operands: readonly FromNode[], level: Level): Step[] {
  const lookups = counted(operands).map((each) => joinLookup(each, level));
  const fields = counted(lookups).map(({ as }) => as);
  return [...lookups, ...unwindAny(fields, level)];
}

function joinLookup(node: FromNode, level: Level, fold?: Fold): LookupStep {
  countStep();
  const as = joinName('t', node);
  const inner: Level = { ...level, prefix: `${level.prefix}${as}.`, fold };
  if (node.kind === 'class') {
    const steps = bindDocument(node, { ...inner, ehrField: FIELD.ehrId });
    const localField = level.state.visibility.joined ? level.ehrField : null;
    return lookup({ as, from: 'aql', localField, foreignField: FIELD.ehrId }, steps);
  }
  const steps = join(node, { ...inner, ehrField: '_id' });
  return lookup({ as, from: 'ehrs', localField: level.ehrField, foreignField: '_id' }, steps);
}

/** Keeps what has no match of a part of FROM. */
function joinAbsent(node: FromNode, level: Level): Step[] {
  const steps: LookupStep[] = [];
  const nothing = (each: FromNode): Stage => {
    if (each.kind !== 'class')
      return {
        [each.kind === 'or' ? '$and' : '$or']: counted(each.operands).map((operand) => nothing(operand)),
      };
    const step = { ...joinLookup(each, unseenLevel(level)), firstOnly: true };
    steps.push(step);
    return { [step.as]: { $size: 0 } };
  };
  const match = nothing(node);
  return [...steps, { kind: 'match', match }];
}
