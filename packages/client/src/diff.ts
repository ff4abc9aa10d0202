/** One difference between two versions. */
export interface Difference {
  readonly kind: 'added' | 'removed' | 'changed';
  /** Where: attributes with node codes and names, `/content[openEHR-EHR-OBSERVATION.blood_pressure.v2]/data/…`. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * What differs between two RM objects. Nodes of a list are compared by their code and name, so that one that is put
 * before others does not change them all. An added or removed node is one difference.
 */
export function differences(before: unknown, after: unknown, path = ''): Difference[] {
  if (Object.is(before, after)) return [];
  const at = path === '' ? '/' : path;
  if (isMissing(before)) return isMissing(after) ? [] : [{ kind: 'added', path: at, after }];
  if (isMissing(after)) return [{ kind: 'removed', path: at, before }];
  if (Array.isArray(before) && Array.isArray(after)) return listDifferences(before, after, path);
  if (isObject(before) && isObject(after) && before._type === after._type)
    return memberDifferences(before, after, path);
  return [{ kind: 'changed', path: at, before, after }];
}

function memberDifferences(before: Json, after: Json, path: string): Difference[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => differences(before[name], after[name], `${path}/${name}`));
}

function listDifferences(before: readonly unknown[], after: readonly unknown[], path: string): Difference[] {
  const [left, right] = [keyed(before), keyed(after)];
  const keys = new Set([...left.keys(), ...right.keys()]);
  return [...keys].flatMap((key) => differences(left.get(key), right.get(key), `${path}[${key}]`));
}

/** The members of a list by code and name, those that are alike by their position among them. */
function keyed(list: readonly unknown[]): Map<string, unknown> {
  const members = new Map<string, unknown>();
  const seen = new Map<string, number>();
  for (const [index, member] of list.entries()) {
    const node = nodeOf(member);
    const count = (seen.get(node) ?? 0) + 1;
    seen.set(node, count);
    members.set(node === '' ? String(index) : count === 1 ? node : `${node}, ${count}`, member);
  }
  return members;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

function nodeOf(member: unknown): string {
  if (!isObject(member) || typeof member.archetype_node_id !== 'string') return '';
  const name = isObject(member.name) ? member.name.value : undefined;
  return typeof name === 'string' ? `${member.archetype_node_id}, '${name}'` : member.archetype_node_id;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
