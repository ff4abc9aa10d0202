import { CdrError } from '../../openehr/base/errors.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import { jsonObjectOf, type JsonObject } from '../../openehr/base/json.js';
import { within, type Work } from '../../openehr/base/work.js';
import { CANONICAL_NAMESPACES, xmlFragment } from '../../openehr/format/canonical-xml.js';
import { ROOT_TYPES } from '../../openehr/rm/root-type.js';
import { hierObjectId, localRef, resourceText, versionResource } from '../../change/commit/resource.js';
import { serverTime } from '../../change/commit/audit.js';
import { viewing, type Viewer } from '../../change/access/viewer.js';
import { inOneState } from '../../change/commit/ehr-access.js';
import {
  extractedObjects,
  extractedVersions,
  type ExtractedObject,
} from '../../models/cross-collection/extract.js';
import type { EhrDoc } from '../../models/ehr.js';
import type { VersionDoc } from '../../models/version.js';

/** Which versions an EXTRACT has of each object. */
export type ExtractedVersions = 'all' | 'latest';

/** How an EXTRACT is written. */
interface ExtractForm {
  head(ehr: EhrDoc, now: Date): string;
  /** `isFirst`: no other object is before it. */
  open(object: ExtractedObject, extracted: number, isFirst: boolean): string;
  version(version: VersionDoc, isFirst: boolean): string;
  readonly close: string;
  end(ehr: EhrDoc): string;
}

const ARCHETYPE = 'openEHR-EHR_EXTRACT-EXTRACT.whole.v1';

const JSON_FORM: ExtractForm = {
  head: (ehr, now) => {
    const head = { ...located('EXTRACT', ARCHETYPE, `EHR ${ehr._id}`), ...headMembers(ehr, now) };
    const chapter = {
      ...located('EXTRACT_ENTITY_CHAPTER', 'at0001', `EHR ${ehr._id}`),
      extract_id_key: ehr._id,
    };
    return `${begun(head)},"chapters":[${begun(chapter)},"items":[`;
  },
  open: (object, extracted, isFirst) => {
    const item = { ...located('OPENEHR_CONTENT_ITEM', 'at0002', object.type), is_primary: true };
    const container = { _type: `X_VERSIONED_${object.type}`, ...containerMembers(object, extracted) };
    return `${isFirst ? '' : ','}${begun(item)},"item":${begun(container)},"versions":[`;
  },
  version: (version, isFirst) => `${isFirst ? '' : ','}${resourceText(versionResource(version))}`,
  close: ']}}',
  end: () => ']}]}',
};

/** The order of elements is that of the classes of the reference model. */
const XML_FORM: ExtractForm = {
  head: (ehr, now) => {
    const { time_created: time, system_id: system, sequence_nr: number } = headMembers(ehr, now);
    const namespaces = Object.entries(CANONICAL_NAMESPACES).map(([name, uri]) => ` ${name}="${uri}"`);
    const name = xmlFragment(text(`EHR ${ehr._id}`), 'name', 'DV_TEXT');
    return (
      `<?xml version="1.0"?>\n<extract${namespaces.join('')} archetype_node_id="${ARCHETYPE}">${name}` +
      xmlFragment(time, 'time_created', 'DV_DATE_TIME') +
      xmlFragment(system, 'system_id', 'HIER_OBJECT_ID') +
      `<sequence_nr>${number}</sequence_nr>` +
      `<chapters xsi:type="EXTRACT_ENTITY_CHAPTER" archetype_node_id="at0001">${name}`
    );
  },
  open: (object, extracted) => {
    const { uid, owner_id: owner, time_created: time, ...counts } = containerMembers(object, extracted);
    return (
      '<items xsi:type="OPENEHR_CONTENT_ITEM" archetype_node_id="at0002">' +
      xmlFragment(text(object.type), 'name', 'DV_TEXT') +
      `<is_primary>true</is_primary><item xsi:type="X_VERSIONED_${object.type}">` +
      xmlFragment(uid, 'uid', 'HIER_OBJECT_ID') +
      xmlFragment(owner, 'owner_id', 'OBJECT_REF') +
      xmlFragment(time, 'time_created', 'DV_DATE_TIME') +
      `<total_version_count>${counts.total_version_count}</total_version_count>` +
      `<extract_version_count>${counts.extract_version_count}</extract_version_count>`
    );
  },
  version: (version) =>
    xmlFragment(jsonObjectOf(resourceText(versionResource(version))), 'versions', 'VERSION'),
  close: '</item></items>',
  end: ({ _id }) => `<extract_id_key>${_id}</extract_id_key></chapters></extract>`,
};

/** How an EXTRACT is written. `work`: what its VERSIONs are counted on; none: nothing limits them. */
interface ExtractHow {
  readonly format: 'JSON' | 'XML';
  readonly now: Date;
  readonly work?: Work | null;
}

/**
 * The text of an EXTRACT of an EHR as it is now, some at a time: X_VERSIONED_OBJECTs with their VERSIONs as they were made. However
 * large it is, few versions are in memory. RM ehr_extract: EXTRACT.
 * @throws as `readableEhr` before the first text; conflict, later, when something of it went meanwhile: what was written is no EXTRACT
 * then; not-acceptable for what XML cannot represent
 */
export async function* extractText(
  ehrId: string,
  which: ExtractedVersions,
  { format, now, work = null }: ExtractHow,
): AsyncGenerator<string> {
  const form = format === 'XML' ? XML_FORM : JSON_FORM;
  const { ehr, objects } = await inOneState(ehrId, async (found) => ({
    ehr: found,
    objects: (await Promise.all(ROOT_TYPES.map((type) => extractedObjects(ehrId, type)))).flat(),
  }));
  const viewer = viewing.getStore()?.viewer;
  // Who reads the rest of it does so outside of the request.
  const shown = viewer === undefined ? null : await shownOf(viewer, ehr._id, objects, which);
  const told = objects.filter(({ _id }) => shown?.get(_id)?.size !== 0);
  yield form.head(ehr, now);
  yield* objectTexts(ehr, told, { which, form, work, shown });
  yield form.end(ehr);
}

/** Uids of the versions that policies do not hide, by object. */
type Shown = ReadonlyMap<string, ReadonlySet<string>>;

async function shownOf(
  viewer: Viewer,
  ehrId: string,
  objects: readonly ExtractedObject[],
  which: ExtractedVersions,
): Promise<Shown> {
  const shown = new Map(objects.map(({ _id }) => [_id, new Set<string>()]));
  for await (const [object, versions] of extractedVersions(ehrId, objects, which))
    for (const version of versions)
      if (await viewer.sees(ehrId, version)) shown.get(object._id)?.add(version._id);
  return shown;
}

interface ObjectsHow {
  readonly which: ExtractedVersions;
  readonly form: ExtractForm;
  readonly work: Work | null;
  /** null: all of them. */
  readonly shown: Shown | null;
}

async function* objectTexts(
  ehr: EhrDoc,
  objects: readonly ExtractedObject[],
  { which, form, work, shown }: ObjectsHow,
): AsyncGenerator<string> {
  const expected = (object: ExtractedObject): number =>
    shown?.get(object._id)?.size ?? (which === 'latest' ? 1 : object.latest_version);
  const current: { object: ExtractedObject | null; written: number } = { object: null, written: 0 };
  let objectsBegun = 0;
  const close = (): string => {
    if (current.object === null) return '';
    if (current.written !== expected(current.object)) throw changedMeanwhile(ehr._id);
    return form.close;
  };
  // Kept until a version is written: of a large object the first ones, which come alone, may be hidden.
  let start = '';
  for await (const [object, versions] of extractedVersions(ehr._id, objects, which)) {
    if (object !== current.object) {
      const told = shown === null ? object : { ...object, latest_version: expected(object) };
      start = close() + form.open(told, expected(object), objectsBegun === 0);
      Object.assign(current, { object, written: 0 });
      objectsBegun += 1;
    }
    for (const version of versions) {
      if (shown?.get(object._id)?.has(version._id) === false) continue;
      yield start + within(work, () => form.version(version, current.written === 0));
      current.written += 1;
      start = '';
    }
  }
  yield close();
  if (objectsBegun < objects.length) throw changedMeanwhile(ehr._id);
}

function changedMeanwhile(ehrId: string): CdrError {
  return new CdrError(
    'conflict',
    `EHR ${ehrId} was merged, or something in it was erased, while it was read`,
  );
}

function headMembers(ehr: EhrDoc, now: Date) {
  return {
    time_created: { _type: 'DV_DATE_TIME', value: formatUtc(now) },
    system_id: hierObjectId(ehr.system_id),
    sequence_nr: 1,
  };
}

function containerMembers(object: ExtractedObject, extracted: number) {
  return {
    uid: hierObjectId(object._id),
    owner_id: localRef(hierObjectId(object.ehr_id), 'EHR'),
    time_created: serverTime(object.time_created),
    total_version_count: object.latest_version,
    extract_version_count: extracted,
  };
}

/** Of a JSON object all but its end. */
function begun(object: JsonObject): string {
  return JSON.stringify(object).slice(0, -1);
}

function text(value: string): JsonObject {
  return { _type: 'DV_TEXT', value };
}

function located(type: string, nodeId: string, name: string): JsonObject {
  return { _type: type, name: text(name), archetype_node_id: nodeId };
}
