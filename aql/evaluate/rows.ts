import { counted, step, tuple as countTuple } from '../../openehr/base/work.js';
import type { Alias, PathNode, Existence, PathUse, Scope, StepIdentity } from '../semantics/scope-types.js';
import type { Bound, Tuple } from './contains.js';
import { fits, isNodeIdMatch, valuesAlong, type Rules } from './predicate.js';
import { attributeValues, plain, type Found } from './value.js';
import { isJsonObject } from '../../openehr/base/json.js';
import { valueInRow, withoutReplaced } from './fallbacks.js';
import { isOfTemplate } from './store.js';

/** One row before WHERE: the bound objects, the value of every path, and the elements chosen on the way. */
export interface Row {
  readonly tuple: Tuple;
  /** By use index; absent = NULL. */
  readonly values: ReadonlyMap<number, Found>;
  /** By node id; absent = NULL. */
  readonly elements: ReadonlyMap<number, Found>;
}

/** What one way of choosing elements for the paths of an alias gives. */
export type Choice = Pick<Row, 'values' | 'elements'>;

const NOTHING: Choice = { values: new Map(), elements: new Map() };

/**
 * What the paths of an alias leave to choose for an object that it stands for (docs/spec/aql.md#rows): one choice per
 * combination, or that there is nothing.
 */
export function choicesOf(
  scope: Scope,
  { index }: Alias,
  bound: Bound | null,
  rules: Rules,
): readonly Choice[] {
  const tree = scope.trees[index];
  if (tree === undefined || bound === null) return [NOTHING];
  const uses = counted(tree.uses).filter(
    ({ instead }) => instead === undefined || isIn(bound, instead.templateIds),
  );
  const found = choose(tree, plain(bound.object), uses, rules);
  return found.length === 0 ? [NOTHING] : found;
}

/** Whether an object is of a COMPOSITION of a template. */
function isIn(bound: Bound, templateIds: readonly string[]): boolean {
  return bound.kind !== 'ehr' && isOfTemplate(bound.version, templateIds);
}

/** The rows of a tuple, one by one: every combination of the choices of its aliases. */
export function* rowsOf(tuple: Tuple, choices: readonly (readonly Choice[])[]): Generator<Row> {
  yield* combined(choices, 0, { tuple, ...NOTHING });
}

function* combined(choices: readonly (readonly Choice[])[], index: number, row: Row): Generator<Row> {
  step();
  const list = choices[index];
  if (list === undefined) {
    countTuple();
    yield row;
  } else if (list.length === 1 && list[0] === NOTHING) yield* combined(choices, index + 1, row);
  else
    for (const choice of counted(list))
      yield* combined(choices, index + 1, { ...row, ...joinChoices(row, choice) });
}

function joinChoices(one: Choice, other: Choice): Choice {
  step();
  if (one.values.size === 0 && one.elements.size === 0) return other;
  return {
    values: new Map([...one.values, ...other.values]),
    elements: new Map([...one.elements, ...other.elements]),
  };
}

/** The alternatives below an element, for the paths still `active`; none when all of them end above their decisive step. */
function choose(node: PathNode, element: Found, active: readonly PathUse[], rules: Rules): readonly Choice[] {
  step();
  const fitting = counted(active).filter((use) => {
    const depth = counted(use.steps).findIndex((step) => step.node === node);
    return fits(element, use.steps[depth]?.filter ?? null, node.classes, rules);
  });
  const here = withoutReplaced(fitting, node, element, rules);
  const ends = counted(node.ends).filter((use) => here.includes(use));
  const below = counted(node.children).map((child) => {
    const through = counted(child.uses).filter((use) => here.includes(use));
    if (through.length === 0) return [];
    return counted(attributeValues(element, child.attribute ?? ''))
      .filter((value) => hasIdentity(value, child.identity, rules))
      .flatMap((value) => choose(child, value, through, rules));
  });
  const isThere = counted(here).some(
    ({ steps, decisive }) => counted(steps).findIndex((step) => step.node === node) >= decisive,
  );
  if (!isThere && counted(below).every((list) => list.length === 0)) return [];
  const own: Choice = {
    values: new Map(counted(ends).map((use) => [use.index, element])),
    elements: new Map([[node.id, element]]),
  };
  return counted(below).reduce<readonly Choice[]>(choiceProduct, [own]);
}

/** Left outer: where there is no alternative there is one NULL. */
function choiceProduct(rows: readonly Choice[], alternatives: readonly Choice[]): readonly Choice[] {
  if (alternatives.length === 0) return rows;
  const all: Choice[] = [];
  for (const row of rows)
    for (const choice of alternatives) {
      countTuple();
      all.push(joinChoices(row, choice));
    }
  return all;
}

function hasIdentity(element: Found, identity: StepIdentity, rules: Rules): boolean {
  if (identity.kind === 'base') return true;
  if (!isJsonObject(element.value)) return false;
  const { archetype_node_id: nodeId, name } = element.value;
  const isNamed = (wanted: string | null): boolean =>
    wanted === null || (isJsonObject(name) && name['value'] === wanted);
  if (identity.kind === 'name') return isNamed(identity.name);
  if (typeof nodeId !== 'string') return false;
  if (identity.kind === 'code') return nodeId === identity.nodeId && isNamed(identity.name);
  return isNodeIdMatch(nodeId, identity.archetypeId, rules.subsumption) && isNamed(identity.name);
}

/** Whether the operand of an EXISTS is there in a row (`Existence`). */
export function isThere(existence: Existence, row: Row, rules: Rules): boolean {
  if (existence.kind === 'use') return valueInRow(existence.use, row) !== null;
  const { alias, fallbacks = [] } = existence;
  const bound: Bound | null = row.tuple[alias.index] ?? null;
  if (bound === null) return false;
  for (const { templateIds, existence: other } of counted(fallbacks))
    if (isIn(bound, templateIds) && isThere(other, row, rules)) return true;
  return isThereBelow(bound, existence, row, rules);
}

/** Whether something stands at the path of an EXISTS, below an object of FROM. */
function isThereBelow(
  bound: Bound,
  { alias, path, shared }: Extract<Existence, { readonly kind: 'search' }>,
  row: Row,
  rules: Rules,
): boolean {
  let element = plain(bound.object);
  let classes: ReadonlySet<string> = new Set(alias.classes);
  let depth = 0;
  if (!fits(element, path.predicate, classes, rules)) return false;
  for (const { node, filter } of shared.slice(1)) {
    step();
    const chosen = node === null ? undefined : row.elements.get(node.id);
    if (node === null || chosen === undefined) break;
    if (!fits(chosen, filter, node.classes, rules)) return false;
    [element, classes] = [chosen, node.classes];
    depth++;
  }
  return valuesAlong(element, path.steps.slice(depth), classes, rules).length > 0;
}
