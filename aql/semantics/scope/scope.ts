import { memoized } from '../../../openehr/base/maps.js';
import { attributesOf } from '../../../openehr/rm/model/classes.js';
import type { PathAlias } from '../../../openehr/template/upgrade/path-alias.js';
import { aqlError } from '../../syntax/aql-error.js';
import type {
  ColumnExpression,
  IdentifiedPath,
  ObjectPath,
  OrderItem,
  PathStep,
  Position,
  Predicate,
  PredicateCondition,
  BoundQuery,
  Condition,
  Test,
  ValueExpression,
} from '../../syntax/ast.js';
import { fromWithAliases } from './alias-from.js';
import { alternativesOf } from './aliases.js';
import { existenceIn, buildPathTree, type PathDraft } from './path-tree.js';
import { nearestWord } from '../../../openehr/base/text.js';
import { renderValue } from '../../syntax/render.js';
import { comparedValues, existencePath, pathsOf, testsOf } from '../../syntax/walk.js';
import { resolveFrom, type FromScope } from './from.js';
import type { Alias, Column, Existence, OrderKey, PathUse, Scope } from '../scope-types.js';
import { classSet, pathType, stepType } from '../typing.js';
import { writtenName } from '../written-name.js';
import { counted, step } from '../../../openehr/base/work.js';

/** What of the request changes the meaning of a query. */
export interface ScopeOptions {
  /** The request's ehr_id: fixes every EHR of FROM. */
  readonly ehrId?: string | null;
  /** Paths that templates have moved, which are seen as one with where they are now. */
  readonly aliases?: readonly PathAlias[];
}

/**
 * Resolves variables, classes and paths of a query. What the result means: `Scope`.
 * @throws invalid with line and column for what is impossible in FROM, variables and paths
 */
export function resolveScope(query: BoundQuery, options: ScopeOptions = {}): Scope {
  const { ehrId = null, aliases = [] } = options;
  const seen = aliases.length === 0 ? query.from : fromWithAliases(query.from, aliases);
  const from = resolveFrom(seen === query.from ? query : { ...query, from: seen }, ehrId);
  const paths = new PathResolver(from, aliases);
  for (const alias of counted(from.aliases)) paths.checkPredicate(alias.predicate, classSet(alias.classes));
  const columns = selectedColumns(query, from);
  const orderBy = counted(query.orderBy).map((item) => orderKey(item, query, from));
  paths.addAll({ columns, where: query.where, orderBy });
  const own = paths.drafts.length;
  paths.addFallbacks();
  const { uses, trees } = buildPathTree(paths.drafts);
  const scope: Scope = {
    query,
    from: from.from,
    aliases: from.aliases,
    variables: bindable(from),
    columns,
    paths: own === uses.length ? uses : uses.slice(0, own),
    trees,
    orderBy,
    useOf: (path) => paths.useOf(path, uses),
    existenceOf: memoized((path: IdentifiedPath) => paths.existenceOf(path, uses, trees)),
  };
  const isSeen = own < uses.length || seen !== query.from || paths.isMovedAsked(query.where);
  return isSeen ? { ...scope, seesAliases: true } : scope;
}

function bindable({ named }: FromScope): ReadonlyMap<string, Alias> {
  return new Map(counted([...named]).filter(([, alias]) => !alias.negated));
}

/** Collects the different paths of a query and types each. */
class PathResolver {
  readonly drafts: PathDraft[] = [];
  private readonly known = new Map<string, number>();

  constructor(
    private readonly from: FromScope,
    private readonly aliases: readonly PathAlias[],
  ) {}

  /** What a query reads, in the order in which its rows are made. */
  addAll({ columns, where, orderBy }: Pick<Scope, 'columns' | 'orderBy'> & Pick<BoundQuery, 'where'>): void {
    for (const { expression } of counted(columns)) this.addColumn(expression);
    for (const test of testsOf(where)) this.addTest(test);
    for (const { expression } of counted(orderBy)) this.addColumn(expression);
  }

  private addColumn(expression: ColumnExpression): void {
    const value = expression.kind === 'aggregate' ? expression.argument : expression;
    if (value !== null) this.addValue(value);
  }

  /** What is asked for existence is checked alone: that never multiplies rows. */
  private addTest(test: Test): void {
    const path = existencePath(test);
    if (path !== null) this.resolve(path);
    for (const value of counted(comparedValues(test))) this.addValue(value);
  }

  private addValue(value: ValueExpression): void {
    for (const path of pathsOf(value)) {
      const key = keyOf(path);
      if (this.known.has(key)) continue;
      const draft = this.resolve(path);
      this.known.set(key, this.drafts.length);
      this.drafts.push(draft);
    }
  }

  /** What is read where nothing stands at the paths so far. */
  addFallbacks(): void {
    if (this.aliases.length === 0) return;
    for (const [index, draft] of counted([...this.drafts]).entries()) {
      const found = alternativesOf(draft.path, draft.alias, this.aliases);
      if (found === null) continue;
      this.drafts[index] = { ...draft, moved: found.moved };
      const { alias } = draft;
      for (const { path, templateIds, moved } of counted(found.others)) {
        const type = pathType(classSet(alias.classes), path.steps) ?? draft.type;
        this.drafts.push({ alias, path, type, moved, instead: { of: index, templateIds } });
      }
    }
  }

  /** Whether WHERE asks for the existence of what a template has moved. */
  isMovedAsked(where: Condition | null): boolean {
    if (this.aliases.length === 0) return false;
    return counted([...testsOf(where)]).some((test) => {
      const path = existencePath(test);
      return path !== null && alternativesOf(path, aliasOf(path, this.from), this.aliases) !== null;
    });
  }

  useOf(path: IdentifiedPath, uses: readonly PathUse[]): PathUse {
    const use = uses[this.known.get(keyOf(path)) ?? -1];
    if (use === undefined) throw new TypeError(`${renderValue(path)} takes no part in rows`);
    return use;
  }

  existenceOf(path: IdentifiedPath, uses: readonly PathUse[], trees: Scope['trees']): Existence {
    const use = uses[this.known.get(keyOf(path)) ?? -1];
    if (use !== undefined) return { kind: 'use', use };
    const { alias } = this.resolve(path);
    const own = existenceIn(trees[alias.index], alias, path);
    const found = this.aliases.length === 0 ? null : alternativesOf(path, alias, this.aliases);
    if (found === null) return own;
    const fallbacks = counted(found.others).map((other) => ({
      templateIds: other.templateIds,
      existence: existenceIn(trees[alias.index], alias, other.path),
    }));
    return { ...own, fallbacks };
  }

  private resolve(path: IdentifiedPath): PathDraft {
    const alias = aliasOf(path, this.from);
    const classes = classSet(alias.classes);
    this.checkPredicate(path.predicate, classes);
    this.checkSteps(path, path.steps, classes);
    const type = pathType(classes, path.steps);
    if (type === null) throw new TypeError('a checked path has a type');
    return { alias, path, type };
  }

  private checkSteps(
    whole: { readonly at: Position } & Parameters<typeof renderValue>[0],
    steps: readonly PathStep[],
    start: ReadonlySet<string>,
  ): void {
    let classes = start;
    for (const step of counted(steps)) {
      const next = stepType(classes, step.attribute).classes;
      if (next.size === 0) throw impossibleStep(renderValue(whole), step, classes);
      this.checkPredicate(step.predicate, next);
      classes = next;
    }
  }

  /** Paths inside a predicate, relative to elements of `classes`. @throws invalid for an impossible one */
  checkPredicate(predicate: Predicate | null, classes: ReadonlySet<string>): void {
    for (const condition of counted(predicate?.alternatives.flat() ?? []))
      for (const path of counted(comparedPaths(condition))) {
        if (isNeverMatching(path, classes)) continue;
        this.checkSteps(path, path.steps, classes);
      }
  }
}

function comparedPaths(condition: PredicateCondition): readonly ObjectPath[] {
  if (condition.kind === 'predicate-regex') return [condition.path];
  if (condition.kind !== 'predicate-comparison') return [];
  return condition.operand.kind === 'object-path' ? [condition.path, condition.operand] : [condition.path];
}

/** Where there is no name or archetype id, predicates on them just never match (docs/spec/aql.md#from-classes). */
function isNeverMatching(path: ObjectPath, classes: ReadonlySet<string>): boolean {
  const first = path.steps[0]?.attribute;
  return (first === 'name' || first === 'archetype_node_id') && stepType(classes, first).classes.size === 0;
}

/** The text that paths written alike share. A path is asked for often while a query is translated. */
const keyOf = memoized((path: IdentifiedPath) => renderValue(path));

function aliasOf(path: IdentifiedPath, { named }: FromScope): Alias {
  const alias = named.get(path.variable);
  if (alias === undefined) {
    const nearest = nearestWord(path.variable, named.keys());
    const meant = nearest === null ? '' : `; did you mean ${nearest}?`;
    throw aqlError(path.at, `unknown variable '${path.variable}'${meant}`);
  }
  if (alias.negated)
    throw aqlError(path.at, `the variable '${path.variable}' stands below NOT CONTAINS and has no value`);
  return alias;
}

function impossibleStep(path: string, step: PathStep, classes: ReadonlySet<string>): Error {
  const names = [...classes];
  const owner = names.length > 3 ? 'none of the classes that can stand there' : names.join(', ');
  const attributes = counted(names).flatMap((name) => [...attributesOf(name).keys()]);
  const nearest = nearestWord(step.attribute, new Set(attributes));
  const meant = nearest === null ? '' : `; did you mean ${nearest}?`;
  const verb = names.length === 1 ? 'has no' : names.length > 3 ? 'has an' : 'have no';
  return aqlError(step.at, `impossible path ${path}: ${owner} ${verb} attribute '${step.attribute}'${meant}`);
}

function selectedColumns(query: BoundQuery, from: FromScope): readonly Column[] {
  const aliases = new Set<string>();
  return counted(query.select.columns).map(({ expression, alias, text, at }, index) => {
    if (alias !== null && aliases.has(alias)) throw aqlError(at, `the alias '${alias}' is used twice`);
    if (alias !== null) aliases.add(alias);
    const path = expression.kind === 'path' ? shownPath(expression, text, from) : null;
    return { name: alias ?? `#${index}`, path, expression };
  });
}

/** `e/ehr_status/X` is shown as `s/X`, as clients of EHRbase know it; `s1` and so on when `s` is taken. */
function shownPath(path: IdentifiedPath, text: string, { named }: FromScope): string {
  const isEhr = named.get(path.variable)?.kind === 'ehr';
  const first = path.steps[0];
  const isStatus = path.predicate === null && first?.attribute === 'ehr_status' && first.predicate === null;
  if (!isEhr || !isStatus) return text;
  let variable = 's';
  step(named.size);
  for (let count = 1; named.has(variable); count++) variable = `s${count}`;
  return text.replace(/^\w+\s*\/\s*ehr_status/, variable);
}

function orderKey({ expression, descending }: OrderItem, query: BoundQuery, from: FromScope): OrderKey {
  const { columns } = query.select;
  const isName = expression.kind === 'path' && expression.steps.length === 0 && expression.predicate === null;
  const name = isName ? aliasOrVariable(expression, query, from) : null;
  const named = counted(columns).findIndex(({ alias }) => alias !== null && alias === name);
  const column = columns[named];
  if (column !== undefined) return { expression: column.expression, column: named, descending };
  const sorted = isName && name !== null ? { ...expression, variable: name } : expression;
  const text = orderText(sorted);
  const same = counted(columns).findIndex((each) => orderText(each.expression) === text);
  return { expression: sorted, column: same < 0 ? null : same, descending };
}

/** The alias or variable that a name in ORDER BY stands for. @throws invalid when there is none */
function aliasOrVariable({ variable, at }: IdentifiedPath, query: BoundQuery, { named }: FromScope): string {
  const aliases = counted(query.select.columns)
    .map(({ alias }) => alias)
    .filter((alias) => alias !== null);
  const meant = writtenName(variable, new Set([...aliases, ...named.keys()]), at);
  if (meant === null) throw aqlError(at, `ORDER BY: '${variable}' is neither a column alias nor a variable`);
  return meant;
}

function orderText(expression: ColumnExpression): string {
  return expression.kind === 'path' ? keyOf(expression) : renderValue(expression);
}
