import { CdrError, DEFAULT_MAX_NODES, tooManyNodes } from './errors.js';
import { required } from './required.js';

/** Bounds of a document that is read; what exceeds them is refused. */
export interface XmlLimits {
  /** Size of the text in UTF-8 bytes; 20 MiB when absent. */
  readonly maxBytes?: number;
  /** Nested elements; 200 when absent. */
  readonly maxDepth?: number;
  /** Elements, attributes, comments and CDATA sections together; `DEFAULT_MAX_NODES` when absent. */
  readonly maxNodes?: number;
}

interface Scan {
  readonly text: string;
  readonly maxDepth: number;
  readonly maxNodes: number;
  /** Names of the elements that are open, the root first. */
  readonly open: string[];
  nodes: number;
  hasRoot: boolean;
  /** Position of the next `&` that is not validated yet, so that none is searched for twice. */
  ampersand: number;
  /** Start and end of attribute values with literal tabs or line feeds. */
  readonly unnormalised: (readonly [number, number])[];
}

const DEFAULT_MAX_BYTES = 20 * 1024 * 1024;
/** Deepest nesting of elements. */
export const DEFAULT_MAX_DEPTH = 200;
/** Most attributes of one element. */
export const MAX_ATTRIBUTES = 256;

const DECLARATION = /^<\?xml[ \t\n][^?<>]*\?>/;
const NAME = /[A-Za-z_:\u0080-\uffff][\w.:\-\u0080-\uffff]*/y;
const ATTRIBUTE =
  /[ \t\n]+([A-Za-z_:\u0080-\uffff][\w.:\-\u0080-\uffff]*)[ \t\n]*=[ \t\n]*(?:"([^"<]*)"|'([^'<]*)')/y;
const TAG_END = /[ \t\n]*(\/?)>/y;
const CLOSING_TAG = /<\/([A-Za-z_:\u0080-\uffff][\w.:\-\u0080-\uffff]*)[ \t\n]*>/y;
const REFERENCE = /&(?:(?:lt|gt|amp|quot|apos)|#(?:(\d{1,7})|x([\dA-Fa-f]{1,6})));/y;
const BLANK = /^[ \t\n]*$/;

/** A character that XML 1.0 cannot hold, unpaired surrogates included. */
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
export const FORBIDDEN_CHARACTER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\p{Cs}]/u;

/**
 * Guards the XML parser: one linear pass over the document that refuses everything the parser would accept
 * silently, and gives the text with line ends and attribute white space normalised (XML 1.0, 2.11 and 3.3.3).
 * Refused: DOCTYPE, entities, processing instructions, a second root, text outside the root, depth, size, number of
 * nodes, duplicate attributes or more than 256 of one element, undefined references, forbidden characters.
 * @throws invalid, too-large
 */
export function scanXml(source: string, limits: XmlLimits): string {
  const maxBytes = limits.maxBytes ?? DEFAULT_MAX_BYTES;
  if (Buffer.byteLength(source) > maxBytes)
    throw new CdrError('too-large', `the XML document has more than ${maxBytes} bytes`);
  const text = source.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
  const { maxDepth = DEFAULT_MAX_DEPTH, maxNodes = DEFAULT_MAX_NODES } = limits;
  const bounds = { maxDepth, maxNodes };
  const scan: Scan = { text, ...bounds, open: [], nodes: 0, hasRoot: false, ampersand: -1, unnormalised: [] };
  const forbidden = text.search(FORBIDDEN_CHARACTER);
  if (forbidden >= 0) throw notWellFormed(text, forbidden, 'a character that XML does not allow');
  const declaration = DECLARATION.exec(text)?.[0] ?? '';
  scanContent(scan, declaration.length);
  if (!scan.hasRoot) throw notWellFormed(text, text.length, 'no root element');
  if (scan.open.length > 0) throw notWellFormed(text, text.length, 'an element is not closed');
  return normaliseAttributes(scan);
}

/** The error for a document that is no well-formed XML at `position` (characters from the start). */
export function notWellFormed(text: string, position: number, what: string): CdrError {
  const before = text.slice(0, position);
  const line = before.split('\n').length;
  const column = position - before.lastIndexOf('\n');
  return new CdrError('invalid', `the XML is not well-formed: ${what} (line ${line}, column ${column})`);
}

function scanContent(scan: Scan, start: number): void {
  const { text } = scan;
  let at = start;
  while (at < text.length) {
    const markup = text.indexOf('<', at);
    const end = markup < 0 ? text.length : markup;
    if (end > at) scanText(scan, at, end);
    if (markup < 0) return;
    at = scanMarkup(scan, markup);
  }
}

function scanText(scan: Scan, start: number, end: number): void {
  if (scan.open.length === 0 && !BLANK.test(scan.text.slice(start, end)))
    throw notWellFormed(scan.text, start, 'text outside the root element');
  scanReferences(scan, start, end);
}

function scanReferences(scan: Scan, start: number, end: number): void {
  if (scan.ampersand < start) scan.ampersand = nextAmpersand(scan.text, start);
  while (scan.ampersand < end) {
    const at = scan.ampersand;
    REFERENCE.lastIndex = at;
    const found = REFERENCE.exec(scan.text);
    if (found === null) throw notWellFormed(scan.text, at, 'a reference to an entity that is not defined');
    const code = found[1] === undefined ? parseInt(found[2] ?? '20', 16) : Number(found[1]);
    if (code > 0x10ffff || FORBIDDEN_CHARACTER.test(String.fromCodePoint(code)))
      throw notWellFormed(scan.text, at, 'a reference to a character that XML does not allow');
    scan.ampersand = nextAmpersand(scan.text, REFERENCE.lastIndex);
  }
}

function nextAmpersand(text: string, from: number): number {
  const found = text.indexOf('&', from);
  return found < 0 ? Number.MAX_SAFE_INTEGER : found;
}

/** Reads one tag, comment or CDATA section; gives the position behind it. */
function scanMarkup(scan: Scan, at: number): number {
  const { text } = scan;
  const next = text[at + 1];
  if (next === '?') throw notWellFormed(text, at, 'processing instructions are not accepted');
  if (next === '/') return scanClosingTag(scan, at);
  countNode(scan);
  if (next !== '!') return scanOpeningTag(scan, at);
  if (text.startsWith('<!--', at)) return behind(text, '-->', at + 4, 'a comment is not closed');
  if (!text.startsWith('<![CDATA[', at))
    throw notWellFormed(text, at, 'DOCTYPE and other declarations are not accepted');
  if (scan.open.length === 0) throw notWellFormed(text, at, 'text outside the root element');
  return behind(text, ']]>', at + 9, 'a CDATA section is not closed');
}

function behind(text: string, mark: string, from: number, problem: string): number {
  const found = text.indexOf(mark, from);
  if (found < 0) throw notWellFormed(text, from, problem);
  return found + mark.length;
}

function scanClosingTag(scan: Scan, at: number): number {
  CLOSING_TAG.lastIndex = at;
  const name = CLOSING_TAG.exec(scan.text)?.[1];
  if (name === undefined) throw notWellFormed(scan.text, at, 'a malformed closing tag');
  if (scan.open.length === 0) throw notWellFormed(scan.text, at, 'a closing tag without its opening tag');
  const open = required(scan.open.pop(), 'open element');
  if (open !== name) throw notWellFormed(scan.text, at, `</${name}> where <${open}> is open`);
  return CLOSING_TAG.lastIndex;
}

function scanOpeningTag(scan: Scan, at: number): number {
  const { text } = scan;
  NAME.lastIndex = at + 1;
  const name = NAME.exec(text)?.[0];
  if (name === undefined) throw notWellFormed(text, at, 'a malformed tag');
  if (scan.open.length === 0 && scan.hasRoot) throw notWellFormed(text, at, 'a second root element');
  if (scan.open.length >= scan.maxDepth)
    throw notWellFormed(text, at, `more than ${scan.maxDepth} nested elements`);
  scan.hasRoot = true;
  const attributesEnd = scanAttributes(scan, NAME.lastIndex);
  TAG_END.lastIndex = attributesEnd;
  const end = TAG_END.exec(text);
  if (end === null) throw notWellFormed(text, attributesEnd, 'a malformed tag or attribute');
  if (end[1] === '') scan.open.push(name);
  return TAG_END.lastIndex;
}

function countNode(scan: Scan): void {
  scan.nodes += 1;
  if (scan.nodes > scan.maxNodes) throw tooManyNodes('XML', scan.maxNodes);
}

function scanAttributes(scan: Scan, start: number): number {
  const { text } = scan;
  const names = new Set<string>();
  let at = start;
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const found = ATTRIBUTE.exec(text);
    if (found === null) return at;
    const name = required(found[1], 'name');
    // The parser keeps attributes in a plain object, where this name would be lost.
    if (names.has(name) || name === '__proto__')
      throw notWellFormed(text, at, 'an attribute is given twice or has a name that is not accepted');
    if (names.add(name).size > MAX_ATTRIBUTES)
      throw notWellFormed(text, at, `more than ${MAX_ATTRIBUTES} attributes in one element`);
    countNode(scan);
    scanValue(scan, required(found[2] ?? found[3], 'value'), ATTRIBUTE.lastIndex - 1);
    at = ATTRIBUTE.lastIndex;
  }
}

function scanValue(scan: Scan, value: string, end: number): void {
  const start = end - value.length;
  scanReferences(scan, start, end);
  if (value.includes('\n') || value.includes('\t')) scan.unnormalised.push([start, end]);
}

function normaliseAttributes(scan: Scan): string {
  const { text, unnormalised } = scan;
  if (unnormalised.length === 0) return text;
  const pieces: string[] = [];
  let at = 0;
  for (const [start, end] of unnormalised) {
    pieces.push(text.slice(at, start), text.slice(start, end).replace(/[\t\n]/g, ' '));
    at = end;
  }
  return pieces.join('') + text.slice(at);
}
