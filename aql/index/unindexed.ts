import type { Condition, IdentifiedPath, ValueExpression } from '../syntax/ast.js';
import { archetypeIdsOf } from '../semantics/node-classes.js';
import { demandedIdentity } from '../semantics/node-identity.js';
import type { FromClass, Scope } from '../semantics/scope-types.js';
import { counted } from '../../openehr/base/work.js';
import { indexConditions, type IndexContext } from './index-conditions.js';

/** Why no index picks documents by a condition. */
export type UnindexedReason =
  /** LIKE, NOT, EXISTS, `!=` or NOT MATCHES. */
  | 'operator'
  /** The other side is no literal. */
  | 'no_literal'
  /** Neither side is a path. */
  | 'no_path'
  /** One side of an OR, at least. */
  | 'or'
  /** The class of FROM that the path begins at has no archetype, or several. */
  | 'archetype'
  /** Nodes of the path have no at-code. */
  | 'at_code'
  /** What the path ends in is not indexed, or not with such a literal. */
  | 'ending'
  /** The database has no leaf index of such values, or archetypes match their specialisations. */
  | 'off';

/** A condition of WHERE by which no index picks documents. */
export interface Unindexed {
  readonly condition: Condition;
  readonly reason: UnindexedReason;
  /** The attributes without at-code, or how the path ends; empty where that does not matter. */
  readonly detail: string;
}

/** Those of the conditions that no index serves for any of the EHRs of FROM, in their order, and why not. */
export function unindexedConditions(
  ehrs: readonly FromClass[],
  scope: Scope,
  conjuncts: readonly Condition[],
  context: IndexContext,
): readonly Unindexed[] {
  const isServed = (condition: Condition, by: IndexContext): boolean =>
    counted(ehrs).some((ehr) => indexConditions(ehr, scope, [condition], by).length > 0);
  const best: IndexContext = { ...context, leafIndex: 'all', subsumption: false };
  return counted(conjuncts).flatMap((condition): Unindexed[] => {
    if (isServed(condition, context)) return [];
    if (isServed(condition, best)) return [{ condition, reason: 'off', detail: '' }];
    return [{ condition, ...whyNot(condition, scope) }];
  });
}

type Why = Pick<Unindexed, 'reason' | 'detail'>;

function whyNot(condition: Condition, scope: Scope): Why {
  switch (condition.kind) {
    case 'or':
    case 'and':
      return { reason: 'or', detail: '' };
    case 'comparison':
      if (condition.operator === '!=') return { reason: 'operator', detail: '!=' };
      return whyNoComparison(condition.left, condition.right, scope);
    case 'matches':
      if (condition.negated) return { reason: 'operator', detail: 'NOT MATCHES' };
      return whyNoComparison(condition.left, null, scope);
    default:
      return { reason: 'operator', detail: condition.kind.toUpperCase() };
  }
}

/** `right`: null where the path is looked for in a set. */
function whyNoComparison(left: ValueExpression, right: ValueExpression | null, scope: Scope): Why {
  if (left.kind !== 'path') return { reason: 'no_path', detail: '' };
  if (right?.kind === 'path' || right?.kind === 'function') return { reason: 'no_literal', detail: '' };
  const { alias } = scope.useOf(left);
  if (alias.kind !== 'object') return { reason: 'ending', detail: endingOf(left) };
  if (archetypeIdsOf(alias)?.length !== 1)
    return { reason: 'archetype', detail: alias.variable ?? alias.className };
  const bare = withoutCode(left);
  if (bare.length > 0) return { reason: 'at_code', detail: bare.join(', ') };
  return { reason: 'ending', detail: endingOf(left) };
}

/** Attributes that hold nodes, on the way to a value, and name none of them. */
const NODES = /^(data|state|protocol|description|events|items|item|rows|content|activities|other_context)$/;

function withoutCode({ steps }: IdentifiedPath): readonly string[] {
  return counted(steps)
    .filter(
      ({ attribute, predicate }) => NODES.test(attribute) && demandedIdentity(predicate).nodeId === null,
    )
    .map(({ attribute }) => attribute);
}

/** The attributes behind the last node. */
function endingOf({ steps }: IdentifiedPath): string {
  const last = counted(steps).findLastIndex(({ predicate }) => predicate !== null);
  return counted(steps.slice(last + 1))
    .map(({ attribute }) => attribute)
    .join('/');
}
