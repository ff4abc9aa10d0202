import { readFileSync } from 'node:fs';

/** The name of the product in OPTIONS, `_generator` and status. */
export const PRODUCT = 'everchart';

/** The version of package.json, which lies one folder up, or two up from a build in `dist/`. */
export const PRODUCT_VERSION = readVersion();

function readVersion(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      const { version } = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as {
        version: string;
      };
      return version;
    } catch {
      continue;
    }
  }
  return 'unknown';
}
