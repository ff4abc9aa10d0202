import { CdrError } from '../openehr/base/errors.js';
import { formatUtc } from '../openehr/base/iso8601.js';
import type { JsonObject } from '../openehr/base/json.js';
import { ROOT_TYPES, type RootType } from '../openehr/rm/root-type.js';
import { hierObjectId, localRef, originalVersionResource, resourceText } from '../change/commit/resource.js';
import { serverTime } from '../change/commit/audit.js';
import { exportedVersions, inReadSession, objectIds } from '../models/cross-collection/interchange.js';
import type { EhrDoc } from '../models/ehr.js';
import type { VersionDoc } from '../models/version.js';
import { groupBy } from '../openehr/base/maps.js';

/** Which versions an EXTRACT has of each object. */
export type ExtractedVersions = 'all' | 'latest';

/** Characters of an EXTRACT that is made in memory; what is larger goes by the command line. */
const MAX_LENGTH = 64 * 1024 * 1024;

/**
 * Canonical JSON of an EXTRACT of an EHR: X_VERSIONED_OBJECTs with their ORIGINAL_VERSIONs as they were made. RM ehr_extract: EXTRACT.
 * @throws too-large beyond 64 Mi characters
 */
export function extractText(ehr: EhrDoc, which: ExtractedVersions, now: Date): Promise<string> {
  return inReadSession(async (session) => {
    const items: string[] = [];
    let length = 0;
    for (const type of ROOT_TYPES)
      for await (const ids of objectIds(session, ehr._id, type)) {
        const byObject = groupBy(
          await exportedVersions(session, ehr._id, ids),
          (version) => version.object_id,
        );
        for (const versions of byObject.values()) {
          const text = itemText(type, versions, which);
          length += text.length;
          if (length > MAX_LENGTH)
            throw new CdrError(
              'too-large',
              `an EXTRACT of EHR ${ehr._id} has more than ${MAX_LENGTH} characters: use versions=latest, or everchart export`,
            );
          items.push(text);
        }
      }
    return `${headText(ehr, now).slice(0, -1)},"chapters":[${chapterText(ehr, items)}]}`;
  });
}

function headText(ehr: EhrDoc, now: Date): string {
  return JSON.stringify({
    ...located('EXTRACT', 'openEHR-EHR_EXTRACT-EXTRACT.whole.v1', `EHR ${ehr._id}`),
    time_created: { _type: 'DV_DATE_TIME', value: formatUtc(now) },
    system_id: hierObjectId(ehr.system_id),
    sequence_nr: 1,
  });
}

function chapterText({ _id }: EhrDoc, items: readonly string[]): string {
  const chapter = { ...located('EXTRACT_ENTITY_CHAPTER', 'at0001', `EHR ${_id}`), extract_id_key: _id };
  return `${JSON.stringify(chapter).slice(0, -1)},"items":[${items.join(',')}]}`;
}

/** OPENEHR_CONTENT_ITEM with an X_VERSIONED_OBJECT. `all`: oldest first. */
function itemText(type: RootType, all: readonly VersionDoc[], which: ExtractedVersions): string {
  const [first] = all;
  if (first === undefined) return '';
  const versions = which === 'latest' ? all.slice(-1) : all;
  const item = { ...located('OPENEHR_CONTENT_ITEM', 'at0002', type), is_primary: true };
  const container = {
    _type: `X_VERSIONED_${type}`,
    uid: hierObjectId(first.object_id),
    owner_id: localRef(hierObjectId(first.ehr_id), 'EHR'),
    time_created: serverTime(first.time_committed),
    total_version_count: all.length,
    extract_version_count: versions.length,
  };
  const texts = versions.map((version) => resourceText(originalVersionResource(version)));
  const inner = `${JSON.stringify(container).slice(0, -1)},"versions":[${texts.join(',')}]}`;
  return `${JSON.stringify(item).slice(0, -1)},"item":${inner}}`;
}

function located(type: string, nodeId: string, name: string): JsonObject {
  return { _type: type, name: { _type: 'DV_TEXT', value: name }, archetype_node_id: nodeId };
}
