import { createHash } from 'node:crypto';
import { groupBy } from '../../openehr/base/maps.js';
import { formatUtc } from '../../openehr/base/iso8601.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { parseObjectVersionId } from '../../openehr/base/object-version-id.js';
import { ownerNow } from '../../change/commit/ehr-access.js';
import { itemTagDto } from '../../change/item-tag/item-tag-dto.js';
import { archivedBodies, archivedMoves } from '../../models/merge/archive.js';
import type { MergeRecordDoc } from '../../models/merge/record.js';
import { contributionOf } from '../../models/contribution.js';
import { versionsBefore, type VersionDoc } from '../../models/version.js';
import { versionOf } from '../../models/version-text.js';

/**
 * EhrUnmergeData of a reversible merge: what ended with it, what moved, and the joined compositions of the
 * source as they were. Null when nothing was archived. See docs/spec/merge.md#unmerge-data.
 */
export async function unmergeData(record: MergeRecordDoc): Promise<JsonObject | null> {
  const [ehr] = await archivedBodies(record._id, 'ehr');
  if (ehr === undefined) return null;
  const moves = await archivedMoves(record._id);
  const tags = await archivedBodies(record._id, 'tag');
  const histories = byContainer((await archivedBodies(record._id, 'version')).map(versionOf));
  const folders = histories.filter(([first]) => first?.type === 'FOLDER');
  const status = histories.find(([first]) => first?.type === 'EHR_STATUS') ?? [];
  return {
    ehr_creation: formatUtc(ehr.time_created),
    ehr_status: history(status),
    contributions: moves.contribution,
    compositions: moves.composition,
    deletedCompositions: (await joinedHistories(record)).map(history),
    folders: folders.map(history),
    moved_item_tags: moves.tag,
    deleted_item_tags: tags.map(itemTagDto),
  };
}

/** Versions of the joined compositions of the source before the merge; they live on in the target. */
async function joinedHistories(record: MergeRecordDoc): Promise<VersionDoc[][]> {
  const histories: VersionDoc[][] = [];
  const owner = await ownerNow(record.target_ehr);
  const made = await madeVersions(record, owner);
  for (const { source } of record.joined) {
    const versions = await versionsBefore(owner, source, made.get(source) ?? Infinity);
    if (versions.length > 0) histories.push(versions);
  }
  return histories;
}

/** Numbers of the versions that the merge made, by object id. */
async function madeVersions(record: MergeRecordDoc, owner: string): Promise<Map<string, number>> {
  const contribution = await contributionOf(owner, record.contribution_uid ?? '');
  const ids = (contribution?.versions ?? []).map(({ uid }) => parseObjectVersionId(uid));
  return new Map(ids.flatMap((id) => (id === null ? [] : [[id.versionedObjectUid, id.version]])));
}

/** The versions of each container, oldest first; containers in the order of their creation. */
function byContainer(versions: readonly VersionDoc[]): VersionDoc[][] {
  const oldestFirst = versions.toSorted((a, b) => a.version - b.version);
  const histories = groupBy(oldestFirst, (version) => version.object_id);
  const created = (history: readonly VersionDoc[]): number => history[0]?.time_committed.getTime() ?? 0;
  return [...histories.values()].toSorted((a, b) => created(a) - created(b));
}

function history(versions: readonly VersionDoc[]): JsonObject {
  return { versions: versions.map((version, index) => versionEntry(version, versions[index + 1])) };
}

function versionEntry(version: VersionDoc, next: VersionDoc | undefined): JsonObject {
  return {
    uid: version.object_id,
    version: version.version,
    sys_period_lower: formatUtc(version.time_committed),
    ...(next !== undefined && { sys_period_upper: formatUtc(next.time_committed) }),
    contribution: version.contribution_uid,
    audit_details: auditId(version._id),
    ...(version.data !== null && { data: inCamelCase(JSON.parse(version.data) as JsonValue) }),
  };
}

/** AUDIT_DETAILS are part of their VERSION and have no id of their own: a UUID made of the version's. */
function auditId(versionUid: string): string {
  const hash = createHash('sha256').update(`commit_audit ${versionUid}`).digest('hex');
  const variant = ((Number.parseInt(hash.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}

/** RM attribute names in camel case, values untouched. */
export function inCamelCase(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inCamelCase);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [camelName(name), inCamelCase(member ?? null)]),
  );
}

function camelName(name: string): string {
  return name.startsWith('_')
    ? name
    : name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
