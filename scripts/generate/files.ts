import { format, resolveConfig } from 'prettier';
import { rmParentsText, rmTypesText } from './rm-types.js';

const RM = 'packages/rm/src/generated';

/** Every file that is made from others: its path below the root of the repository, and its text as it should be. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const texts = new Map([
    [`${RM}/types.ts`, rmTypesText()],
    [`${RM}/parents.ts`, rmParentsText()],
  ]);
  const formatted = new Map<string, string>();
  for (const [path, text] of texts) {
    const options = await resolveConfig(new URL(`../../${path}`, import.meta.url));
    formatted.set(path, await format(text, { ...options, filepath: path }));
  }
  return formatted;
}
