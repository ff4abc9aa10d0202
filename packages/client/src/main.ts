/* What the package offers; one file for each subject beside this one. */
export { aql, AqlText, type AqlQuery, type AqlValue } from './aql.js';
export type { Answer, Call, VersionInfo } from './call.js';
export { Cdr, type Health } from './cdr.js';
export type * from './admin.js';
export type * from './compositions.js';
export type * from './content.js';
export type * from './definitions.js';
export { differences, type Difference } from './diff.js';
export type * from './directory.js';
export type * from './ehr.js';
export { CdrError, type Violation } from './error.js';
export type { HistoryEntry } from './history.js';
export { isVersionUid, versionedObjectUidOf, versionNumberOf } from './uid.js';
export type { CallOptions, CdrOptions, CommitOptions } from './options.js';
export type * from './overview.js';
export type * from './query.js';
export type { PlacedTag, Tag } from './tags.js';
export type * from '../../rm/src/generated/types.js';
