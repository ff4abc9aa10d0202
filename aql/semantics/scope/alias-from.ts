import type { AliasStep, PathAlias } from '../../../openehr/template/upgrade/path-alias.js';
import { counted, step } from '../../../openehr/base/work.js';
import type { FromExpression, Predicate, PredicateCondition } from '../../syntax/ast.js';
import { isArchetypeId } from '../../syntax/words.js';
import { demandedIdentity, demandedNodeId } from '../node-identity.js';
import { directionsOf, idsOf, isName, nodeIdOf } from './aliases.js';

/**
 * FROM with the ids that templates called its nodes in other revisions, each as an alternative that holds in COMPOSITIONs of the
 * template alone; the same object where there are none. docs/spec/aql.md#aliases
 */
export function fromWithAliases(
  from: FromExpression,
  aliases: readonly PathAlias[],
  around: readonly string[] = [],
): FromExpression {
  step();
  if (from.kind !== 'class') {
    const operands = counted(from.operands).map((each) => fromWithAliases(each, aliases, around));
    return operands.every((each, index) => each === from.operands[index]) ? from : { ...from, operands };
  }
  const predicate = widened(from.predicate, aliases, around);
  const archetypes = counted(idsOf(predicate)).filter(isArchetypeId);
  const { contains } = from;
  const below = archetypes.length > 0 ? archetypes : around;
  const child = contains === null ? null : fromWithAliases(contains.child, aliases, below);
  if (predicate === from.predicate && (contains === null || child === contains.child)) return from;
  return {
    ...from,
    predicate,
    contains: contains === null || child === null ? null : { ...contains, child },
  };
}

function widened(
  predicate: Predicate | null,
  aliases: readonly PathAlias[],
  around: readonly string[],
): Predicate | null {
  if (predicate === null) return null;
  const groups = [...predicate.alternatives];
  for (const group of groups) {
    step();
    for (const alias of counted(aliases)) {
      const other = renamed(group, alias, around);
      if (other !== null && !counted(groups).some((each) => isSameGroup(each, other))) groups.push(other);
    }
  }
  return groups.length === predicate.alternatives.length ? predicate : { ...predicate, alternatives: groups };
}

type Group = Predicate['alternatives'][number];

/** The alternative with the other id of a node; null: the alias is of another node. */
function renamed(group: Group, alias: PathAlias, around: readonly string[]): Group | null {
  if (!alias.renames) return null;
  const condition = counted(group).find((each) => demandedNodeId(each) !== null);
  if (condition === undefined || !isWithin(condition, alias)) return null;
  const ends = endsOf(condition, alias, around);
  if (ends === null || !isNamed(group, condition, ends.old)) return null;
  const { at } = condition;
  const further = counted(group).filter((each) => each !== condition && !isName(each));
  const node = { kind: 'node', id: nodeIdOf(ends.now, at), name: null, at } as const;
  return [{ ...node, template: alias.templateIds }, ...further];
}

/** The node that a condition asks for, and its other id; null: the alias is of another node. */
function endsOf(
  condition: PredicateCondition,
  alias: PathAlias,
  around: readonly string[],
): { readonly old: AliasStep; readonly now: string } | null {
  const wanted = demandedNodeId(condition);
  const found = counted(directionsOf(alias)).find(({ from }) => from.at(-1)?.nodeId === wanted);
  const [old, now] = [found?.from.at(-1), found?.to.at(-1)?.nodeId];
  if (found === undefined || old?.nodeId == null || now == null) return null;
  return isArchetypeId(old.nodeId) || around.includes(archetypeOf(found)) ? { old, now } : null;
}

/** Over several revisions of one template, never from one template into another. */
function isWithin(condition: PredicateCondition, { templateIds }: PathAlias): boolean {
  const within = condition.kind === 'node' ? condition.template : undefined;
  return within === undefined || counted(templateIds).some((id) => within.includes(id));
}

/** Whether an alternative asks for no name, or for one that the node had. */
function isNamed(group: Group, condition: PredicateCondition, { names }: AliasStep): boolean {
  if (condition.kind === 'node' && condition.name !== null && condition.name.kind !== 'string') return false;
  const { name } = demandedIdentity({ kind: 'predicate', alternatives: [group], at: condition.at });
  return name === null || names.includes(name);
}

/** The archetype in which the code of the last node holds. */
function archetypeOf({
  from,
  archetypeId,
}: {
  readonly from: readonly AliasStep[];
  readonly archetypeId: string;
}): string {
  const above = counted(from.slice(0, -1)).findLast(({ nodeId }) => nodeId !== null && isArchetypeId(nodeId));
  return above?.nodeId ?? archetypeId;
}

/** Whether one alternative has the id of another, in all COMPOSITIONs or in those of the same template. */
function isSameGroup(one: Group, other: Group): boolean {
  return demandedIdOf(one) === demandedIdOf(other) && ['', templateOf(other)].includes(templateOf(one));
}

function demandedIdOf(group: Group): string | null {
  return (
    counted(group)
      .map(demandedNodeId)
      .find((id) => id !== null) ?? null
  );
}

function templateOf(group: Group): string {
  return counted(group)
    .flatMap((each: PredicateCondition) => (each.kind === 'node' ? (each.template ?? []) : []))
    .join();
}
