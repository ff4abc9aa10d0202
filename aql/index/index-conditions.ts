import { leafKey, MAX_LEAF_TEXT_BYTES } from './keys.js';
import type { LeafIndex, LeafSuffix } from './document.js';
import type { ComparisonOperator, Condition, IdentifiedPath, Literal } from '../syntax/ast.js';
import { isRenamed } from '../semantics/node-identity.js';
import type {
  Alias,
  Domain,
  FromClass,
  FromNode,
  PathNode,
  PathUse,
  Scope,
} from '../semantics/scope-types.js';
import { fieldCondition } from './field-condition.js';
import { indexedClass, indexedField } from './indexed-paths.js';
import { leafAddress, type LeafAddress } from './leaf-address.js';
import type { Stage } from './stage.js';
import type { IndexCondition, LeafCondition } from './condition.js';
import { literalIn } from '../semantics/literal-value.js';
import { MONGO_OPERATOR } from './stage.js';
import { archetypeIdsOf } from '../semantics/node-classes.js';
import { counted } from '../../openehr/base/work.js';

/** What decides whether a condition can use an index. */
export interface IndexContext {
  readonly leafIndex: LeafIndex;
  readonly systemId: string;
  readonly subsumption: boolean;
}

/**
 * Conditions on the first document of an EHR's operand that follow from WHERE and that an index serves: typed
 * leaves, uid, template, start time. Necessary, never sufficient. docs/spec/aql.md#prefilters
 */
export function indexConditions(
  ehr: FromClass,
  scope: Scope,
  conjuncts: readonly Condition[],
  context: IndexContext,
): readonly IndexCondition[] {
  if (ehr.contains === null || ehr.contains.negated) return [];
  const bound = alwaysBound(ehr.contains.child);
  const conditions = new IndexConditions(scope, bound, context);
  const leaves: Leaf[] = [];
  const others: IndexCondition[] = [];
  for (const condition of counted(conjuncts)) {
    const leaf = conditions.leafOf(condition);
    if (leaf !== null) addLeaf(leaf, leaves);
    else {
      const found = conditions.conditionOf(condition);
      if (found !== null) others.push(found);
    }
  }
  return [...others, ...counted(leaves).map(leafCondition)];
}

/** Conditions on one leaf of one element make a range; another element may have a leaf of the same key. */
function addLeaf(leaf: Leaf, leaves: Leaf[]): void {
  const at = counted(leaves).findIndex(({ key, node }) => key === leaf.key && node === leaf.node);
  const same = leaves[at];
  if (same === undefined) leaves.push(leaf);
  else leaves[at] = { ...leaf, range: { ...same.range, ...leaf.range } };
}

/**
 * Key of the leaf that the first key of ORDER BY reads, where WHERE says how high or low it must be; null also
 * where WHERE compares the same leaf of another element.
 */
export function sortedLeaf(
  ehr: FromClass,
  scope: Scope,
  conjuncts: readonly Condition[],
  context: IndexContext,
): string | null {
  const [key] = scope.orderBy;
  if (key?.expression.kind !== 'path' || ehr.contains === null || ehr.contains.negated) return null;
  const sorted = scope.useOf(key.expression);
  const conditions = new IndexConditions(scope, alwaysBound(ehr.contains.child), context);
  const leaves = counted(conjuncts)
    .map((condition) => conditions.leafOf(condition))
    .filter((leaf) => leaf !== null);
  const bounded = counted(leaves).find(({ use, operator }) => use === sorted && operator !== '=');
  const isOnly = counted(leaves).every(({ key, node }) => key !== bounded?.key || node === bounded.node);
  return bounded !== undefined && isOnly ? bounded.key : null;
}

/** Aliases that are bound in the first document of every row. */
function alwaysBound(child: FromNode): ReadonlySet<Alias> {
  const base =
    child.kind === 'class'
      ? child
      : child.kind === 'and'
        ? counted(child.operands).find((each): each is FromClass => each.kind === 'class')
        : undefined;
  const bound = new Set<Alias>();
  const visit = (node: FromNode): void => {
    if (node.kind !== 'class') {
      if (node.kind === 'and') counted(node.operands).forEach(visit);
      return;
    }
    bound.add(node.alias);
    const stays = node.contains !== null && !node.contains.negated;
    if (stays && !node.alias.classes.includes('FOLDER')) visit(node.contains.child);
  };
  if (base !== undefined) visit(base);
  return bound;
}

/** A condition on a typed leaf. */
interface Leaf {
  readonly key: string;
  readonly range: LeafCondition['range'];
  readonly operator: ComparisonOperator;
  /** The path that is compared, and the choice of the ELEMENT or EVENT that has the leaf. */
  readonly use: PathUse;
  readonly node: PathNode | undefined;
}

function leafCondition({ key, range }: Leaf): LeafCondition {
  return { kind: 'leaf', key, range };
}

const NUMERIC: readonly LeafSuffix[] = ['m', 'p', 't', 'd', 'h'];

class IndexConditions {
  constructor(
    private readonly scope: Scope,
    private readonly bound: ReadonlySet<Alias>,
    private readonly context: IndexContext,
  ) {}

  /** The one leaf of a comparison; conditions on the same leaf are merged into a range by the caller. */
  leafOf(condition: Condition): Leaf | null {
    if (condition.kind !== 'comparison' || condition.left.kind !== 'path') return null;
    const item = constant(condition.right);
    if (item === null) return null;
    const leaves = this.leaves(condition.left, condition.operator, item);
    const [only] = leaves;
    return leaves.length === 1 && only !== undefined ? only : null;
  }

  /** A necessary condition; null when there is none that an index serves. */
  conditionOf(condition: Condition): IndexCondition | null {
    switch (condition.kind) {
      case 'and':
        return allFound(counted(condition.operands).map((each) => this.conditionOf(each)));
      case 'or':
        return anyFound(counted(condition.operands).map((each) => this.conditionOf(each)));
      case 'comparison':
        return this.test(condition.left, condition.operator, condition.right);
      case 'matches': {
        const { left, set, negated } = condition;
        if (negated) return null;
        return anyFound(counted(set.items).map((item) => this.test(left, '=', item)));
      }
      case 'not':
      case 'exists':
      case 'like':
        return null;
    }
  }

  private test(
    left: { readonly kind: string },
    operator: ComparisonOperator,
    right: { readonly kind: string },
  ): IndexCondition | null {
    const item = constant(right);
    return left.kind === 'path' && item !== null
      ? this.comparison(left as IdentifiedPath, operator, item)
      : null;
  }

  private comparison(
    path: IdentifiedPath,
    operator: ComparisonOperator,
    item: Literal,
  ): IndexCondition | null {
    const match = this.onDocument(path, operator, item);
    if (match !== null) return { kind: 'field', match };
    const leaves = counted(this.leaves(path, operator, item)).map(leafCondition);
    const [only] = leaves;
    if (only === undefined) return null;
    return leaves.length === 1 ? only : { kind: 'or', operands: leaves };
  }

  /** Fields that the document repeats. */
  private onDocument(path: IdentifiedPath, operator: ComparisonOperator, item: Literal): Stage | null {
    const { alias } = this.scope.useOf(path);
    if (!this.bound.has(alias) || item.kind !== 'string' || hasPredicate(path)) return null;
    const owner = indexedClass(alias);
    if (owner !== 'VERSION' && owner !== 'COMPOSITION') return null;
    return fieldCondition(indexedField(owner, path.steps), operator, item, this.context.systemId);
  }

  private leaves(path: IdentifiedPath, operator: ComparisonOperator, item: Literal): Leaf[] {
    if (operator === '!=' || this.context.leafIndex === 'none' || this.context.subsumption) return [];
    const use = this.scope.useOf(path);
    const { alias, fallbacks } = use;
    if (!this.bound.has(alias) || alias.kind !== 'object') return [];
    const [archetype, another] = archetypeIdsOf(alias) ?? [];
    if (archetype === undefined) return [];
    if (fallbacks === undefined && another === undefined)
      return this.leavesAt(leafAddress(path, alias, archetype), use, operator, item);
    return this.leavesOfAll(use, operator, item);
  }

  /** The leaves of a path, its fallbacks, and all names that a template gave the class of FROM: none unless each has some. */
  private leavesOfAll(use: PathUse, operator: Exclude<ComparisonOperator, '!='>, item: Literal): Leaf[] {
    const { alias, path, fallbacks = [] } = use;
    const ids = archetypeIdsOf(alias) ?? [];
    if (ids.length > 1 && !isRenamed(alias.predicate)) return [];
    const leaves = counted([path, ...counted(fallbacks).map((each) => each.path)]).flatMap((each) =>
      counted(ids).map((id) => this.leavesAt(leafAddress(each, alias, id), use, operator, item)),
    );
    return counted(leaves).some((each) => each.length === 0) ? [] : leaves.flat();
  }

  private leavesAt(
    leaf: LeafAddress | null,
    use: PathUse,
    operator: Exclude<ComparisonOperator, '!='>,
    item: Literal,
  ): Leaf[] {
    if (leaf === null) return [];
    const suffixes = indexSuffixes(leaf.ending, operator, item);
    const kept = counted(suffixes).filter(
      ([suffix]) => this.context.leafIndex === 'all' || NUMERIC.includes(suffix),
    );
    if (kept.length !== suffixes.length) return [];
    return counted(kept).map(([suffix, value]) => ({
      key: leafKey(leaf.archetypeId, leaf.path, suffix),
      range: { [MONGO_OPERATOR[operator]]: value },
      operator,
      use,
      node: use.steps[leaf.depth]?.node,
    }));
  }
}

function hasPredicate({ predicate, steps }: IdentifiedPath): boolean {
  return predicate !== null || counted(steps).some((step) => step.predicate !== null);
}

/** All conditions that were found. */
function allFound(conditions: readonly (IndexCondition | null)[]): IndexCondition | null {
  const found = counted(conditions).filter((each) => each !== null);
  return found.length > 1 ? { kind: 'and', operands: found } : (found[0] ?? null);
}

/** Any of the conditions, if each was found. */
function anyFound(conditions: readonly (IndexCondition | null)[]): IndexCondition | null {
  const found = counted(conditions).filter((each) => each !== null);
  return found.length > 0 && found.length === conditions.length ? { kind: 'or', operands: found } : null;
}

function constant(value: { readonly kind: string }): Literal | null {
  const item = value as Literal;
  return ['string', 'integer', 'real', 'boolean'].includes(value.kind) ? item : null;
}

type SuffixValue = readonly [LeafSuffix, string | number | boolean];

const TEMPORAL: readonly (readonly [LeafSuffix, Domain])[] = [
  ['p', 'duration'],
  ['t', 'instant'],
  ['d', 'date'],
  ['h', 'time'],
];

const VALUE_ENDINGS: ReadonlySet<string> = new Set(['value', 'value/value', 'value/magnitude']);

/** The suffixes under which a literal can stand; empty when some value that matches has no leaf. */
function indexSuffixes(ending: string, operator: ComparisonOperator, item: Literal): SuffixValue[] {
  if (ending === 'time') {
    const instant = literalIn('instant', item);
    return instant === null ? [] : [['t', instant]];
  }
  if (item.kind === 'integer' || item.kind === 'real')
    return VALUE_ENDINGS.has(ending) ? [['m', item.value]] : [];
  if (item.kind === 'boolean') return VALUE_ENDINGS.has(ending) ? [['b', item.value]] : [];
  return item.kind === 'string' && operator === '=' ? textSuffixes(ending, item) : [];
}

/** Longer texts have no leaf. */
function textSuffixes(ending: string, item: Extract<Literal, { kind: 'string' }>): SuffixValue[] {
  if (Buffer.byteLength(item.value) > MAX_LEAF_TEXT_BYTES) return [];
  if (ending === 'value/defining_code/code_string') return [['c', item.value]];
  if (ending === 'value/id') return [['i', item.value]];
  return ending === 'value/magnitude' ? [] : [['s', item.value], ...temporalSuffixes(item)];
}

function temporalSuffixes(item: Literal): SuffixValue[] {
  return TEMPORAL.flatMap(([suffix, domain]): SuffixValue[] => {
    const value = literalIn(domain, item);
    return value === null ? [] : [[suffix, value]];
  });
}
