import { step } from '../../openehr/base/work.js';
import type { Condition, ValueExpression } from '../syntax/ast.js';
import type { Alias, Scope } from '../semantics/scope/types.js';
import type { RowEvaluator } from './condition.js';
import { aliasesOf, type Bound, type Tuple } from './contains.js';
import type { Rules } from './predicate.js';
import { choicesOf, rowsOf, type Choice, type Row } from './rows.js';

/** A part of WHERE that must be true by itself, and the aliases that it speaks of, as they are bound. */
interface Conjunct {
  readonly condition: Condition;
  readonly aliases: readonly Alias[];
}

/**
 * WHERE in parts, each applied as soon as the aliases that it speaks of are bound: what fails is not combined with anything
 * else (a join, no product). Rows and their order are the same as when WHERE is applied to whole rows.
 */
export class Conjuncts {
  readonly #ofOne: ReadonlyMap<Alias, readonly Condition[]>;
  readonly #ofSeveral: readonly Conjunct[];
  readonly #ofNone: readonly Condition[];
  readonly #choices = new WeakMap<Bound, Map<Alias, readonly Choice[]>>();

  constructor(
    private readonly scope: Scope,
    private readonly evaluator: RowEvaluator,
    private readonly rules: Rules,
  ) {
    const order = aliasesOf(scope.from);
    const all = partsOf(scope.query.where).map((condition) => {
      const found = new Set<Alias>();
      collect(condition, scope, found);
      return { condition, aliases: order.filter((alias) => found.has(alias)) };
    });
    const ofOne = new Map<Alias, Condition[]>();
    for (const { condition, aliases } of all) {
      const [alias, another] = aliases;
      if (alias === undefined || another !== undefined) continue;
      ofOne.set(alias, [...(ofOne.get(alias) ?? []), condition]);
    }
    this.#ofOne = ofOne;
    this.#ofSeveral = all.filter(({ aliases }) => aliases.length > 1);
    this.#ofNone = all.filter(({ aliases }) => aliases.length === 0).map(({ condition }) => condition);
  }

  /** Whether a tuple in which an alias was just bound can still become a row. */
  admits(tuple: Tuple, alias: Alias): boolean {
    if (this.#choicesOf(tuple, alias).length === 0) return false;
    return this.#ofSeveral.every(({ condition, aliases }) => {
      if (aliases[aliases.length - 1] !== alias) return true;
      const rows = rowsOf(
        tuple,
        aliases.map((each) => this.#choicesOf(tuple, each)),
      );
      for (const row of rows) if (this.#isTrue(condition, row)) return true;
      return false;
    });
  }

  /** The rows of a tuple for which WHERE is true. */
  *rows(tuple: Tuple): Generator<Row> {
    const choices = this.scope.aliases
      .filter(({ index }) => tuple[index] !== undefined)
      .map((alias) => this.#choicesOf(tuple, alias));
    const rest = [...this.#ofNone, ...this.#ofSeveral.map(({ condition }) => condition)];
    for (const row of rowsOf(tuple, choices))
      if (rest.every((condition) => this.#isTrue(condition, row))) yield row;
  }

  /** The choices of an alias that the conditions on it alone leave. */
  #choicesOf(tuple: Tuple, alias: Alias): readonly Choice[] {
    const bound = tuple[alias.index] ?? null;
    if (bound === null) return this.#made(tuple, alias, null);
    let known = this.#choices.get(bound);
    if (known === undefined) this.#choices.set(bound, (known = new Map<Alias, readonly Choice[]>()));
    let choices = known.get(alias);
    if (choices === undefined) known.set(alias, (choices = this.#made(tuple, alias, bound)));
    return choices;
  }

  #made(tuple: Tuple, alias: Alias, bound: Bound | null): readonly Choice[] {
    const conditions = this.#ofOne.get(alias) ?? [];
    const choices = choicesOf(this.scope, alias, bound, this.rules);
    if (conditions.length === 0) return choices;
    return choices.filter((choice) =>
      conditions.every((condition) => this.#isTrue(condition, { tuple, ...choice })),
    );
  }

  #isTrue(condition: Condition, row: Row): boolean {
    return this.evaluator.truth(condition, row) === true;
  }
}

/** The operands of the ANDs at the top. */
function partsOf(where: Condition | null): readonly Condition[] {
  step();
  if (where === null) return [];
  return where.kind === 'and' ? where.operands.flatMap(partsOf) : [where];
}

function collect(condition: Condition, scope: Scope, found: Set<Alias>): void {
  step();
  switch (condition.kind) {
    case 'and':
    case 'or':
      for (const operand of condition.operands) collect(operand, scope, found);
      break;
    case 'not':
      collect(condition.operand, scope, found);
      break;
    case 'exists':
      found.add(aliasOfExistence(condition.path, scope));
      break;
    case 'comparison':
      if (condition.right.kind === 'null' && condition.left.kind === 'path')
        found.add(aliasOfExistence(condition.left, scope));
      else for (const side of [condition.left, condition.right]) collectValue(side, scope, found);
      break;
    case 'like':
    case 'matches':
      collectValue(condition.left, scope, found);
  }
}

function collectValue(value: ValueExpression, scope: Scope, found: Set<Alias>): void {
  step();
  if (value.kind === 'path') found.add(scope.useOf(value).alias);
  else if (value.kind === 'function') for (const arg of value.args) collectValue(arg, scope, found);
}

function aliasOfExistence(path: Parameters<Scope['existenceOf']>[0], scope: Scope): Alias {
  const existence = scope.existenceOf(path);
  return existence.kind === 'use' ? existence.use.alias : existence.alias;
}
