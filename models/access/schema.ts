/**
 * Options of every schema: mongoose refuses fields that it does not know, adds none, and builds nothing on first use
 * (`database/indexes.ts` builds collections and indexes at start). Commits, merges and erasures pass the driver's
 * `bulkWrite` instead, where the types of `write.ts` do that (docs/decisions/0012-mongoose-and-bulk-writes.md).
 */
export const SCHEMA_OPTIONS = {
  strict: 'throw',
  versionKey: false,
  minimize: false,
  autoIndex: false,
  autoCreate: false,
  id: false,
} as const;
