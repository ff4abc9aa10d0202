import type { Call, Send } from './http.js';

/** Path of the standard API. */
export const STANDARD = '/rest/openehr/v1';

/** The JSON body of an answer. @throws ApiError */
export async function json<T>(send: Send, call: Call): Promise<T> {
  const response = await send(call);
  return (await response.json()) as T;
}

/** JSON is laid out for reading, everything else is as it came. */
export async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  if (!(response.headers.get('Content-Type') ?? '').includes('json')) return text;
  return JSON.stringify(JSON.parse(text), null, 2);
}
