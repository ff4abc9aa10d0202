const TERMINOLOGY = [
  'openehr/rm/terminology/openehr-terminology.json',
  'openehr/rm/terminology/property-units.json',
];

/** Files and folders that the compiled product reads beside its code. */
export const BESIDE_CODE = [
  'src/everchart.mjs',
  'change/commit/openpgp.mjs',
  'cli/transfer/age.mjs',
  'policy/cedar-wasm.mjs',
  'src/tracing/opentelemetry.mjs',
  'workers/thread.mjs',
  ...TERMINOLOGY,
  'cli/demo/data',
  'packages/codegen/src/runtime',
  'routes/http/openapi/data',
];

/** The packages for those who build on the server, or on a part of it. */
export const PACKAGES = ['rm', 'client', 'aql', 'codegen', 'aql-lsp', 'embedded-mongodb'];

/** What their compiled code reads beside it. */
export const PACKAGE_FILES = {
  codegen: [...TERMINOLOGY, 'packages/codegen/src/runtime'],
  'aql-lsp': TERMINOLOGY,
};

/** Whether the build makes a part of the server of a package, so that nobody who installs the server gets it. */
export const isCompiledIn = (name) =>
  name.startsWith('@opentelemetry/') ||
  ['@cedar-policy/cedar-wasm', 'age-encryption', 'mongodb-memory-server-core', 'openpgp'].includes(name);

/** Of swagger-ui-dist what the page of the API needs. */
export const SWAGGER_UI = [
  'LICENSE',
  'NOTICE',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'swagger-ui.css',
];
