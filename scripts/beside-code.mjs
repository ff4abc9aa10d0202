/** Files and folders that the compiled product reads beside its code. */
export const BESIDE_CODE = [
  'src/everchart.mjs',
  'workers/thread.mjs',
  'openehr/rm/terminology/openehr-terminology.json',
  'cli/demo/data',
  'packages/codegen/src/runtime',
  'routes/http/openapi/data',
];
