import { isObject, items, textAt } from '../api/json.js';
import type { Json, JsonObject } from '../api/types.js';

/** `openEHR-EHR-CLUSTER.person.v1` with the class in it, and the steps to an ELEMENT. */
const PATH = /^(openEHR-EHR-([A-Z_]+)\.[^/]+)\/(.+)$/;

/** The ELEMENTs at a path of `PATIENT_BANNER_PATHS` within an object: docs/console.md#pages */
export function elementsAt(root: Json | undefined, path: string): JsonObject[] {
  const [, archetypeId, , steps] = PATH.exec(path) ?? [];
  if (archetypeId === undefined || steps === undefined) return [];
  let found = nodesOf(root, archetypeId);
  for (const step of steps.split('/')) {
    const [, attribute = '', nodeId] = /^(\w+)(?:\[([\w.]+)\])?$/.exec(step) ?? [];
    found = found
      .flatMap((node) => [node[attribute] ?? []].flat())
      .filter(isObject)
      .filter((node) => nodeId === undefined || textAt(node, 'archetype_node_id') === nodeId);
  }
  return found.filter((element) => element['value'] !== undefined);
}

function nodesOf(value: Json | undefined, archetypeId: string): JsonObject[] {
  if (Array.isArray(value)) return items(value).flatMap((each) => nodesOf(each, archetypeId));
  if (!isObject(value)) return [];
  const below = Object.values(value).flatMap((each) => nodesOf(each, archetypeId));
  return textAt(value, 'archetype_node_id') === archetypeId ? [value, ...below] : below;
}

/** What asks the documents of a record for the newest ELEMENT at a path, as `name` and `value`; null: none can have it. */
export function bannerQuery(path: string): string | null {
  const [, archetypeId, rmClass, steps] = PATH.exec(path) ?? [];
  if (archetypeId === undefined || rmClass === undefined || steps === undefined) return null;
  // No document holds a status.
  if (rmClass === 'EHR_STATUS') return null;
  const node = `${rmClass} n[${archetypeId}]`;
  return [
    `SELECT n/${steps}/name/value AS name, n/${steps}/value AS value`,
    `FROM EHR e CONTAINS VERSION v CONTAINS ${rmClass === 'COMPOSITION' ? node : `COMPOSITION c CONTAINS ${node}`}`,
    `WHERE EXISTS n/${steps}/value`,
    'ORDER BY v/commit_audit/time_committed DESC LIMIT 1',
  ].join(' ');
}
