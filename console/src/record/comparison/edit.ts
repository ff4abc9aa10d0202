import { isObject, textAt } from '../../api/json.js';
import type { Json, JsonObject } from '../../api/types.js';
import { isSaid } from '../values/value-text.js';
import { isSame } from './canonical.js';
import { matchesOf } from './matching.js';

/** What makes one value another. */
export type Edit =
  /** A value in place of another; undefined: there was none, or is none any more. */
  | { readonly kind: 'value'; readonly before: Json | undefined; readonly after: Json | undefined }
  | { readonly kind: 'members'; readonly before: JsonObject; readonly members: ReadonlyMap<string, Edit> }
  /** The members of the newer list in order; what is in none of them was taken away. */
  | { readonly kind: 'list'; readonly before: readonly Json[]; readonly items: readonly ListItem[] };

/** A member of a list: one that was there, with what changed in it, or a new one. */
type ListItem =
  { readonly from: number; readonly edit: Edit | null } | { readonly from: null; readonly added: Json };

/**
 * What makes a value another one, by what is recorded and not by how it is shown; null: they say the same. Data values, codes
 * and parties are replaced as a whole.
 */
export function editOf(before: Json | undefined, after: Json | undefined): Edit | null {
  if (isSame(before, after)) return null;
  if (Array.isArray(before) && Array.isArray(after)) return editOfList(before, after);
  if (!isObject(before) || !isObject(after)) return { kind: 'value', before, after };
  const type = textAt(after, '_type');
  if (textAt(before, '_type') !== type || isSaid(type)) return { kind: 'value', before, after };
  const members = new Map<string, Edit>();
  for (const name of new Set([...Object.keys(after), ...Object.keys(before)])) {
    const edit = editOf(before[name], after[name]);
    if (edit !== null) members.set(name, edit);
  }
  return { kind: 'members', before, members };
}

function editOfList(before: readonly Json[], after: readonly Json[]): Edit {
  const items = matchesOf(before, after).map((from, index): ListItem => {
    const now = after[index] ?? null;
    return from === null ? { from, added: now } : { from, edit: editOf(before[from], now) };
  });
  return { kind: 'list', before, items };
}

/** The value that an edit makes of an older one. */
export function applied(edit: Edit | null, before: Json | undefined): Json | undefined {
  if (edit === null) return before;
  if (edit.kind === 'value') return edit.after;
  if (edit.kind === 'list')
    return edit.items.map((item) =>
      item.from === null ? item.added : (applied(item.edit, (before as Json[])[item.from]) ?? null),
    );
  const made: JsonObject = { ...(before as JsonObject) };
  for (const [name, member] of edit.members) {
    const value = applied(member, made[name]);
    if (value === undefined) Reflect.deleteProperty(made, name);
    else made[name] = value;
  }
  return made;
}
