import { isObject, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { isLocatable, isSilent } from '../structure.js';
import { attributeText } from '../values/attribute-text.js';
import { factLines } from '../values/facts.js';
import { instantText } from '../values/instant.js';
import { nullText } from '../values/null-flavour.js';
import { wholeText, type ValueReader } from '../values/value-reader.js';
import { isSaid, valueText } from '../values/value-text.js';
import { editOf, type Edit } from './edit.js';

/** One line of what changed. */
export interface Change {
  readonly kind: 'added' | 'removed' | 'changed' | 'moved';
  /** Names from the top, such as `Blood pressure › Systolic`. */
  readonly label: string;
  /** null: only the other version has it. */
  readonly before: string | null;
  readonly after: string | null;
  /** Attributes that changed besides what is read at first: `defining code › code string: 59621000 → 999999`. */
  readonly details: readonly string[];
}

/** What changed from one version to another in the order of the newer one, in words. Only the uid of a version is no change. */
export function changesOf(before: Json, after: Json, reader: ValueReader): Change[] {
  const edit = editOf(withoutUid(before), withoutUid(after));
  return edit === null ? [] : linesOf(edit, [], reader);
}

function withoutUid(version: Json): Json {
  return isObject(version) ? { ...version, uid: undefined } : version;
}

/** A line for each place that an edit touches. */
export function linesOf(edit: Edit, names: readonly string[], reader: ValueReader): Change[] {
  if (edit.kind === 'value') return [lineOf(edit, names, reader)];
  if (edit.kind === 'members')
    return [...edit.members].flatMap(([name, member]) =>
      linesOf(member, [...names, ...wordsOf(name, edit.before[name], member, reader)], reader),
    );
  return linesOfList(edit, names, reader);
}

function linesOfList(
  edit: Extract<Edit, { kind: 'list' }>,
  names: readonly string[],
  reader: ValueReader,
): Change[] {
  const { before, items } = edit;
  const named = (value: Json): readonly string[] => [...names, ...nameOf(value, reader)];
  const lines = items.flatMap((item) => {
    if (item.from === null)
      return [lineOf({ before: undefined, after: item.added }, named(item.added), reader)];
    return item.edit === null ? [] : linesOf(item.edit, named(before[item.from] ?? null), reader);
  });
  const kept = items.flatMap(({ from }) => (from === null ? [] : [from]));
  const gone = before.flatMap((value, index) =>
    kept.includes(index) ? [] : [lineOf({ before: value, after: undefined }, named(value), reader)],
  );
  const isMoved = kept.some((from, index) => index > 0 && from < (kept[index - 1] ?? 0));
  const moved: Change[] = isMoved
    ? [{ kind: 'moved', label: labelOf(names), before: null, after: null, details: [] }]
    : [];
  return [...lines, ...gone, ...moved];
}

function lineOf(
  { before, after }: { readonly before: Json | undefined; readonly after: Json | undefined },
  names: readonly string[],
  reader: ValueReader,
): Change {
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const text = (value: Json | undefined): string | null =>
    value === undefined ? null : contentText(value, reader);
  const [was, is] = [text(before), text(after)];
  const details = kind === 'changed' ? detailsOf({ before, after, looksSame: was === is }, reader) : [];
  return { kind, label: labelOf(names), before: was, after: is, details };
}

function labelOf(names: readonly string[]): string {
  return names.filter((name, index) => name !== '' && name !== names[index - 1]).join(' › ');
}

/** Attributes in which two values differ; none where only what is read at first does, and can be seen to. */
function detailsOf(
  {
    before,
    after,
    looksSame,
  }: {
    readonly before: Json | undefined;
    readonly after: Json | undefined;
    readonly looksSame: boolean;
  },
  reader: ValueReader,
): string[] {
  const [old, now] = [attributesOf(before), attributesOf(after)];
  const differing = [...new Set([...now.keys(), ...old.keys()])].filter(
    (path) => old.get(path) !== now.get(path),
  );
  if (!looksSame && differing.every((path) => path === 'value' || path === 'magnitude')) return [];
  const words = (path: string): string =>
    path
      .split('/')
      .map((name) => attributeText(name, reader))
      .join(' › ');
  return differing.map((path) => `${words(path)}: ${old.get(path) ?? '–'} → ${now.get(path) ?? '–'}`);
}

function attributesOf(value: Json | undefined): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (each: Json | undefined, path: readonly string[]): void => {
    if (each === undefined) return;
    if (Array.isArray(each)) each.forEach((member, index) => visit(member, [...path, String(index + 1)]));
    else if (isObject(each))
      for (const [name, member] of Object.entries(each)) visit(member, [...path, name]);
    else found.set(path.join('/'), String(each));
  };
  visit(value, []);
  return found;
}

/** What a value or a whole part of a record says, in one line. */
function contentText(value: Json, reader: ValueReader): string {
  if (!isObject(value) || isSaid(textAt(value, '_type'))) return wholeText(valueText(value, reader));
  const elements = elementsOf(value);
  const said = (element: Json): string =>
    isObject(element) && element['value'] !== undefined
      ? wholeText(valueText(element['value'], reader))
      : nullText(element, reader);
  const [first] = elements;
  if (first !== undefined && elements.length === 1) return said(first);
  if (elements.length > 1)
    return elements.map((element) => `${textAt(element, 'name', 'value')} ${said(element)}`).join('; ');
  return factLines(value, reader)
    .map(([label, each]) => `${label} ${wholeText(valueText(each, reader))}`.trim())
    .join('; ');
}

function elementsOf(value: Json | undefined): Json[] {
  if (Array.isArray(value)) return value.flatMap(elementsOf);
  if (!isObject(value)) return [];
  if (textAt(value, '_type') === 'ELEMENT') return [value];
  return Object.values(value).flatMap(elementsOf);
}

const SILENT_ATTRIBUTES = new Set([
  'data',
  'state',
  'protocol',
  'description',
  'value',
  'items',
  'events',
  'content',
]);

/** What a member adds to the names: a node its name, an attribute with a value its own. */
function wordsOf(name: string, before: Json | undefined, edit: Edit, reader: ValueReader): readonly string[] {
  const value = edit.kind === 'value' ? (edit.after ?? before ?? null) : (before ?? null);
  if (isLocatable(value)) return nameOf(value, reader);
  return SILENT_ATTRIBUTES.has(name) ? [] : [attributeText(name, reader)];
}

/** The name of a node, of an event with its time; of structures that only hold others nothing. */
function nameOf(value: Json, reader: ValueReader): readonly string[] {
  if (!isLocatable(value) || isSilent(value)) return [];
  const name = textAt(value, 'name', 'value');
  const time = textAt(value, 'time', 'value');
  return [time === '' ? name : `${name} ${instantText(time, reader).text}`];
}
