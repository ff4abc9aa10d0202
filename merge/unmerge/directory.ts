import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { parseObjectVersionId, rootOfUid } from '../../openehr/base/object-version-id.js';
import type { MergeHistoryDoc } from '../../models/merge/history.js';
import type { MergeRecordDoc } from '../../models/merge/record.js';
import { headsOfContainers } from '../../models/merge/version-heads.js';
import { latestVersions, versionsByUid, type VersionHead } from '../../models/version.js';
import { liveDirectory, type VersionedObjectDoc } from '../../models/versioned-object.js';
import { contentOf } from '../content.js';
import { folderOf, type CopiedFolder } from '../plan/folders.js';
import { undoingOf, type MergeStory } from '../replay/story.js';

/** What an unmerge looks at of directories. */
export interface DirectorySnapshot {
  /** Live directory of the target with its root. */
  readonly live: { readonly container: VersionedObjectDoc; readonly root: JsonObject } | null;
  /** true: no person made the directory that the merge copied a FOLDER to, and its root is that FOLDER. */
  readonly isRoot: boolean;
  /** What merges that stand copied into it besides, oldest first, as they made it; only where `isRoot`. */
  readonly others: readonly CopiedFolder[];
}

/** Reads it, in the caller's transaction. */
export async function directorySnapshot(
  record: MergeRecordDoc,
  story: MergeStory,
): Promise<DirectorySnapshot> {
  const live = await directoryOf(record.target_ehr);
  const directory = directoryIdOf(record);
  if (directory === null) return { live, isRoot: false, others: [] };
  const copies = copiesInto(directory, story);
  const heads = (await headsOfContainers(record.target_ehr, [directory])).get(directory) ?? [];
  const isRoot = rootOf(copies, directory, heads)?._id === record._id;
  return { live, isRoot, others: isRoot ? await otherCopies(copies, record) : [] };
}

async function directoryOf(ehrId: string): Promise<DirectorySnapshot['live']> {
  const container = await liveDirectory(ehrId);
  if (container === null) return null;
  const version = (await latestVersions([container])).get(container._id);
  return version === undefined ? null : { container, root: contentOf(version) };
}

type Copying = MergeRecordDoc | MergeHistoryDoc;

function directoryIdOf({ directory_version_uid: uid }: Copying): string | null {
  return uid === undefined ? null : rootOfUid(uid);
}

/** The merges that ever copied a FOLDER to a directory, in the order of its versions. */
function copiesInto(directory: string, { into, undone }: MergeStory): Copying[] {
  return [...into, ...undone]
    .filter((merge) => directoryIdOf(merge) === directory)
    .toSorted((a, b) => numberOf(a) - numberOf(b));
}

function numberOf({ directory_version_uid: uid }: Copying): number {
  return parseObjectVersionId(uid ?? '')?.version ?? 0;
}

/** The merge whose FOLDER is the root of a directory; null: the directory is a person's. */
function rootOf(
  copies: readonly Copying[],
  directory: string,
  heads: readonly VersionHead[],
): Copying | null {
  if (copies[0] === undefined || numberOf(copies[0]) !== 1) return null;
  for (const merge of copies) {
    const undone = undoingOf(merge);
    if (undone === null) return merge;
    // Older releases wrote a version wherever nothing was kept.
    const wroteNone = !heads.some((head) => undone.contribution_uids.includes(head.contribution_uid));
    if (undone.kept?.includes(directory) ?? wroteNone) return null;
  }
  return null;
}

async function otherCopies(copies: readonly Copying[], record: MergeRecordDoc): Promise<CopiedFolder[]> {
  const others = copies.filter((merge) => undoingOf(merge) === null && merge._id !== record._id);
  const uids = others.flatMap(({ directory_version_uid: uid }) => uid ?? []);
  const versions = new Map((await versionsByUid(uids)).map((version) => [version._id, version]));
  return others.flatMap((merge) => {
    const version = versions.get(merge.directory_version_uid ?? '');
    if (version === undefined) return [];
    const folder = folderOf(contentOf(version), merge.copied_folder_uid ?? '');
    return folder === null ? [] : [{ folder, originalName: originalName(merge) }];
  });
}

function originalName({ copied_folder_name: name }: Copying): JsonValue {
  return name === undefined ? null : (JSON.parse(name) as JsonValue);
}
