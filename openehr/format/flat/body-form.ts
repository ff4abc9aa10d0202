import { isJsonObject, type JsonObject } from '../../base/json.js';
import { attributesOf } from '../../rm/model/classes.js';
import { counted } from '../../base/work.js';

/** The forms of a COMPOSITION that are JSON objects. */
export type JsonForm = 'JSON' | 'FLAT' | 'STRUCTURED';

const MAX_SHOWN = 80;

/**
 * One sentence for a body that is in another form than the request says, recognised by its first key; null when the form may
 * be right (docs/spec/formats.md#flat-errors).
 */
export function wrongForm(said: JsonForm, body: JsonObject): string | null {
  const found = bodyForm(said, body);
  if (found === null || found === said) return null;
  if (said === 'STRUCTURED' && found === 'FLAT') return null; // FLAT keys are allowed below the objects of STRUCTURED.
  const [key = ''] = Object.keys(body);
  const shown = key.length > MAX_SHOWN ? `${key.slice(0, MAX_SHOWN)}...` : key;
  if (found === 'JSON')
    return `the body is canonical JSON (its first key is ${shown}), but the request says ${said}: leave out format=${said} and send it as application/json`;
  const form = `the body is ${found} (its first key is ${shown})`;
  return `${form}, but the request says ${said === 'JSON' ? 'canonical JSON' : said}: add the query parameters format=${found} and templateId`;
}

/** The root id of a STRUCTURED body may be the name of an attribute. */
function bodyForm(said: JsonForm, body: JsonObject): JsonForm | null {
  const [key] = Object.keys(body);
  if (key === undefined) return null;
  if (body._type !== undefined || body.archetype_node_id !== undefined) return 'JSON';
  if (said !== 'STRUCTURED' && attributesOf('COMPOSITION').has(key)) return 'JSON';
  if (/[/|]/.test(key)) return 'FLAT';
  const value = body[key] ?? null;
  return isJsonObject(value) || (Array.isArray(value) && counted(value).every(isJsonObject))
    ? 'STRUCTURED'
    : null;
}
