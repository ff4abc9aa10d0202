import { isJsonObject, type JsonObject, type JsonValue } from '../../../openehr/base/json.js';
import type { Violation } from '../../../openehr/base/violation.js';

/** At most so many violations are answered as data; `validationErrors` lists further ones. */
export const MAX_VIOLATIONS_AS_DATA = 100;
/** At most so many expected names are answered. */
const MAX_EXPECTED = 20;
/** Longer texts are cut. What was found is what a client sent: it is repeated no further than it helps. */
const MAX_FOUND_LENGTH = 200;
const MAX_MESSAGE_LENGTH = 1000;

/** The violations of an error body (docs/spec/rest.md#violations): bounded in number and in length. */
export function violationsBody(violations: readonly Violation[]): JsonObject[] {
  return violations.slice(0, MAX_VIOLATIONS_AS_DATA).map((violation) => {
    const { path, aqlPath, flatPath, code, rule, message, expected, found, line, column } = violation;
    return defined({
      path: cut(path, MAX_MESSAGE_LENGTH),
      // A path that is cut is none.
      aqlPath: isShort(aqlPath) ? aqlPath : undefined,
      flatPath: isShort(flatPath) ? flatPath : undefined,
      code,
      rule,
      message: cut(message, MAX_MESSAGE_LENGTH),
      expected: expected?.slice(0, MAX_EXPECTED).map(shortened),
      found: found === undefined ? undefined : shortened(found),
      line,
      column,
    });
  });
}

function isShort(path: string | undefined): boolean {
  return path !== undefined && path.length <= MAX_MESSAGE_LENGTH;
}

function cut(text: string, length = MAX_FOUND_LENGTH): string {
  return text.length > length ? `${text.slice(0, length - 1)}\u2026` : text;
}

function shortened(value: JsonValue): JsonValue {
  if (typeof value === 'string') return cut(value);
  if (Array.isArray(value)) return value.slice(0, MAX_EXPECTED).map(shortened);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}

function defined(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const object: JsonObject = {};
  for (const [name, member] of Object.entries(members)) if (member !== undefined) object[name] = member;
  return object;
}
