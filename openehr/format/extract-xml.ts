import { CdrError } from '../base/errors.js';
import type { JsonObject, JsonValue } from '../base/json.js';
import { childElements, parseXml, textContent, type XmlElement } from '../base/xml.js';
import { counted } from '../base/work.js';
import { fromXml, xmlObjectAt, type XmlReading } from './canonical-xml.js';

/** What a member of a class of the EXTRACT is: text, a whole number, an RM object, or another such class; several where it is a list. */
interface Member {
  readonly kind: 'text' | 'number' | 'object' | 'part';
  /** Class that the element has where it does not say so. */
  readonly type: string;
  readonly isList?: true;
}

const NAME: Member = { kind: 'object', type: 'DV_TEXT' };
const HIER_OBJECT_ID: Member = { kind: 'object', type: 'HIER_OBJECT_ID' };
const TIME: Member = { kind: 'object', type: 'DV_DATE_TIME' };
const NUMBER: Member = { kind: 'number', type: '' };
const TEXT: Member = { kind: 'text', type: '' };

/** The classes of an EXTRACT as far as an EHR needs them; what else an element has is passed over. RM ehr_extract. */
const PARTS: Readonly<Record<string, Readonly<Record<string, Member>>>> = {
  EXTRACT: {
    name: NAME,
    system_id: HIER_OBJECT_ID,
    time_created: TIME,
    sequence_nr: NUMBER,
    chapters: { kind: 'part', type: 'EXTRACT_ENTITY_CHAPTER', isList: true },
  },
  EXTRACT_ENTITY_CHAPTER: {
    name: NAME,
    extract_id_key: TEXT,
    items: { kind: 'part', type: 'OPENEHR_CONTENT_ITEM', isList: true },
  },
  OPENEHR_CONTENT_ITEM: { name: NAME, item: { kind: 'part', type: 'X_VERSIONED_OBJECT' } },
  X_VERSIONED_OBJECT: {
    uid: HIER_OBJECT_ID,
    owner_id: { kind: 'object', type: 'OBJECT_REF' },
    time_created: TIME,
    total_version_count: NUMBER,
    extract_version_count: NUMBER,
    versions: { kind: 'object', type: 'ORIGINAL_VERSION', isList: true },
  },
};

/** An XML body of an RM class, or of an EXTRACT, as canonical JSON. @throws as `fromXml` */
export function bodyFromXml(text: string, declaredType: string, options: XmlReading = {}): JsonObject {
  if (declaredType !== 'EXTRACT') return fromXml(text, declaredType, options);
  const root = parseXml(text, options);
  if (root.name !== 'extract')
    throw new CdrError('invalid', `the root element must be extract, found ${root.name}`);
  return partOf(root, 'EXTRACT', '');
}

function partOf(element: XmlElement, declaredType: string, path: string): JsonObject {
  const type = element.attributes.get('xsi:type') ?? declaredType;
  const members = PARTS[type.startsWith('X_VERSIONED_') ? 'X_VERSIONED_OBJECT' : type] ?? {};
  const part: JsonObject = { _type: type };
  for (const child of counted(childElements(element))) {
    const member = members[child.name];
    if (member === undefined) continue;
    const before = part[child.name];
    const list = Array.isArray(before) ? before : [];
    if (before !== undefined && member.isList === undefined)
      throw new CdrError('invalid', `${path}/${child.name} may occur only once`);
    const at = `${path}/${child.name}${member.isList === undefined ? '' : `[${list.length}]`}`;
    const value = valueOf(child, member, at);
    if (member.isList === undefined) part[child.name] = value;
    else part[child.name] = list.length === 0 ? [value] : (list.push(value), list);
  }
  return part;
}

function valueOf(element: XmlElement, { kind, type }: Member, path: string): JsonValue {
  switch (kind) {
    case 'text':
      return textContent(element).trim();
    case 'number':
      return Number(textContent(element));
    case 'object':
      return xmlObjectAt(element, type, path);
    case 'part':
      return partOf(element, type, path);
  }
}
