import { isJsonObject, type JsonObject, type JsonValue } from '../../openehr/base/json.js';
import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { nameOf, objectsAt, textAt, withoutAttributes } from '../../openehr/rm/access.js';

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

/** A directory without a copied FOLDER. */
export interface WithoutCopy {
  readonly root: JsonObject;
  /** Names of sub-FOLDERs and ids of items that others put into the copy: they are at the root now. */
  readonly kept: readonly string[];
}

/**
 * The directory without the FOLDER that a merge copied, wherever that is below the root; null when it is not there. Known
 * by its uid, or, since clients may write FOLDERs without uids, by its name, or by the same items. What others put into it
 * since goes to the root.
 */
export function withoutCopy(root: JsonObject, copy: JsonObject): WithoutCopy | null {
  const found = findCopy(root, copy);
  if (found === undefined) return null;
  const added = addedTo(found, copy);
  const rest = without(root, found);
  const names = new Set(objectsAt(rest, 'folders').map(nameOf));
  const folders = added.folders.map((one) => {
    const name = distinctName(nameOf(one), names);
    names.add(name);
    return name === nameOf(one) ? one : { ...one, name: { _type: 'DV_TEXT', value: name } };
  });
  const items = [...objectsAt(rest, 'items'), ...added.items];
  return {
    root: {
      ...withFolders(rest, [...objectsAt(rest, 'folders'), ...folders]),
      ...(items.length > 0 && { items }),
    },
    kept: [
      ...folders.map((one) => `FOLDER ${nameOf(one)}`),
      ...added.items.map((item) => `item ${idOf(item)}`),
    ],
  };
}

/** The FOLDER that a merge copied, wherever it is below the root. */
function findCopy(root: JsonObject, copy: JsonObject): JsonObject | undefined {
  const below = foldersBelow(root);
  return (
    below.find((one) => textAt(one, 'uid', 'value') === textAt(copy, 'uid', 'value')) ??
    below.find((one) => nameOf(one) === nameOf(copy)) ??
    below.find((one) => itemIds(copy).length > 0 && itemIds(one).join() === itemIds(copy).join())
  );
}

/** What a merge copied into a directory. */
export interface CopiedFolder {
  readonly folder: JsonObject;
  /** Of the directory that it is a copy of; null: it is not known. */
  readonly originalName: JsonValue;
}

/**
 * The directory as the merges that copied these into it would have made it without the one whose tree is its root: the first
 * one is the root. null: none of them is in it.
 */
export function withoutRoot(root: JsonObject, copies: readonly CopiedFolder[]): JsonObject | null {
  const [first, ...others] = copies.flatMap(({ folder, originalName }) => {
    const found = findCopy(root, folder);
    return found === undefined ? [] : [{ found, originalName }];
  });
  if (first === undefined) return null;
  const { found, originalName } = first;
  const named = originalName === null ? found : { ...found, name: originalName };
  const folders = [...objectsAt(found, 'folders'), ...others.map((one) => one.found)];
  return withFolders(withoutAttributes(named, ['uid']), folders);
}

/** The FOLDER of this uid below the root; null when there is none. */
export function folderOf(root: JsonObject, folderUid: string): JsonObject | null {
  return foldersBelow(root).find((one) => textAt(one, 'uid', 'value') === folderUid) ?? null;
}

function foldersBelow(root: JsonObject): JsonObject[] {
  return objectsAt(root, 'folders').flatMap((child) => [child, ...foldersBelow(child)]);
}

/** The tree without this very FOLDER. */
function without(root: JsonObject, found: JsonObject): JsonObject {
  const children = objectsAt(root, 'folders');
  if (children.length === 0) return root;
  return withFolders(
    root,
    children.filter((child) => child !== found).map((child) => without(child, found)),
  );
}

interface Added {
  readonly folders: JsonObject[];
  readonly items: JsonObject[];
}

/** What a FOLDER holds beyond what the merge copied, at whatever depth. */
function addedTo(folder: JsonObject, copy: JsonObject): Added {
  const copied = new Map(objectsAt(copy, 'folders').map((child) => [nameOf(child), child]));
  const known = new Set(itemIds(copy));
  const items = objectsAt(folder, 'items').filter((item) => !known.has(idOf(item)));
  const folders: JsonObject[] = [];
  for (const child of objectsAt(folder, 'folders')) {
    const same = copied.get(nameOf(child));
    if (same === undefined) {
      folders.push(child);
      continue;
    }
    const below = addedTo(child, same);
    folders.push(...below.folders);
    items.push(...below.items);
  }
  return { folders, items };
}

function itemIds(folder: JsonObject): string[] {
  return objectsAt(folder, 'items').map(idOf);
}

function idOf(item: JsonObject): string {
  return textAt(item, 'id', 'value') ?? '';
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
