import { expect } from '@jest/globals';
import { CdrError } from '../../packages/client/src/main.js';

/** The error that a call of the client ends with. */
export async function errorOf(call: Promise<unknown>): Promise<CdrError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CdrError);
  return error as CdrError;
}
