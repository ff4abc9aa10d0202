/**
 * Options of every schema: unknown fields are refused, nothing is added, nothing is built on first use
 * (`database/indexes.ts` builds collections and indexes at start).
 */
export const SCHEMA_OPTIONS = {
  strict: 'throw',
  versionKey: false,
  minimize: false,
  autoIndex: false,
  autoCreate: false,
  id: false,
} as const;
