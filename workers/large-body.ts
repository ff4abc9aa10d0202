import type { JsonValue } from '../openehr/base/json.js';
import { LargeComposition, type ValidatedLarge } from '../change/composition/large-composition.js';
import { derivedFrom } from './derived-bytes.js';
import type { BodyText, ParsedComposition } from './jobs.js';
import { runJob } from './pool.js';

/** A body of more characters is read in another thread. */
export const LARGE_BODY_CHARACTERS = 256 * 1024;

/** Whether a body is read in another thread. */
export function isLarge(text: string): boolean {
  return text.length > LARGE_BODY_CHARACTERS;
}

/** Parses a large body. @throws as `parseJson` and `fromXml`, and as `runJob` */
export async function parseLarge(body: BodyText): Promise<JsonValue> {
  return JSON.parse(await parseLargeText(body)) as JsonValue;
}

/** As `parseLarge`, but gives JSON text, for `readLargeComposition`. */
export function parseLargeText(body: BodyText): Promise<string> {
  return runJob('parseBody', body);
}

/** Reads a large COMPOSITION that was parsed. @throws as `readObject` and `readFlat`, and as `runJob` */
export async function readLargeComposition(parsed: ParsedComposition): Promise<LargeComposition> {
  const { text, ...read } = await runJob('readComposition', parsed);
  return new LargeComposition(read, async (template, rules, leafIndex): Promise<ValidatedLarge> => {
    const { prepared, ...found } = await runJob('validateComposition', { text, template, rules, leafIndex });
    if (prepared === null) return { ...found, prepared };
    return { ...found, prepared: { tail: prepared.tail, derived: await derivedFrom(prepared.derived) } };
  });
}
