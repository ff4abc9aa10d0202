import type { Condition } from '../syntax/ast.js';
import { comparedValues, conjunctsOf, existencePath, pathsOf, testsOf } from '../syntax/walk.js';
import { boundAliases } from '../semantics/from-walk.js';
import type { Alias, Scope } from '../semantics/scope-types.js';
import type { RowEvaluator } from './condition.js';
import type { Bound, Tuple } from './contains.js';
import type { Rules } from './predicate.js';
import { choicesOf, rowsOf, type Choice, type Row } from './rows.js';
import { counted } from '../../openehr/base/work.js';

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
    const order = boundAliases(scope.from);
    const all = counted(conjunctsOf(scope.query.where)).map((condition) => {
      const found = spokenOf(condition, scope);
      return { condition, aliases: counted(order).filter((alias) => found.has(alias)) };
    });
    const ofOne = new Map<Alias, Condition[]>();
    for (const { condition, aliases } of counted(all)) {
      const [alias, another] = aliases;
      if (alias === undefined || another !== undefined) continue;
      ofOne.set(alias, [...(ofOne.get(alias) ?? []), condition]);
    }
    this.#ofOne = ofOne;
    this.#ofSeveral = counted(all).filter(({ aliases }) => aliases.length > 1);
    this.#ofNone = counted(all)
      .filter(({ aliases }) => aliases.length === 0)
      .map(({ condition }) => condition);
  }

  /** Whether a tuple in which an alias was just bound can still become a row. */
  admits(tuple: Tuple, alias: Alias): boolean {
    if (this.#choicesOf(tuple, alias).length === 0) return false;
    return counted(this.#ofSeveral).every(({ condition, aliases }) => {
      if (aliases[aliases.length - 1] !== alias) return true;
      const rows = rowsOf(
        tuple,
        counted(aliases).map((each) => this.#choicesOf(tuple, each)),
      );
      for (const row of rows) if (this.#isTrue(condition, row)) return true;
      return false;
    });
  }

  /** The rows of a tuple for which WHERE is true. */
  *rows(tuple: Tuple): Generator<Row> {
    const choices = counted(this.scope.aliases)
      .filter(({ index }) => tuple[index] !== undefined)
      .map((alias) => this.#choicesOf(tuple, alias));
    const rest = [...this.#ofNone, ...counted(this.#ofSeveral).map(({ condition }) => condition)];
    for (const row of rowsOf(tuple, choices))
      if (counted(rest).every((condition) => this.#isTrue(condition, row))) yield row;
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
    return counted(choices).filter((choice) =>
      counted(conditions).every((condition) => this.#isTrue(condition, { tuple, ...choice })),
    );
  }

  #isTrue(condition: Condition, row: Row): boolean {
    return this.evaluator.truth(condition, row) === true;
  }
}

/** The aliases that a condition speaks of. */
function spokenOf(condition: Condition, scope: Scope): ReadonlySet<Alias> {
  const found = new Set<Alias>();
  for (const test of testsOf(condition)) {
    const path = existencePath(test);
    if (path !== null) found.add(aliasOfExistence(path, scope));
    for (const value of counted(comparedValues(test)))
      for (const each of pathsOf(value)) found.add(scope.useOf(each).alias);
  }
  return found;
}

function aliasOfExistence(path: Parameters<Scope['existenceOf']>[0], scope: Scope): Alias {
  const existence = scope.existenceOf(path);
  return existence.kind === 'use' ? existence.use.alias : existence.alias;
}
