import { isJsonObject, type JsonObject } from '../openehr/base/json.js';
import { rootOfUid } from '../openehr/base/object-version-id.js';
import { nameOf, objectsAt, textAt, withoutAttributes } from '../openehr/rm/access.js';

/** A source directory to be copied. */
export interface FolderSource {
  /** Root of its latest version. */
  readonly root: JsonObject;
  readonly sourceEhr: string;
  /** uid that the copied root gets. */
  readonly folderUid: string;
  /** Object ids of joined compositions: of the source, to that of the target. */
  readonly survivors: ReadonlyMap<string, string>;
}

/**
 * The target's directory with the source's tree as one more sub-FOLDER `Merged EHR <source>`: same node id,
 * details, links, items and sub-folders, another root uid. See docs/spec/merge.md#folder-copy.
 */
export function withCopiedFolder(targetRoot: JsonObject, source: FolderSource): JsonObject {
  const siblings = objectsAt(targetRoot, 'folders');
  const taken = new Set(siblings.map(nameOf));
  const name = distinctName(`Merged EHR ${source.sourceEhr}`, taken);
  const copied: JsonObject = {
    ...redirected(source.root, source.survivors),
    uid: { _type: 'HIER_OBJECT_ID', value: source.folderUid },
    name: { _type: 'DV_TEXT', value: name },
  };
  return { ...targetRoot, folders: [...siblings, copied] };
}

/** The root of a new directory of the target: the source's root under its own name. */
export function asNewDirectory(source: FolderSource): JsonObject {
  return withoutAttributes(redirected(source.root, source.survivors), ['uid']);
}

/** The tree without the FOLDER of this uid, wherever it is below the root; null when it is not there. */
export function withoutFolder(root: JsonObject, folderUid: string): JsonObject | null {
  const children = objectsAt(root, 'folders');
  const kept = children.filter((child) => textAt(child, 'uid', 'value') !== folderUid);
  if (kept.length < children.length) return withFolders(root, kept);
  for (const [index, child] of children.entries()) {
    const changed = withoutFolder(child, folderUid);
    if (changed !== null) return withFolders(root, children.with(index, changed));
  }
  return null;
}

function withFolders(root: JsonObject, folders: JsonObject[]): JsonObject {
  return folders.length === 0 ? withoutAttributes(root, ['folders']) : { ...root, folders };
}

/** Items that referred to a joined composition, or a version of it, refer to the container that survived. */
function redirected(folder: JsonObject, survivors: ReadonlyMap<string, string>): JsonObject {
  const changed: JsonObject = { ...folder };
  if (Array.isArray(folder.items)) {
    changed.items = folder.items.map((item) => (isJsonObject(item) ? redirectedItem(item, survivors) : item));
  }
  if (Array.isArray(folder.folders)) {
    changed.folders = folder.folders.map((child) =>
      isJsonObject(child) ? redirected(child, survivors) : child,
    );
  }
  return changed;
}

function redirectedItem(item: JsonObject, survivors: ReadonlyMap<string, string>): JsonObject {
  const { id } = item;
  if (!isJsonObject(id) || typeof id.value !== 'string') return item;
  const survivor = survivors.get(rootOfUid(id.value).toLowerCase());
  if (survivor === undefined) return item;
  const type = id._type === 'OBJECT_VERSION_ID' ? 'HIER_OBJECT_ID' : (id._type ?? 'HIER_OBJECT_ID');
  return { ...item, id: { ...id, _type: type, value: survivor } };
}

/** Sibling FOLDERs have distinct names. */
function distinctName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted} (${number})`;
  return name;
}
