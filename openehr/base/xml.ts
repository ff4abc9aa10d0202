import xmlJs from 'xml-js';
import { CdrError } from './errors.js';
import { FORBIDDEN_CHARACTER, notWellFormed, scanXml, type XmlLimits } from './xml-scan.js';
import { required } from './required.js';

/** One element of a document that was read. */
export interface XmlElement {
  /** Local name, without prefix. */
  readonly name: string;
  /** The namespace URI that the prefix (or the default declaration) is bound to. */
  readonly namespace: string | null;
  /**
   * Values by name: local name for attributes without prefix, `xsi:…` and `xml:…` for those two namespaces
   * whatever prefix the document uses, `{URI}local` for others. Namespace declarations are left out.
   * The value of `xsi:type` has lost its prefix, which need not be declared.
   */
  readonly attributes: ReadonlyMap<string, string>;
  /** Elements and text in document order; adjacent text is one string, blank text between elements is dropped. */
  readonly children: readonly (XmlElement | string)[];
}

/** One element to be written. Names are qualified names as they shall appear. */
export interface XmlOut {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly children?: readonly (XmlOut | string)[];
}

/** Namespace URI of `xsi:type`. */
export const XSI_NAMESPACE = 'http://www.w3.org/2001/XMLSchema-instance';
const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
const MAX_NAMESPACES = 256;

type Namespaces = ReadonlyMap<string, string>;

const NAME_START = 'A-Za-z_\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff';
const NCNAME = `[${NAME_START}][${NAME_START}\\d.\\-\\u00b7]*`;
const QNAME = new RegExp(`^(?:${NCNAME}:)?${NCNAME}$`);

/**
 * Reads a document into a tree. Comments and the XML declaration are left out.
 * @throws invalid when it is not well-formed or uses what `scanXml` refuses; too-large above `maxBytes`
 */
export function parseXml(text: string, limits: XmlLimits = {}): XmlElement {
  const guarded = scanXml(text, limits);
  const root = parseTree(guarded).elements?.find((node) => node.type === 'element');
  if (root === undefined) throw notWellFormed(guarded, guarded.length, 'no root element');
  return xmlElementOf(root, new Map([['xml', XML_NAMESPACE]]));
}

function parseTree(text: string): xmlJs.Element {
  try {
    return xmlJs.xml2js(text, {
      compact: false,
      captureSpacesBetweenElements: true,
      ignoreComment: true,
      // Otherwise it deletes the parent of each element, which makes slow objects of them.
      addParent: true,
    }) as xmlJs.Element;
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'unreadable';
    throw new CdrError('invalid', `the XML is not well-formed: ${reason.toLowerCase()}`, { cause: error });
  }
}

function xmlElementOf(node: xmlJs.Element, outer: Namespaces): XmlElement {
  const given = Object.entries(node.attributes ?? {}) as [string, string][];
  const namespaces = declaredNamespaces(given, outer);
  const [prefix, name] = splitName(required(node.name, 'name of an element'));
  return {
    name,
    namespace: prefix === '' ? namespaces.get('') || null : boundNamespace(prefix, namespaces),
    attributes: xmlAttributes(given, namespaces),
    children: xmlChildren(node, namespaces),
  };
}

function declaredNamespaces(attributes: readonly [string, string][], outer: Namespaces): Namespaces {
  let namespaces: Map<string, string> | null = null;
  for (const [name, uri] of attributes) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) continue;
    const prefix = name.slice('xmlns:'.length);
    if (name.length > 5 && (uri === '' || prefix === '' || prefix === 'xmlns'))
      throw new CdrError('invalid', 'the XML binds a namespace prefix that cannot be bound');
    namespaces ??= new Map(outer);
    // Each level copies the bindings, so their number is bounded.
    if (namespaces.set(prefix, uri).size > MAX_NAMESPACES)
      throw new CdrError('invalid', 'the XML binds too many namespace prefixes');
  }
  return namespaces ?? outer;
}

function xmlAttributes(given: readonly [string, string][], namespaces: Namespaces): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [qualified, value] of given) {
    if (qualified === 'xmlns' || qualified.startsWith('xmlns:')) continue;
    const name = xmlAttributeName(qualified, namespaces);
    if (attributes.has(name)) throw new CdrError('invalid', 'the XML gives an attribute twice');
    attributes.set(name, name === 'xsi:type' ? splitName(value.trim())[1] : value);
  }
  return attributes;
}

function xmlAttributeName(qualified: string, namespaces: Namespaces): string {
  const [prefix, local] = splitName(qualified);
  if (prefix === '') return local;
  const uri = boundNamespace(prefix, namespaces);
  if (uri === XSI_NAMESPACE) return `xsi:${local}`;
  return uri === XML_NAMESPACE ? `xml:${local}` : `{${uri}}${local}`;
}

function xmlChildren(node: xmlJs.Element, namespaces: Namespaces): (XmlElement | string)[] {
  const children: (XmlElement | string)[] = [];
  let hasElements = false;
  for (const child of node.elements ?? []) {
    if (child.type === 'element') {
      hasElements = true;
      children.push(xmlElementOf(child, namespaces));
    } else appendText(children, String(child.text ?? child.cdata ?? ''));
  }
  if (!hasElements || children.some((child) => typeof child === 'string' && child.trim() !== ''))
    return children;
  return children.filter((child) => typeof child !== 'string');
}

function appendText(children: (XmlElement | string)[], text: string): void {
  const last = children.length - 1;
  const before = children[last];
  if (typeof before === 'string') children[last] = before + text;
  else if (text !== '') children.push(text);
}

/** Prefix (empty when there is none) and local name. */
function splitName(qualified: string): readonly [string, string] {
  const parts = qualified.split(':');
  const [first = '', second] = parts;
  if (parts.length > 2 || first === '' || second === '')
    throw new CdrError('invalid', 'the XML holds a malformed qualified name');
  return second === undefined ? ['', first] : [first, second];
}

function boundNamespace(prefix: string, namespaces: Namespaces): string {
  const uri = namespaces.get(prefix);
  if (uri === undefined || prefix === '')
    throw new CdrError('invalid', 'the XML uses a namespace prefix that is not bound');
  return uri;
}

/** The child elements in document order, those with that local name only when it is given. */
export function childElements(element: XmlElement, name?: string): XmlElement[] {
  const elements: XmlElement[] = [];
  for (const child of element.children)
    if (typeof child !== 'string' && (name === undefined || child.name === name)) elements.push(child);
  return elements;
}

/** The text directly inside the element, child elements left out; '' when there is none. */
export function textContent(element: XmlElement): string {
  let text = '';
  for (const child of element.children) if (typeof child === 'string') text += child;
  return text;
}

/**
 * Writes a document without white space between elements; `parseXml` gives the same back. Its declaration names no encoding:
 * UTF-8 is meant without, and Python's lxml reads no text that names one.
 * @throws not-acceptable when a name or character cannot be written in XML 1.0
 */
export function writeXml(root: XmlOut): string {
  return `<?xml version="1.0"?>\n${writeElement(root)}`;
}

/** One element of a larger document, whose root has bound the prefixes. @throws as `writeXml` */
export function writeElement(element: XmlOut): string {
  let out = `<${checkedName(element.name)}`;
  const { attributes, children } = element;
  if (attributes !== undefined)
    for (const name of Object.keys(attributes))
      out += ` ${checkedName(name)}="${escapeAttribute(required(attributes[name], 'value'))}"`;
  if (children === undefined || children.length === 0) return `${out}/>`;
  out += '>';
  for (const child of children) out += typeof child === 'string' ? escapeText(child) : writeElement(child);
  return `${out}</${element.name}>`;
}

function checkedName(name: string): string {
  if (QNAME.test(name)) return name;
  throw new CdrError('not-acceptable', 'the object has an attribute name that XML cannot represent');
}

function checkedCharacters(text: string): string {
  if (!FORBIDDEN_CHARACTER.test(text)) return text;
  throw new CdrError('not-acceptable', 'the object holds a character that XML cannot represent');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

function escapeText(text: string): string {
  return checkedCharacters(text).replace(/[&<>\r]/g, (character) => ESCAPES[character] ?? character);
}

function escapeAttribute(text: string): string {
  return checkedCharacters(text).replace(/[&<>"\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}
