import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import type { Predicate } from '../syntax/ast.js';
import { demandedNodeId } from '../semantics/scope/node-identity.js';
import type { Alias, FromNode, Scope } from '../semantics/scope/types.js';
import { isNodeCode } from '../syntax/words.js';
import { fits, type Rules } from './predicate.js';
import type { Ehr, Node, Version } from './store.js';
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

/** By alias index; null: below an OR whose operand does not match. */
export type Tuple = readonly (Bound | null | undefined)[];

/** Evaluates FROM: every combination of matches is one tuple (docs/spec/aql.md#containment). */
export class FromEvaluator {
  constructor(
    private readonly scope: Scope,
    private readonly ehrs: readonly Ehr[],
    private readonly rules: Rules & { readonly ehrId: string | null },
  ) {}

  tuples(): readonly Tuple[] {
    return this.match(this.scope.from, null);
  }

  private match(from: FromNode, above: Bound | null): readonly Tuple[] {
    if (from.kind === 'class') return this.matchClass(from, above);
    const lists = from.operands.map((operand) => this.match(operand, above));
    if (from.kind === 'and') return product(lists);
    if (lists.every((list) => list.length === 0)) return [];
    return product(
      lists.map((list, index) => (list.length > 0 ? list : [this.nulls(from.operands[index] ?? from)])),
    );
  }

  private matchClass(from: Extract<FromNode, { kind: 'class' }>, above: Bound | null): readonly Tuple[] {
    const { alias, contains } = from;
    const found = this.candidates(alias, above).filter((bound) => this.fitsAlias(bound, alias, above));
    return found.flatMap((bound) => {
      const own: (Bound | null | undefined)[] = [];
      own[alias.index] = bound;
      if (contains === null) return [own];
      const inner = this.match(contains.child, bound);
      if (contains.negated) return inner.length === 0 ? [own] : [];
      return inner.map((tuple) => merge(own, tuple));
    });
  }

  /** All aliases of an operand as NULL. */
  private nulls(from: FromNode): Tuple {
    if (from.kind !== 'class') return from.operands.map((operand) => this.nulls(operand)).reduce(merge, []);
    const own: (Bound | null | undefined)[] = [];
    own[from.alias.index] = null;
    const { contains } = from;
    return contains === null || contains.negated ? own : merge(own, this.nulls(contains.child));
  }

  private candidates(alias: Alias, above: Bound | null): readonly Bound[] {
    if (alias.impossible) return [];
    if (alias.kind === 'ehr') return this.visibleEhrs(alias);
    if (above === null) return [];
    if (alias.kind === 'version') return versionsBelow(above, alias);
    return nodesBelow(above).filter(({ object }) => isOfClass(object, alias.classes));
  }

  private visibleEhrs(alias: Alias): readonly Bound[] {
    return this.ehrs
      .filter(({ source }) => this.rules.ehrId === null || source.ehrId === this.rules.ehrId)
      .filter(({ source }) => source.isQueryable || source.ehrId === alias.fixedEhrId)
      .map((ehr) => ({ kind: 'ehr', ehr, object: ehr.pathObject }));
  }

  private fitsAlias(bound: Bound, alias: Alias, above: Bound | null): boolean {
    const { predicate } = alias;
    if (predicate === null) return true;
    const local = isOfSameArchetype(bound, above) ? predicate : withoutNodeCodes(predicate);
    return local !== null && fits(plain(bound.object), local, new Set(alias.classes), this.rules);
  }
}

/** An at-code holds within the archetype of the class above (docs/spec/aql.md#node-predicates-in-from). */
function isOfSameArchetype(bound: Bound, above: Bound | null): boolean {
  if (bound.kind !== 'node' || above?.kind !== 'node') return false;
  return bound.version === above.version && bound.node.archetypeRoot === above.node.archetypeRoot;
}

function withoutNodeCodes(predicate: Predicate): Predicate | null {
  const alternatives = predicate.alternatives.filter(
    (group) => !group.some((condition) => isNodeCode(demandedNodeId(condition) ?? '')),
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
  const referenced = above.kind === 'node' ? referencedIds(above.object) : null;
  return inScope
    .filter(
      ({ versionedObjectUid, type }) =>
        above.kind === 'ehr' || (type === 'COMPOSITION' && referenced?.has(versionedObjectUid) === true),
    )
    .filter(({ object }) => isOfClass(object, alias.classes))
    .map((version) => ({ kind: 'version', ehr, version, object: version.object }));
}

function nodesBelow(above: Bound): readonly Bound[] {
  const { ehr } = above;
  if (above.kind === 'ehr') return ehr.latest.flatMap((version) => boundNodes(ehr, version.nodes));
  if (above.kind === 'version') return boundNodes(ehr, above.version.nodes);
  const { node, version, object } = above;
  const inside = boundNodes(ehr, version.nodes.slice(node.number + 1, node.last + 1));
  if (object['_type'] !== 'FOLDER') return inside;
  const referenced = referencedIds(object);
  const compositions = ehr.latest.filter(
    ({ type, versionedObjectUid }) => type === 'COMPOSITION' && referenced.has(versionedObjectUid),
  );
  return [...inside, ...compositions.flatMap((each) => boundNodes(ehr, each.nodes))];
}

function boundNodes(ehr: Ehr, nodes: readonly Node[]): readonly Bound[] {
  return nodes.map((node) => ({ kind: 'node', ehr, version: node.version, node, object: node.object }));
}

/** Object ids of the items of a FOLDER and of all FOLDERs below it. */
function referencedIds(folder: JsonObject): ReadonlySet<string> {
  const found = new Set<string>();
  for (const item of listOf(folder['items'])) {
    const id = item['id'];
    const value = isJsonObject(id) ? id['value'] : null;
    if (typeof value === 'string') found.add(rootOfUid(value).toLowerCase());
  }
  for (const inner of listOf(folder['folders'])) for (const id of referencedIds(inner)) found.add(id);
  return found;
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function product(lists: readonly (readonly Tuple[])[]): readonly Tuple[] {
  return lists.reduce<readonly Tuple[]>(
    (rows, list) => rows.flatMap((row) => list.map((tuple) => merge(row, tuple))),
    [[]],
  );
}

function merge(a: Tuple, b: Tuple): Tuple {
  const merged = [...a];
  b.forEach((bound, index) => {
    if (bound !== undefined) merged[index] = bound;
  });
  return merged;
}
