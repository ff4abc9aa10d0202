/** The uid of the VERSIONED_OBJECT of a version uid (BASE: OBJECT_VERSION_ID.object_id); of its own uid, itself. */
export function versionedObjectUidOf(uid: string): string {
  return uid.split('::')[0] ?? uid;
}

/** The number of the version that a version uid names (BASE: OBJECT_VERSION_ID.version_tree_id), as it is written. */
export function versionNumberOf(versionUid: string): string {
  return versionUid.split('::').at(-1) ?? versionUid;
}

/** Whether the uid names one version of an object. */
export function isVersionUid(uid: string): boolean {
  return uid.includes('::');
}
