import { CdrError } from '../base/errors.js';
import type { JsonObject, JsonValue } from '../base/json.js';
import type { XmlElement } from '../base/xml.js';
import { counted } from '../base/work.js';

/** Names that say something of a JSON object itself. */
const RESERVED = new Set(['_type', '__proto__']);

/**
 * Puts an element that the class does not know into the object as it stands, so that whoever reads the object can tell
 * of it and leave it out: text where it holds text alone, else its attributes (`@name`), elements and texts (`#text`).
 * @throws invalid for a name that would change the object itself
 */
export function keepUnknown(object: JsonObject, { name, value }: { name: string; value: JsonValue }): void {
  if (RESERVED.has(name)) throw new CdrError('invalid', `the name ${name} is not possible here`);
  const before = object[name];
  if (before === undefined) object[name] = value;
  else if (Array.isArray(before)) before.push(value);
  else object[name] = [before, value];
}

/** What an element of unknown meaning holds. @throws as `keepUnknown` */
export function unknownValue({ attributes, children }: XmlElement): JsonValue {
  const all = counted(children);
  if (attributes.size === 0 && all.every((child) => typeof child === 'string')) return all.join('');
  const object: JsonObject = {};
  for (const [name, value] of counted(attributes)) keepUnknown(object, { name: `@${name}`, value });
  for (const child of counted(children)) {
    if (typeof child === 'string') keepUnknown(object, { name: '#text', value: child });
    else keepUnknown(object, { name: child.name, value: unknownValue(child) });
  }
  return object;
}
