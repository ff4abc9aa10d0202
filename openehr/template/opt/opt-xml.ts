import { CdrError } from '../../base/errors.js';
import { textContent, type XmlElement } from '../../base/xml.js';
import type { Code, Interval, Multiplicity } from './constraint.js';

/** An OPT that cannot be read: XML or schema. Answered 400 (docs/spec/formats.md#opt-errors). */
export function unreadable(reason: string, cause?: unknown): CdrError {
  const details = cause === undefined ? {} : { cause };
  return new CdrError('invalid', `Invalid template input content: ${reason}`, details);
}

/** An OPT that can be read but makes no sense. Answered 400, or 422 (docs/spec/formats.md#opt-errors). */
export function invalidTemplate(reason: string): CdrError {
  return new CdrError('invalid', `Invalid template: ${reason}`, { about: 'template-text' });
}

/** What is refused of a part of a template is told with its place: `step` is put before that of what is within. @throws as `read` */
export function placedAt<T>(step: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CdrError) || error.code !== 'invalid') throw error;
    const { message, details } = error;
    const [within] = details.problems ?? [];
    const problem = { path: step + (within?.path ?? ''), code: 'invalid', message } as const;
    throw new CdrError('invalid', message, { ...details, problems: [problem] });
  }
}

/** A step of the path of a template: an attribute, and by its id the object in it. */
export function stepTo(attribute: string, id: string): string {
  return id === '' ? `/${attribute}` : `/${attribute}[${id}]`;
}

/** The elements below `parent`, of one local name when given, in document order. */
export function elements(parent: XmlElement | undefined, name?: string): XmlElement[] {
  const found: XmlElement[] = [];
  for (const child of parent?.children ?? []) {
    if (typeof child !== 'string' && (name === undefined || child.name === name)) found.push(child);
  }
  return found;
}

/** The first element of that local name. */
export function element(parent: XmlElement | undefined, name: string): XmlElement | undefined {
  for (const child of parent?.children ?? []) {
    if (typeof child !== 'string' && child.name === name) return child;
  }
  return undefined;
}

/** The text directly in an element, without white space around it; '' when there is none. */
export function text(parent: XmlElement | undefined): string {
  if (parent === undefined) return '';
  let found = '';
  for (const child of parent.children) if (typeof child === 'string') found += child;
  return found.trim();
}

/** The text of the first child of that local name, '' when it is missing. */
export function childText(parent: XmlElement | undefined, name: string): string {
  return text(element(parent, name));
}

/** Local part of `xsi:type`, '' when there is none. */
export function xsiType(node: XmlElement): string {
  const value = node.attributes.get('xsi:type') ?? '';
  return value.slice(value.indexOf(':') + 1).trim();
}

/** An `xs:boolean`; `whenMissing` for a missing or empty element. @throws invalid for any other text */
export function booleanOf(parent: XmlElement, name: string, whenMissing: boolean): boolean {
  const value = childText(parent, name);
  if (value === '') return whenMissing;
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw unreadable(`${name} is not a boolean`);
}

/** A number. @throws invalid when the text is not one */
export function numberOf(value: string, what: string): number {
  const number = Number(value);
  if (value === '' || !Number.isFinite(number)) throw unreadable(`${what} is not a number`);
  return number;
}

/** A whole number. @throws invalid when the text is not one */
export function integerOf(value: string, what: string): number {
  const number = numberOf(value, what);
  if (!Number.isSafeInteger(number)) throw unreadable(`${what} is not an integer`);
  return number;
}

/** An interval with bounds read by `read`; a missing bound counts as unbounded. */
export function intervalOf<T>(node: XmlElement, read: (value: string, what: string) => T): Interval<T> {
  const bound = (name: 'lower' | 'upper'): T | null => {
    const value = childText(node, name);
    return value === '' || booleanOf(node, `${name}_unbounded`, false) ? null : read(value, name);
  };
  return {
    lower: bound('lower'),
    upper: bound('upper'),
    lowerIncluded: booleanOf(node, 'lower_included', true),
    upperIncluded: booleanOf(node, 'upper_included', true),
  };
}

/** An interval of counts, as inclusive bounds; `whenMissing` without an element. */
export function multiplicityOf(node: XmlElement | undefined, whenMissing: Multiplicity): Multiplicity {
  if (node === undefined) return whenMissing;
  const { lower, upper, lowerIncluded, upperIncluded } = intervalOf(node, integerOf);
  const min = lower === null ? 0 : lower + (lowerIncluded ? 0 : 1);
  const max = upper === null ? -1 : upper - (upperIncluded ? 0 : 1);
  if (min < 0 || max < -1 || (max !== -1 && min > max)) throw unreadable(`${node.name} is not an interval`);
  return { min, max };
}

/** A CODE_PHRASE, null when the element or its code is missing. */
export function codeOf(node: XmlElement | undefined): Code | null {
  const code = childText(node, 'code_string');
  if (code === '') return null;
  return { terminologyId: childText(element(node, 'terminology_id'), 'value'), code };
}

/** Texts of `items` (or of any element with that name) by their `id`, with the white space they have. */
export function itemsOf(node: XmlElement, name = 'items'): Record<string, string> {
  const items = new Map<string, string>();
  for (const item of elements(node, name))
    items.set(item.attributes.get('id') ?? '', ownText(textContent(item)));
  return Object.fromEntries(items);
}

/**
 * The same text as a string of its own: one that was cut out of a document may keep the whole document in memory.
 */
export function ownText(value: string): string {
  return value.length < 13 ? value : Buffer.from(value, 'utf16le').toString('utf16le');
}
