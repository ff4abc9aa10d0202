/* What the package offers; one file for each subject beside this one. */
export { RUNTIME_FILES, runtimeModules, templateModule, type GeneratedModule } from './template-module.js';
export { queryModule, queryName } from './query-module.js';
