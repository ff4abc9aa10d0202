/* What the package offers; one file for each subject beside this one. */
export * from './data-values.js';
export * from './guards.js';
export * from './parties.js';
export * from './paths.js';
export type * from './generated/types.js';
