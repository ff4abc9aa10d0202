// The only file that loads Cedar. The build makes one file of it and of the library (scripts/build.mjs), beside which its WebAssembly
// lies once: the package has it three times.
export {
  isAuthorized,
  policyToJson,
  preparsePolicySet,
  preparseSchema,
  statefulIsAuthorized,
  validate,
} from '@cedar-policy/cedar-wasm/nodejs';
