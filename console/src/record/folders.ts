import { versionedObjectUidOf } from '@everchart/client';
import { at, items, textAt } from '../api/json.js';
import type { Json, JsonObject } from '../api/types.js';

/** The folders that lead to one, by their positions; [] is the root. */
export type FolderPlace = readonly number[];

/** A FOLDER of this name with nothing in it. */
export function newFolder(name: string): JsonObject {
  return {
    _type: 'FOLDER',
    name: { _type: 'DV_TEXT', value: name },
    archetype_node_id: 'openEHR-EHR-FOLDER.generic.v1',
  };
}

/** The id of a document that a reference names, without its version. */
export function filedId(item: Json): string {
  return versionedObjectUidOf(textAt(item, 'id', 'value'));
}

/** Every document that any folder names. */
export function filedIds(folder: Json): Set<string> {
  return new Set([
    ...items(at(folder, 'items')).map(filedId),
    ...items(at(folder, 'folders')).flatMap((below) => [...filedIds(below)]),
  ]);
}

/** The tree with a document in a folder; one that is in it already stays as it is. */
export function withFiled(root: JsonObject, place: FolderPlace, documentId: string): JsonObject {
  return changed(root, place, (folder) => {
    const known = items(folder.items);
    if (known.some((item) => filedId(item) === documentId)) return folder;
    const id = { _type: 'HIER_OBJECT_ID', value: documentId };
    const item = { _type: 'OBJECT_REF', id, namespace: 'local', type: 'VERSIONED_COMPOSITION' };
    return { ...folder, items: [...known, item] };
  });
}

/** The tree without a document in a folder; the document itself stays. */
export function withoutFiled(root: JsonObject, place: FolderPlace, documentId: string): JsonObject {
  return changed(root, place, (folder) => {
    const left = items(folder.items).filter((item) => filedId(item) !== documentId);
    return { ...folder, items: left.length === 0 ? undefined : left };
  });
}

/** The tree with one more folder below another one. */
export function withFolder(root: JsonObject, place: FolderPlace, name: string): JsonObject {
  return changed(root, place, (folder) => ({
    ...folder,
    folders: [...items(folder.folders), newFolder(name)],
  }));
}

function changed(
  folder: JsonObject,
  [first, ...rest]: FolderPlace,
  change: (folder: JsonObject) => JsonObject,
): JsonObject {
  if (first === undefined) return change(folder);
  const folders = items(folder.folders).map((below, index) =>
    index === first ? changed(below as JsonObject, rest, change) : below,
  );
  return { ...folder, folders };
}
