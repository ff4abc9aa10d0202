/* What the package offers; one file for each subject beside this one. */
export { RUNTIME_FILES, runtimeModules, templateModule, type GeneratedModule } from './template-module.js';
export { queryModule, queryName } from './query-module.js';
export { codegenCommand } from './command/command.js';
export { defineConfig, type CodegenConfig } from './command/config.js';
export { readCatalogue, type CatalogueOptions } from './command/catalogue.js';
export { remoteServer, type TemplateServer } from './command/server.js';
export { runProgram } from './program.js';
export { compileTemplate, type CompiledTemplate } from '../../../openehr/template/compile.js';
