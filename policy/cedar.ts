import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';

/** The library of Cedar, which only what reads or tries a policy loads. */
export async function cedar(): Promise<typeof Cedar> {
  const file = new URL('cedar-wasm.mjs', import.meta.url).href;
  return (await import(file)) as typeof Cedar;
}
