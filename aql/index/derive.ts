import { rootOfUid } from '../../openehr/base/object-version-id.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { isJsonObject } from '../../openehr/base/json.js';
import { orderedValue } from '../../openehr/rm/ordered-value.js';
import { OBJECT_CLASSES } from '../semantics/classes.js';
import { leavesOf, timeLeaf } from './derive-leaves.js';
import { AQL_SCHEMA_VERSION, FIELD, NO_PARENT, NO_START } from './document.js';
import { IMPORTED_KEY, STUB_SHAPE, shapeKey, templateKey } from './keys.js';
import type { AqlDocument, AqlLeaf, AqlSegment, LeafIndex } from './document.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import { counted, step } from '../../openehr/base/work.js';
import { identifierOf } from '../../policy/attributes.js';

/** The metadata of a VERSION that its query index document repeats. */
export interface DerivationInput {
  /** OBJECT_VERSION_ID. */
  readonly versionUid: string;
  readonly ehrId: string;
  readonly versionedObjectUid: string;
  readonly version: number;
  readonly type: RootType;
  readonly timeCommitted: Date;
  readonly contributionUid: string;
  /** Codes of commit_audit/change_type and lifecycle_state. */
  readonly changeType: string;
  readonly lifecycleState: string;
  /** PARTY_PROXY of commit_audit. */
  readonly committer?: JsonValue | undefined;
  readonly isQueryable: boolean;
  /** Whether it is an IMPORTED_VERSION. */
  readonly isImported?: boolean;
  readonly leafIndex: LeafIndex;
}

/** The derived document, and the shapes to be saved before it. */
export interface Derivation {
  readonly document: AqlDocument;
  /** `_id`s of `aql_shapes`. */
  readonly shapes: readonly string[];
}

/** Classes that FROM may name; each occurrence goes into `keys` and into the shape catalogue. */
const BINDABLE: ReadonlySet<string> = new Set(OBJECT_CLASSES);

const NODE_CODE = /^(at|id)\d/;

interface OpenSegment {
  s: number;
  e: number;
  p: number;
  a: string | null;
  t: string;
  k: string;
  nm: string;
  o: JsonObject;
}

/** A node's address within its segment. */
interface SegmentPath {
  readonly segment: OpenSegment;
  /** Attribute names from the segment root, joined by dots. */
  readonly dotted: string;
  /** Steps `/attr[at-code]` from the segment root. */
  readonly coded: string;
}

interface Work {
  readonly segments: OpenSegment[];
  readonly keys: Set<string>;
  readonly shapes: Set<string>;
  readonly refs: Set<string>;
  readonly leaves: AqlLeaf[];
  readonly leafIndex: LeafIndex;
}

/** The part of a query index document that follows from the content alone. May be derived in another thread. */
export interface DerivedContent {
  readonly keys: readonly string[];
  readonly segs: readonly AqlSegment[];
  readonly lv: readonly AqlLeaf[];
  readonly refs: readonly string[];
  readonly tpl: string | null;
  /** ms since 1970. */
  readonly start: number;
  /** `_id`s of `aql_shapes`. */
  readonly shapes: readonly string[];
}

/**
 * The `aql` document of one VERSION: its tree cut at archetype roots, and its typed leaves
 * (docs/spec/storage.md#aql). Pure.
 */
export function deriveAqlDocument(input: DerivationInput, canonical: JsonObject): Derivation {
  return aqlDocument(input, deriveContent(canonical, input.leafIndex));
}

/**
 * The part of the derivation that depends on nothing but the content. Attributes inside `segs.o` are in alphabetical
 * order, so that equal RM objects are equal in MongoDB.
 */
export function deriveContent(canonical: JsonObject, leafIndex: LeafIndex): DerivedContent {
  const work: Work = {
    segments: [],
    keys: new Set(),
    shapes: new Set(),
    refs: new Set(),
    leaves: [],
    leafIndex,
  };
  openSegment(canonical, null, NO_PARENT, work);
  const template = rootTemplateId(canonical);
  if (template !== null) work.keys.add(templateKey(template));
  return {
    keys: [...work.keys],
    segs: work.segments satisfies readonly AqlSegment[],
    lv: work.leaves,
    refs: [...work.refs],
    tpl: template,
    start: segmentStart(work.segments[0]).getTime(),
    shapes: [...work.shapes],
  };
}

/** The `aql` document of a VERSION whose content was derived before. */
export function aqlDocument(input: Omit<DerivationInput, 'leafIndex'>, content: DerivedContent): Derivation {
  const { keys, segs, lv, refs, tpl, start, shapes } = content;
  const committer = identifierOf(input.committer);
  const document: AqlDocument = {
    [FIELD.versionUid]: input.versionUid,
    [FIELD.ehrId]: input.ehrId,
    [FIELD.versionedObjectUid]: input.versionedObjectUid,
    [FIELD.version]: input.version,
    [FIELD.rootType]: input.type,
    [FIELD.isLatest]: true,
    [FIELD.isQueryable]: input.isQueryable,
    [FIELD.timeCommitted]: input.timeCommitted,
    [FIELD.contributionUid]: input.contributionUid,
    [FIELD.changeType]: input.changeType,
    [FIELD.lifecycleState]: input.lifecycleState,
    ...(committer === undefined ? {} : { [FIELD.committer]: committer }),
    ...(tpl === null ? {} : { [FIELD.templateId]: tpl }),
    ...(input.type === 'COMPOSITION' ? { [FIELD.startTime]: new Date(start) } : {}),
    [FIELD.keys]: input.isImported === true ? [...keys, IMPORTED_KEY] : keys,
    ...(input.type === 'FOLDER' ? { [FIELD.references]: refs } : {}),
    [FIELD.segments]: segs,
    [FIELD.leaves]: lv,
    [FIELD.schemaVersion]: AQL_SCHEMA_VERSION,
  };
  return { document, shapes };
}

function openSegment(node: JsonObject, attribute: string | null, parent: number, work: Work): OpenSegment {
  const segment: OpenSegment = {
    s: work.segments.length,
    e: 0,
    p: parent,
    a: attribute,
    t: textOrEmpty(node._type),
    k: textOrEmpty(node.archetype_node_id),
    nm: isJsonObject(node.name) ? textOrEmpty(node.name.value) : '',
    o: {},
  };
  work.segments.push(segment);
  if (!NODE_CODE.test(segment.k)) work.keys.add(segment.k);
  if (segment.t === 'FOLDER') collectReferences(node.items, work.refs);
  segment.o = copyNode(node, { segment, dotted: '', coded: '' }, work);
  segment.e = work.segments.length - 1;
  return segment;
}

/** Copies a node that is not below a data value: finds segments, shapes and leaves on its way. */
function copyNode(node: JsonObject, at: SegmentPath, work: Work): JsonObject {
  const type = textOrEmpty(node._type);
  if (BINDABLE.has(type)) {
    work.keys.add(type);
    if (at.dotted !== '') work.shapes.add(shapeKey(at.segment.k, type, at.dotted));
    addLeaves(node, type, at, work);
  }
  const copy: JsonObject = {};
  for (const attribute of counted(Object.keys(node).sort())) {
    const value = node[attribute];
    if (value === undefined) continue;
    if (typeof value !== 'object' || value === null) copy[attribute] = value;
    else if (Array.isArray(value)) copy[attribute] = copyList(value, attribute, at, work);
    else copy[attribute] = copyChild(value, attribute, at, work);
  }
  const magnitude = type.startsWith('DV_') ? orderedValue(node) : null;
  if (magnitude !== null) copy._m = magnitude;
  return copy;
}

function copyList(list: JsonValue[], attribute: string, at: SegmentPath, work: Work): JsonValue[] {
  const copies: JsonValue[] = new Array<JsonValue>(list.length);
  step(list.length);
  for (let i = 0; i < list.length; i++) {
    const member = list[i] as JsonValue;
    copies[i] = isJsonObject(member) ? copyChild(member, attribute, at, work) : member;
  }
  return copies;
}

function copyChild(child: JsonObject, attribute: string, at: SegmentPath, work: Work): JsonObject {
  const type = textOrEmpty(child._type);
  if (!BINDABLE.has(type)) return copyValue(child, type);
  const code = child.archetype_node_id;
  const dotted = at.dotted === '' ? attribute : `${at.dotted}.${attribute}`;
  if (typeof code === 'string' && (type === 'FOLDER' || !NODE_CODE.test(code))) {
    // Lets a query find archetypes below a node that has none.
    work.shapes.add(shapeKey(at.segment.k, STUB_SHAPE, dotted));
    return { seg: openSegment(child, attribute, at.segment.s, work).s, archetype_node_id: code };
  }
  const step = typeof code === 'string' ? `/${attribute}[${code}]` : `/${attribute}`;
  return copyNode(child, { segment: at.segment, dotted, coded: at.coded + step }, work);
}

/** Copies a data value, reference, party: nothing below it can be bound. */
function copyValue(value: JsonObject, type: string): JsonObject {
  const copy: JsonObject = {};
  for (const attribute of counted(Object.keys(value).sort())) {
    const member = value[attribute];
    if (member === undefined) continue;
    if (typeof member !== 'object' || member === null) copy[attribute] = member;
    else if (Array.isArray(member))
      copy[attribute] = counted(member).map((each) =>
        isJsonObject(each) ? copyValue(each, textOrEmpty(each._type)) : each,
      );
    else copy[attribute] = copyValue(member, textOrEmpty(member._type));
  }
  if (type.startsWith('DV_')) {
    const magnitude = orderedValue(value);
    if (magnitude !== null) copy._m = magnitude;
  }
  return copy;
}

function addLeaves(node: JsonObject, type: string, at: SegmentPath, work: Work): void {
  if (work.leafIndex === 'none') return;
  const archetype = at.segment.k;
  if (type === 'ELEMENT') {
    if (isJsonObject(node.value))
      work.leaves.push(...leavesOf(node.value, archetype, at.coded, work.leafIndex));
  } else if (type === 'POINT_EVENT' || type === 'INTERVAL_EVENT') {
    work.leaves.push(...timeLeaf(node.time, archetype, `${at.coded}/time`));
  } else if (type === 'EVENT_CONTEXT' && at.segment.s === 0 && at.dotted === 'context') {
    work.leaves.push(...timeLeaf(node.start_time, archetype, '/context/start_time'));
    work.leaves.push(...timeLeaf(node.end_time, archetype, '/context/end_time'));
  }
}

function collectReferences(items: JsonValue | undefined, refs: Set<string>): void {
  if (!Array.isArray(items)) return;
  for (const item of counted(items)) {
    if (!isJsonObject(item) || !isJsonObject(item.id)) continue;
    const id = item.id.value;
    if (typeof id === 'string') refs.add(rootOfUid(id).toLowerCase());
  }
}

function rootTemplateId(root: JsonObject): string | null {
  const details = root.archetype_details;
  if (!isJsonObject(details) || !isJsonObject(details.template_id)) return null;
  return typeof details.template_id.value === 'string' ? details.template_id.value : null;
}

function segmentStart(root: OpenSegment | undefined): Date {
  const context = root?.o.context;
  if (!isJsonObject(context) || !isJsonObject(context.start_time)) return NO_START;
  const instant = context.start_time._m;
  return typeof instant === 'number' ? new Date(instant) : NO_START;
}

function textOrEmpty(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
