import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { counted, step, tuple as countTuple } from '../../openehr/base/work.js';
import type { Predicate } from '../syntax/ast.js';
import { boundAliases } from '../semantics/from-walk.js';
import { demandedNodeId } from '../semantics/node-identity.js';
import type { Alias, FromClass, FromNode, Scope } from '../semantics/scope-types.js';
import { isNodeCode } from '../syntax/words.js';
import { fits, type Rules } from './predicate.js';
import { isOfTemplate, type Ehr, type Node, type Version } from './store.js';
import { plain } from './value.js';

/** What an alias stands for in one row. */
export type Bound =
  | { readonly kind: 'ehr'; readonly ehr: Ehr; readonly object: JsonObject }
  | { readonly kind: 'version'; readonly ehr: Ehr; readonly version: Version; readonly object: JsonObject }
  | {
      readonly kind: 'node';
      readonly ehr: Ehr;
      readonly version: Version;
      readonly node: Node;
      readonly object: JsonObject;
    };

/** By alias index; null: below an OR whose operand does not match; undefined: not bound. */
export type Tuple = readonly (Bound | null | undefined)[];

/** Whether a tuple in which an alias was just bound can still become a row. */
type Admits = (tuple: Tuple, alias: Alias) => boolean;

/** What `above` is at the top of FROM. */
const TOP = {};

/**
 * Evaluates FROM: every combination of matches is one tuple (docs/spec/aql.md#containment). They are made one by one, and
 * a part of one that `admits` refuses is not combined with anything more.
 */
export class FromEvaluator {
  readonly #found = new Map<Alias, WeakMap<object, readonly Bound[]>>();
  readonly #exists = new Map<FromNode, WeakMap<object, boolean>>();

  constructor(
    private readonly scope: Scope,
    private readonly ehrs: readonly Ehr[],
    private readonly rules: Rules & { readonly ehrId: string | null },
    private readonly admits: Admits = () => true,
  ) {}

  /** @throws CdrError of a budget of the pass that is used up */
  tuples(): Iterable<Tuple> {
    const empty = new Array<undefined>(this.scope.aliases.length).fill(undefined);
    return this.match(this.scope.from, null, empty);
  }

  /** The ways to extend a tuple by a part of FROM. */
  private *match(from: FromNode, above: Bound | null, tuple: Tuple): Generator<Tuple> {
    step();
    if (from.kind === 'class') yield* this.matchClass(from, above, tuple);
    else if (from.kind === 'and' || this.exists(from, above))
      yield* this.joined(from, above, { tuple, index: 0 });
  }

  /** The operands of a join from `index` on; of an OR one that matches nothing is NULL. */
  private *joined(
    join: Exclude<FromNode, { kind: 'class' }>,
    above: Bound | null,
    { tuple, index }: { readonly tuple: Tuple; readonly index: number },
  ): Generator<Tuple> {
    step();
    const operand = join.operands[index];
    if (operand === undefined) {
      yield tuple;
      return;
    }
    const isNull = join.kind === 'or' && !this.exists(operand, above);
    const extended = isNull ? this.nulls(operand, tuple) : this.match(operand, above, tuple);
    for (const each of extended) yield* this.joined(join, above, { tuple: each, index: index + 1 });
  }

  private *matchClass({ alias, contains }: FromClass, above: Bound | null, tuple: Tuple): Generator<Tuple> {
    for (const bound of this.candidates(alias, above)) {
      countTuple();
      if (contains?.negated === true && this.exists(contains.child, bound)) continue;
      const extended = withBound(tuple, alias, bound);
      if (!this.admits(extended, alias)) continue;
      if (contains === null || contains.negated) yield extended;
      else yield* this.match(contains.child, bound, extended);
    }
  }

  /** All aliases of an operand as NULL: at most one way. */
  private *nulls(from: FromNode, tuple: Tuple): Generator<Tuple> {
    step();
    let extended = tuple;
    for (const alias of counted(boundAliases(from))) {
      extended = withBound(extended, alias, null);
      if (!this.admits(extended, alias)) return;
    }
    yield extended;
  }

  /** Whether a part of FROM matches at all, whatever WHERE says. */
  private exists(from: FromNode, above: Bound | null): boolean {
    step();
    const known = inner(this.#exists, from);
    let answer = known.get(above ?? TOP);
    if (answer === undefined) known.set(above ?? TOP, (answer = this.search(from, above)));
    return answer;
  }

  private search(from: FromNode, above: Bound | null): boolean {
    step();
    if (from.kind !== 'class') {
      const { kind, operands } = from;
      const exists = (operand: FromNode): boolean => this.exists(operand, above);
      return kind === 'and' ? counted(operands).every(exists) : counted(operands).some(exists);
    }
    const { alias, contains } = from;
    return counted(this.candidates(alias, above)).some(
      (bound) => contains === null || this.exists(contains.child, bound) !== contains.negated,
    );
  }

  /** The objects that an alias may stand for, found once below each object. */
  private candidates(alias: Alias, above: Bound | null): readonly Bound[] {
    const known = inner(this.#found, alias);
    let found = known.get(above ?? TOP);
    if (found === undefined) known.set(above ?? TOP, (found = [...this.fitting(alias, above)]));
    return found;
  }

  private *fitting(alias: Alias, above: Bound | null): Generator<Bound> {
    if (alias.impossible) return;
    for (const bound of this.ofClass(alias, above)) {
      step();
      if (this.fitsAlias(bound, alias, above)) yield bound;
    }
  }

  private ofClass(alias: Alias, above: Bound | null): Iterable<Bound> {
    if (alias.kind === 'ehr') return this.visibleEhrs(alias);
    if (above === null) return [];
    return alias.kind === 'version' ? versionsBelow(above, alias) : nodesBelow(above, alias.classes);
  }

  private visibleEhrs(alias: Alias): readonly Bound[] {
    return counted(this.ehrs)
      .filter(({ source }) => this.rules.ehrId === null || source.ehrId === this.rules.ehrId)
      .filter(({ source }) => source.isQueryable || source.ehrId === alias.fixedEhrId)
      .map((ehr) => ({ kind: 'ehr', ehr, object: ehr.pathObject }));
  }

  private fitsAlias(bound: Bound, alias: Alias, above: Bound | null): boolean {
    const { predicate } = alias;
    if (predicate === null) return true;
    const own = inTemplate(predicate, bound);
    const local = own === null || isOfSameArchetype(bound, above) ? own : withoutNodeCodes(own);
    return local !== null && fits(plain(bound.object), local, new Set(alias.classes), this.rules);
  }
}

function inner<Key, Value>(known: Map<Key, WeakMap<object, Value>>, key: Key): WeakMap<object, Value> {
  let found = known.get(key);
  if (found === undefined) known.set(key, (found = new WeakMap()));
  return found;
}

function withBound(tuple: Tuple, { index }: Alias, bound: Bound | null): Tuple {
  const extended = [...tuple];
  extended[index] = bound;
  return extended;
}

/** An at-code holds within the archetype of the class above (docs/spec/aql.md#node-predicates-in-from). */
function isOfSameArchetype(bound: Bound, above: Bound | null): boolean {
  if (bound.kind !== 'node' || above?.kind !== 'node') return false;
  return bound.version === above.version && bound.node.archetypeRoot === above.node.archetypeRoot;
}

/** The alternatives that hold in the COMPOSITION that an object is of. */
function inTemplate(predicate: Predicate, bound: Bound): Predicate | null {
  if (bound.kind === 'ehr') return predicate;
  const { version } = bound;
  const alternatives = counted(predicate.alternatives).filter((group) =>
    counted(group).every(
      (each) => each.kind !== 'node' || each.template === undefined || isOfTemplate(version, each.template),
    ),
  );
  return alternatives.length === 0 ? null : { ...predicate, alternatives };
}

function withoutNodeCodes(predicate: Predicate): Predicate | null {
  const alternatives = counted(predicate.alternatives).filter(
    (group) => !counted(group).some((condition) => isNodeCode(demandedNodeId(condition) ?? '')),
  );
  return alternatives.length === 0 ? null : { ...predicate, alternatives };
}

function isOfClass(object: JsonObject, classes: readonly string[]): boolean {
  const type = object['_type'];
  return typeof type === 'string' && classes.includes(type);
}

function versionsBelow(above: Bound, alias: Alias): readonly Bound[] {
  const { ehr } = above;
  const inScope = alias.versions === 'latest' ? ehr.latest : ehr.versions;
  const referenced = above.kind === 'node' ? folderItemIds(above.object) : null;
  step(inScope.length);
  return counted(inScope)
    .filter(
      ({ versionedObjectUid, type }) =>
        above.kind === 'ehr' || (type === 'COMPOSITION' && referenced?.has(versionedObjectUid) === true),
    )
    .filter(({ object }) => isOfClass(object, alias.classes))
    .map((version) => ({ kind: 'version', ehr, version, object: version.object }));
}

function* nodesBelow(above: Bound, classes: readonly string[]): Generator<Bound> {
  const { ehr } = above;
  const isWanted = new Set(classes);
  const wanted = function* (nodes: readonly Node[], first = 0, last = nodes.length - 1): Generator<Bound> {
    for (let index = first; index <= last; index += 1) {
      step();
      const node = nodes[index];
      const type = node?.object['_type'];
      if (node !== undefined && typeof type === 'string' && isWanted.has(type))
        yield { kind: 'node', ehr, version: node.version, node, object: node.object };
    }
  };
  if (above.kind === 'version') yield* wanted(above.version.nodes);
  if (above.kind === 'ehr') for (const version of counted(ehr.latest)) yield* wanted(version.nodes);
  if (above.kind !== 'node') return;
  const { node, version, object } = above;
  yield* wanted(version.nodes, node.number + 1, node.last);
  if (object['_type'] !== 'FOLDER') return;
  const referenced = folderItemIds(object);
  for (const { type, versionedObjectUid, nodes } of ehr.latest) {
    step();
    if (type === 'COMPOSITION' && referenced.has(versionedObjectUid)) yield* wanted(nodes);
  }
}

/** Object ids of the items of a FOLDER and of all FOLDERs below it. */
function folderItemIds(folder: JsonObject): ReadonlySet<string> {
  step();
  const found = new Set<string>();
  for (const item of objectsIn(folder['items'])) {
    step();
    const id = item['id'];
    const value = isJsonObject(id) ? id['value'] : null;
    if (typeof value === 'string') found.add(rootOfUid(value).toLowerCase());
  }
  for (const inner of counted(objectsIn(folder['folders'])))
    for (const id of counted(folderItemIds(inner))) found.add(id);
  return found;
}

function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? counted(value).filter(isJsonObject) : [];
}
