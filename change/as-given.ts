import { isJsonObject, type JsonObject, type JsonValue } from '../openehr/base/json.js';
import type { VersionDoc } from '../models/version.js';

const STEP = /^([a-z_]+)(?:\[(\d+)\])?$/;

/**
 * Canonical JSON text of a version with what lenient validation left out of it back in its place
 * (docs/spec/formats.md#lenient-validation); null when nothing was left out.
 */
export function contentAsGiven({ data, validation_findings: findings = [] }: VersionDoc): string | null {
  const left = findings.flatMap(({ path, dropped }) => (dropped === undefined ? [] : [{ path, ...dropped }]));
  if (data === null || left.length === 0) return null;
  const object = JSON.parse(data) as JsonObject;
  for (const { path, name, value } of left) {
    const holder = objectAtPath(object, path);
    if (holder !== null && !Object.hasOwn(holder, name)) holder[name] = JSON.parse(value) as JsonValue;
  }
  return JSON.stringify(object);
}

function objectAtPath(root: JsonObject, path: string): JsonObject | null {
  let value: JsonValue = root;
  for (const step of path.split('/').slice(1)) {
    if (step === '') continue;
    const [, name = '', index] = STEP.exec(step) ?? [];
    const member: JsonValue | undefined = isJsonObject(value) ? value[name] : undefined;
    value = (index === undefined || !Array.isArray(member) ? member : member[Number(index)]) ?? null;
  }
  return isJsonObject(value) ? value : null;
}
