import type { JsonObject } from '../../openehr/base/json.js';
import { rootOfUid } from '../../openehr/base/object-version-id.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import type { MergeHistoryDoc } from '../../models/merge/history.js';
import type { Session } from '../../models/access/write.js';
import { anyVersion, latestVersions, versionsOfContainer, type VersionDoc } from '../../models/version.js';
import { containersById, ehrStatusContainer, liveDirectory } from '../../models/versioned-object.js';
import { contentOf, isSameContent } from '../content.js';
import { folderOf, withoutCopy } from '../plan/folders.js';
import { listStory, listValue, makerIn } from './lists.js';
import { statusWithout } from './status.js';
import { mergeStory, type MergeStory } from './story.js';

/** An object that does not hold what persons and the merges that stand give it. */
export interface Harm {
  readonly ehrId: string;
  readonly type: RootType;
  readonly latest: VersionDoc;
  /** What would be right. */
  readonly object: JsonObject;
  /** The VERSION that has it; null: it is made of several. */
  readonly from: VersionDoc | null;
  /** An older release joined two lists and did not record whose content was chosen: it may be right as it is. */
  readonly isGuess: boolean;
}

/** What releases before the replay left wrong in an EHR when merges were taken back. docs/spec/merge.md#repair */
export async function harmsOf(session: Session, ehrId: string): Promise<Harm[]> {
  const story = await mergeStory(session, ehrId);
  if (story.makers.size === 0) return [];
  return [
    ...(await harmedLists(ehrId, story)),
    ...(await harmedStatus(ehrId, story)),
    ...(await harmedDirectory(ehrId, story)),
  ];
}

async function harmedLists(ehrId: string, story: MergeStory): Promise<Harm[]> {
  const ids = [...story.makers.values()].flatMap(
    ({ merge }) => merge?.joined.map(({ target }) => target) ?? [],
  );
  const containers = (await containersById([...new Set(ids)])).filter((one) => one.ehr_id === ehrId);
  const lists = await listStory(
    ehrId,
    story,
    containers.map(({ _id }) => _id),
  );
  const latest = await latestVersions(containers);
  const found: Harm[] = [];
  for (const { _id } of containers) {
    const now = latest.get(_id);
    const value = listValue(lists, _id);
    if (now === undefined || value === null || makerIn(lists, now) === null) continue;
    const from = await anyVersion(value.versionUid);
    if (from?.data != null && !isSameContent(now, from))
      found.push({
        ehrId,
        type: 'COMPOSITION',
        latest: now,
        object: contentOf(from),
        from,
        isGuess: value.isGuess,
      });
  }
  return found;
}

async function harmedStatus(ehrId: string, story: MergeStory): Promise<Harm[]> {
  const container = await ehrStatusContainer(ehrId);
  const versions = container === null ? [] : await versionsOfContainer(ehrId, container._id);
  const latest = versions.at(-1);
  const object = statusWithout(versions, story, null);
  return latest === undefined || object === null
    ? []
    : [{ ehrId, type: 'EHR_STATUS', latest, object, from: null, isGuess: false }];
}

/** FOLDERs of merges that were taken back, where nothing was to be kept. */
async function harmedDirectory(ehrId: string, story: MergeStory): Promise<Harm[]> {
  const container = await liveDirectory(ehrId);
  const latest = container === null ? undefined : (await latestVersions([container])).get(container._id);
  if (latest === undefined) return [];
  const root = contentOf(latest);
  const object = story.undone.reduce(withoutUndone, root);
  return object === root ? [] : [{ ehrId, type: 'FOLDER', latest, object, from: null, isGuess: false }];
}

function withoutUndone(root: JsonObject, merge: MergeHistoryDoc): JsonObject {
  const { copied_folder_uid: uid = '', directory_version_uid: made = '', undone } = merge;
  const copy = undone.kept?.includes(rootOfUid(made)) === true ? null : folderOf(root, uid);
  return copy === null ? root : (withoutCopy(root, copy)?.root ?? root);
}
