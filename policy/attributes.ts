import { isJsonObject, type JsonObject, type JsonValue } from '../openehr/base/json.js';
import { orderedValue } from '../openehr/rm/ordered-value.js';
import type { RootType } from '../openehr/rm/root-type.js';
import type { AccessObject, AttributeValue } from './object.js';

/** How keys of the item tags begin that policies see: others say nothing of rights, and whoever may write may set them. */
export const ACCESS_TAG = 'access.';
/** The least text that is after all that begin so. */
export const AFTER_ACCESS_TAG = 'access/';

/** Tags of an EHR by key. */
export type AccessTags = AccessObject['tags'];

/** A tag as it is stored, of the EHR_STATUS container of an EHR. */
interface StoredTag {
  readonly key: string;
  readonly value: string | null;
}

/** The tags of an EHR that policies see: what stands between commas is a value of its own. Merges may have brought more of one key. */
export function accessTags(stored: readonly StoredTag[]): AccessTags {
  const values = new Map<string, string[]>();
  for (const { key, value } of stored)
    if (key.startsWith(ACCESS_TAG))
      values.set(key, [...new Set([...(values.get(key) ?? []), ...tagValues(value)])]);
  return Object.fromEntries(values);
}

/** The values that the text of a tag has. */
export function tagValues(value: string | null): string[] {
  return valuesOf(value ?? '');
}

/** What JavaScript trims, which is more than a regular expression of the database takes for blanks. */
const BLANK =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const BLANKS = `[${BLANK}]*+`;

/** Values, and characters of them, that one regular expression of the database asks for. */
const MOST_VALUES = 20;
const MOST_CHARACTERS = 5_000;

/** The texts of tags with any value at all, for the database. */
export const ANY_TAG_VALUE = `[^,${BLANK}]`;

/**
 * The texts of tags that have one of these values, as `tagValues` finds them, for the database: they fit at least one of these patterns.
 * Possessive: blanks are looked at once.
 */
export function tagTextPatterns(values: readonly string[]): string[] {
  // A value of a tag has no blanks around it, and no comma: others are in none.
  const sought = values.filter((value) => valuesOf(value).join() === value && value !== '');
  const parts: string[][] = [];
  let characters = Infinity;
  for (const value of sought) {
    characters += value.length;
    const last = parts.at(-1);
    if (last !== undefined && last.length < MOST_VALUES && characters <= MOST_CHARACTERS) last.push(value);
    else {
      parts.push([value]);
      characters = value.length;
    }
  }
  return parts.map((part) => `(?:^|,)${BLANKS}(?:${part.map(inPattern).join('|')})${BLANKS}(?:,|$)`);
}

/** A text in a regular expression of the database, which takes no NUL. */
function inPattern(value: string): string {
  return value.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`).replaceAll('\0', String.raw`\x00`);
}

function valuesOf(text: string): string[] {
  const values = text.split(',').map((each) => each.trim());
  return [...new Set(values.filter((each) => each !== ''))];
}

/** What is known of an EHR. */
interface EhrFacts {
  readonly ehrId: string;
  /** Of the subject. */
  readonly namespace: string | undefined;
  readonly tags: AccessTags;
}

/** An EHR as policies see it; its marks `marked` adds. */
export function ehrObject({ ehrId, namespace, tags }: EhrFacts): AccessObject {
  return { type: 'Ehr', uid: ehrId, attributes: defined({ ehr_id: ehrId, namespace, marks: [] }), tags };
}

/** What is known of a VERSION. */
interface VersionFacts {
  readonly uid: string;
  readonly ehrId: string;
  readonly type: RootType;
  readonly templateId: string | undefined;
  readonly timeCommitted: Date;
  /** Code of lifecycle_state. */
  readonly lifecycleState: string;
  /** PARTY_PROXY. */
  readonly committer: JsonValue | undefined;
  /** What it holds; of a deletion what the version before it held. */
  readonly content: JsonObject;
  /** Of this server. */
  readonly systemId: string;
  /** Of the EHR, as they are now. */
  readonly tags: AccessTags;
}

/** Attributes that only the content of a VERSION says. */
export const CONTENT_ATTRIBUTES: readonly string[] = [
  'archetypes',
  'category',
  'categories',
  'origin',
  'composer',
  'start_time',
];

/** A VERSION as policies see it; its marks `marked` adds. docs/access.md#what-is-asked-for */
export function versionObject(facts: VersionFacts): AccessObject {
  const { uid, ehrId, type, content, tags } = facts;
  const attributes = defined({
    ehr_id: ehrId,
    kind: type,
    template_id: facts.templateId,
    archetypes: archetypesOf(content),
    category: categoryOf(content),
    origin: originOf(content) ?? facts.systemId,
    composer: identifierOf(content.composer),
    committer: identifierOf(facts.committer),
    start_time: startOf(content),
    time_committed: facts.timeCommitted.getTime(),
    lifecycle_state: facts.lifecycleState,
    marks: [],
  });
  return { type: 'Version', uid, attributes, tags };
}

function defined(
  values: Readonly<Record<string, AttributeValue | undefined>>,
): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries(values)) if (value !== undefined) attributes[name] = value;
  return attributes;
}

/** Archetypes of what is versioned, and of entries; `keys` of a query index document has those of all nodes. */
const SEEN_ARCHETYPE =
  /^openEHR-[A-Z]+-(?:COMPOSITION|EHR_STATUS|FOLDER|OBSERVATION|EVALUATION|INSTRUCTION|ACTION|ADMIN_ENTRY|GENERIC_ENTRY)\./;

/** Whether policies see an archetype: of a root or an entry, whatever the text says else. */
export function isSeenArchetype(id: string): boolean {
  return SEEN_ARCHETYPE.test(id);
}

/** Ids of the archetypes of roots and entries, sorted. */
function archetypesOf(content: JsonObject): string[] {
  const found = new Set<string>();
  const left: JsonObject[] = [content];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    const { archetype_node_id: id } = node;
    if (typeof id === 'string' && isSeenArchetype(id)) found.add(id);
    for (const value of Object.values(node))
      if (Array.isArray(value)) left.push(...objectsIn(value));
      else if (isJsonObject(value)) left.push(value);
  }
  return [...found].sort();
}

function objectsIn(list: JsonValue | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter((each) => isJsonObject(each)) : [];
}

/** Words for codes of the openEHR terminology, group "composition category". */
export const CATEGORIES: Readonly<Record<string, string>> = {
  431: 'persistent',
  433: 'event',
  451: 'episodic',
};

/** The category of a COMPOSITION: its word, or another code as it is. */
export function categoryOf({ category }: JsonObject): string | undefined {
  const code = isJsonObject(category) && isJsonObject(category.defining_code) ? category.defining_code : {};
  return typeof code.code_string === 'string'
    ? (CATEGORIES[code.code_string] ?? code.code_string)
    : undefined;
}

/** The system that content came from, by its FEEDER_AUDIT. */
export function originOf({ feeder_audit: audit }: JsonObject): string | undefined {
  const details = isJsonObject(audit) ? audit.originating_system_audit : undefined;
  return isJsonObject(details) ? textOf(details.system_id) : undefined;
}

/** The id of a party: of its external reference, else its first identifier, else its name. */
export function identifierOf(party: JsonValue | undefined): string | undefined {
  if (!isJsonObject(party)) return undefined;
  const { external_ref: reference, identifiers, name } = party;
  const referred =
    isJsonObject(reference) && isJsonObject(reference.id) ? textOf(reference.id.value) : undefined;
  return referred ?? textOf(objectsIn(identifiers)[0]?.id) ?? textOf(name);
}

function startOf({ context }: JsonObject): number | undefined {
  const start = isJsonObject(context) ? context.start_time : undefined;
  const time = isJsonObject(start) ? orderedValue(start) : null;
  return typeof time === 'number' ? time : undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
