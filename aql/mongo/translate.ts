import { FIELD } from '../index/document.js';
import type { LeafIndex } from '../index/document.js';
import type { Page } from '../semantics/page.js';
import type { Clock } from '../semantics/present-time.js';
import { firstClass, topClasses } from '../semantics/from-walk.js';
import type { FromClass, FromNode, PathNode, Scope } from '../semantics/scope-types.js';
import type { Condition } from '../syntax/ast.js';
import {
  conditionsOnEhr,
  matchOf,
  nodesOf,
  requiredUses,
  searchedAliases,
  whereConjuncts,
} from './where/conjuncts.js';
import type { Visibility } from './document/document-scope.js';
import type { Permitted } from '../../policy/condition.js';
import { guardsOf } from './document/guards.js';
import { compileSelect } from './select/compile-select.js';
import { emitPlan } from './pipeline/emit.js';
import type { FromState } from './from/bind-state.js';
import { bindEhr } from './from/from.js';
import type { BoundFrom } from './from/from.js';
import type { ValueState } from './path/operand.js';
import type { QueryPlan } from '../plan/query-plan.js';
import { NO_MERGES, type MovingMerges } from '../index/moved-owners.js';
import { indexConditions, sortedLeaf } from '../index/index-conditions.js';
import type { ShapeCatalogue } from '../index/shapes.js';
import { fieldRef, type Expression } from '../plan/expression.js';
import type { LogicalPlan, PassContext } from '../plan/logical-plan.js';
import { optimize } from '../plan/passes/passes.js';
import { lookup, type SourceCollection, type Step } from '../plan/steps.js';
import { emitTree } from './path/tree.js';
import type { AliasBinding, NodeBinding } from './path/binding.js';
import type { TreeState } from './path/tree.js';
import type { ValueRef } from './value/values.js';
import { counted } from '../../openehr/base/work.js';
import { zip } from '../../openehr/base/required.js';

/** What a translation depends on beside the query. */
export interface TranslationContext {
  readonly shapes: ShapeCatalogue;
  /** Leaves that all documents are known to have; `none`: no leaf prefilter. */
  readonly leafIndex: LeafIndex;
  /** Whether all documents are of the present derivation. */
  readonly isCurrent: boolean;
  /** Whether all documents name their committers. */
  readonly hasCommitters?: boolean;
  readonly systemId: string;
  readonly subsumption: boolean;
  /** Request parameter `as_of`. */
  readonly asOf: Date | null;
  readonly clock: Clock;
  /** true: rows also have the EHRs that they are of, as far as the query does not fix them. */
  readonly notesEhrs?: boolean;
  /** Merges in steps beside which the plan is to run; absent: none. */
  readonly merges?: MovingMerges;
  /** What policies permit; absent: everything. */
  readonly permitted?: Permitted;
}

/** Compiles a resolved query into one aggregation pipeline. Pure. docs/spec/aql.md#evaluation-order */
export function translate(scope: Scope, page: Page, context: TranslationContext): QueryPlan {
  const plan = emitPlan(optimize(logicalPlan(scope, page, context), passContext(scope, context)));
  return scope.seesAliases === true ? { ...plan, applied: ['seeAliases', ...plan.applied] } : plan;
}

/** What passes know beside the plan. */
export function passContext(scope: Scope, context: TranslationContext): PassContext {
  const conjuncts = whereConjuncts(scope);
  const ehrs = topClasses(scope.from);
  return {
    indexConditions: new Map(
      counted(ehrs).map((ehr) => [ehr.alias.index, indexConditions(ehr, scope, conjuncts, context)]),
    ),
    sortedLeaf: sortedLeaf(firstClass(scope.from), scope, conjuncts, context),
    isCurrent: context.isCurrent,
    merges: context.merges ?? NO_MERGES,
    guards: context.permitted === undefined ? null : guardsOf(context.permitted, context),
  };
}

/** A resolved query as a plan that no pass has rewritten yet. */
export function logicalPlan(scope: Scope, page: Page, context: TranslationContext): LogicalPlan {
  const conjuncts = whereConjuncts(scope);
  const required = requiredUses(scope, conjuncts);
  const bindings = new Map<number, AliasBinding>();
  const order: string[] = [];
  const environment = {
    segs: fieldRef(FIELD.segments),
    systemId: context.systemId,
    subsumption: context.subsumption,
    depth: 0,
  };
  const binder = { shapes: context.shapes, environment };
  const from = bindFrom(scope.from, (node) => {
    const visibility = visibilityOf(node, context);
    return { binder, visibility, bindings, order, ehr: node.alias.index };
  });
  const [found, ...unfolded] = from.steps;
  const steps: Step[] = found === undefined ? [] : [found];
  const pending = new Map(counted(conjuncts).map((each) => [each, nodesOf(each, scope)]));
  const nodes = new Map<number, NodeBinding>();
  const { early, ownTree } = ehrFirst(scope, conjuncts, required);
  let isUnfolded = false;
  const whenBound = (): void => {
    for (const [condition, needed] of counted(pending)) {
      if (!(isUnfolded || early.includes(condition))) continue;
      if (!counted([...needed]).every((id) => nodes.has(id))) continue;
      pending.delete(condition);
      steps.push(matchOf(condition, state));
    }
  };
  const visibility = visibilityOf(firstClass(scope.from), context);
  const tree: TreeState = {
    ...{ bindings, environment, visibility, required, steps, nodes, order, whenBound },
    searched: searchedAliases(conjuncts, scope),
    values: new Map<number, ValueRef>(),
    there: new Map<string, Expression>(),
  };
  const state: ValueState = { scope, tree, clock: context.clock };
  if (ownTree !== undefined) emitTree(ownTree, tree);
  steps.push(...unfolded);
  isUnfolded = true;
  whenBound();
  const isOther = (each: PathNode | undefined): each is PathNode => each !== undefined && each !== ownTree;
  const trees = counted(scope.trees).filter(isOther);
  const first = counted(trees).filter(({ uses }) => counted(uses).some(({ index }) => required.has(index)));
  for (const each of counted([...first, ...counted(trees).filter((one) => !first.includes(one))]))
    emitTree(each, tree);
  const collection = from.collection === 'ehrs' ? 'ehrs' : 'aql';
  return compileSelect({ collection, state, page, required, notesEhrs: context.notesEhrs === true });
}

/** What of WHERE is asked before anything is unfolded, and the paths of the EHR that it reads. */
function ehrFirst(
  scope: Scope,
  conjuncts: readonly Condition[],
  required: ReadonlySet<number>,
): { readonly early: readonly Condition[]; readonly ownTree: PathNode | undefined } {
  const ehr = scope.from;
  const early = ehr.kind === 'class' ? conditionsOnEhr(ehr, scope, conjuncts, required) : [];
  return { early, ownTree: early.length === 0 ? undefined : scope.trees[firstClass(ehr).alias.index] };
}

function visibilityOf(node: FromClass, { asOf, systemId, subsumption }: TranslationContext): Visibility {
  return { ehrId: node.alias.fixedEhrId, joined: false, asOf, systemId, subsumption };
}

/** Several EHRs of FROM are independent of each other. docs/spec/aql.md#and-or-and-not-in-from */
function bindFrom(node: FromNode, stateOf: (node: FromClass) => FromState): BoundFrom {
  if (node.kind === 'class') return bindEhr(node, stateOf(node));
  if (node.kind === 'and') {
    const [first, ...others] = node.operands;
    if (first === undefined) throw new TypeError('AND is never empty');
    const base = bindFrom(first, stateOf);
    const joins = counted(others).flatMap((each, index): Step[] =>
      joinAll(each, `j${index}`, false, stateOf),
    );
    return { collection: base.collection, steps: [...base.steps, ...joins] };
  }
  const names = counted(node.operands).map((_, index) => `j${index}`);
  const joins = counted(zip(node.operands, names)).map(([each, name]) => joinAll(each, name, true, stateOf));
  const lookups = counted(joins)
    .map(([step]) => step)
    .filter((step) => step !== undefined);
  const unwinds = counted(joins).flatMap(([, ...rest]) => rest);
  const some = { $or: counted(names).map((name) => ({ [`${name}.0`]: { $exists: true } })) };
  // One document to hang the operands on: any will do.
  const start: Step[] = [{ kind: 'limit', count: 1 }];
  return { collection: 'ehrs', steps: [...start, ...lookups, { kind: 'match', match: some }, ...unwinds] };
}

function joinAll(
  node: FromNode,
  as: string,
  preserve: boolean,
  stateOf: (node: FromClass) => FromState,
): Step[] {
  const bound = node.kind === 'class' ? bindEhr(node, stateOf(node), `${as}.`) : bindFrom(node, stateOf);
  const from: SourceCollection = bound.collection;
  return [
    lookup({ as, from, localField: null, foreignField: '_id' }, bound.steps),
    { kind: 'unwind', field: as, preserve, index: `${as}i` },
  ];
}
