import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.js';
import { counted, step } from '../../base/work.js';
import { isLocatable } from '../../rm/model/classes.js';
import type { CompiledTemplate } from '../../template/compile.js';
import { readFlat, type ReadFlatOptions } from './read.js';
import { writeFlat } from './write.js';

/** A list of objects that have names. */
type Named = readonly JsonObject[];

/**
 * Reads a FLAT body as a change of what its COMPOSITION was before: what the body says as before stays as it was, with all that
 * FLAT cannot say of it (docs/spec/formats.md#flat-over). @throws as `readFlat`
 */
export function readFlatOver(
  flat: JsonObject,
  before: JsonObject,
  { template, ...options }: ReadFlatOptions & { readonly template: CompiledTemplate },
): JsonObject {
  const next = readFlat(flat, template, options);
  const said = readFlat(writeFlat(before, template), template, { now: options.now });
  const carried = carriedObject(before, said, next);
  // Which version it is follows from the request.
  if (next['uid'] === undefined) Reflect.deleteProperty(carried, 'uid');
  return carried;
}

/** `before`: as it was; `said`: what FLAT says of that; `next`: what FLAT says now. */
function carried(before: JsonValue, said: JsonValue, next: JsonValue): JsonValue {
  step();
  if (isDeepStrictEqual(said, next)) return before;
  if (areNamed(before) && areNamed(said) && areNamed(next)) return carriedList(before, said, next);
  const isKept = isStructure(before) && isStructure(said) && isStructure(next) && before._type === next._type;
  // A value that is another one keeps nothing: a code, a range or a link of the old one is none of it.
  return isKept ? carriedObject(before, said, next) : next;
}

function carriedObject(before: JsonObject, said: JsonObject, next: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [name, value] of counted(Object.entries(before))) {
    const [was, is] = [said[name], next[name]];
    if (is === undefined) {
      // What FLAT does not say was not taken away.
      if (was === undefined) kept[name] = value;
    } else kept[name] = was === undefined ? is : carried(value, was, is);
  }
  for (const [name, value] of counted(Object.entries(next))) {
    const was = said[name];
    // What reading FLAT puts in by itself was not there, and nobody asked for it.
    const isInvented = was !== undefined && isDeepStrictEqual(was, value);
    if (before[name] === undefined && !isInvented) kept[name] = value;
  }
  return kept;
}

/** Members in the order of before; what is new stands behind them. */
function carriedList(before: Named, said: Named, next: Named): JsonValue[] {
  const saidOf = pairs(before, said, false);
  const nextOf = pairs(said, next, true);
  const taken = new Set<JsonObject>();
  const kept = counted(before).flatMap((member): JsonValue[] => {
    const was = saidOf.get(member);
    if (was === undefined) return [member];
    const is = nextOf.get(was);
    if (is === undefined) return [];
    taken.add(is);
    return [carried(member, was, is)];
  });
  return [...kept, ...counted(next).filter((member) => !taken.has(member))];
}

/**
 * Which member is which: of one node and name, in their order. `isChanged`: where there are more or less than before, those that
 * are the same first.
 */
function pairs(left: Named, right: Named, isChanged: boolean): Map<JsonObject, JsonObject> {
  const found = new Map<JsonObject, JsonObject>();
  const open = byName(right);
  for (const [name, members] of counted(byName(left))) {
    const others = open.get(name) ?? [];
    const isOther = isChanged && members.length !== others.length;
    const rest = isOther ? pairEqual(members, others, found) : { members, others };
    counted(rest.members).forEach((member, index) => {
      const other = rest.others[index];
      if (other !== undefined) found.set(member, other);
    });
  }
  return found;
}

/** Pairs those that are the same; gives the others. */
function pairEqual(
  members: Named,
  others: Named,
  found: Map<JsonObject, JsonObject>,
): { readonly members: Named; readonly others: Named } {
  const free = [...others];
  const left = counted(members).filter((member) => {
    const index = counted(free).findIndex((other) => isDeepStrictEqual(member, other));
    const [other] = index === -1 ? [] : free.splice(index, 1);
    if (other !== undefined) found.set(member, other);
    return other === undefined;
  });
  return { members: left, others: free };
}

function byName(members: Named): Map<string, JsonObject[]> {
  const groups = new Map<string, JsonObject[]>();
  for (const member of counted(members)) {
    const name = isJsonObject(member['name']) ? member['name']['value'] : '';
    const key = JSON.stringify([member['archetype_node_id'], name]);
    const group = groups.get(key) ?? [];
    group.push(member);
    groups.set(key, group);
  }
  return groups;
}

function areNamed(value: JsonValue): value is JsonObject[] {
  return (
    Array.isArray(value) &&
    counted(value).every((member) => isJsonObject(member) && isLocatableObject(member))
  );
}

function isLocatableObject(value: JsonObject): boolean {
  return typeof value['_type'] === 'string' && isLocatable(value['_type']);
}

/** What holds parts, and is no value. */
function isStructure(value: JsonValue): value is JsonObject {
  return isJsonObject(value) && (isLocatableObject(value) || value['_type'] === 'EVENT_CONTEXT');
}
