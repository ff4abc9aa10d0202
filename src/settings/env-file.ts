import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';

/** One entry, comment or empty line as `process.loadEnvFile` reads them; a quoted value may have several lines. */
const ENTRY =
  /[ \t]*(?:(?:export[ \t]+)?[A-Za-z_]\w*[ \t]*=[ \t]*(?:"[^"]*"[^\n]*|'[^']*'[^\n]*|`[^`]*`[^\n]*|[^"'`\s][^\n]*)?|#[^\n]*)?[ \t\r]*(?:\n|$)/y;

/**
 * Takes the settings of a file `.env` in the working directory into the environment of this process; variables
 * that are there already, also empty ones, win. Without the file nothing happens.
 * @throws Error naming the file, and the line that is no `NAME=value`; never a value
 */
export function readEnvFile(path = '.env'): void {
  const file = resolve(path);
  const text = envFileText(file);
  if (text === null) return;
  const line = brokenLine(text);
  if (line !== null) throw new Error(`${file}: line ${line} is no NAME=value, or its quote has no end`);
  const before = new Set(Object.keys(process.env));
  process.loadEnvFile(file);
  for (const name of Object.keys(parseEnv(text))) if (!before.has(name)) origins.set(name, file);
}

/** Variables of this process that a file gave, with that file. */
const origins = new Map<string, string>();

/** The file that a variable of this process came from; null: it was in the environment. */
export function fileOfVariable(name: string): string | null {
  return origins.get(name) ?? null;
}

function envFileText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new Error(`${file}: the settings cannot be read (${code ?? 'unknown reason'})`, { cause });
  }
}

/** Number of the first line that `process.loadEnvFile` would pass over or misread; null: there is none. */
function brokenLine(text: string): number | null {
  let offset = 0;
  while (offset < text.length) {
    ENTRY.lastIndex = offset;
    if (!ENTRY.test(text)) return text.slice(0, offset).split('\n').length;
    offset = ENTRY.lastIndex;
  }
  return null;
}
