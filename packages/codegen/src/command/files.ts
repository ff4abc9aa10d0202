import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GeneratedModule } from '../template-module.js';

/** The files that the paths name; of a folder those with the extension, by name. @throws Error for what is not there */
export function filesOf(paths: readonly string[], extension: string): readonly string[] {
  return paths.flatMap((path) => {
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path)
      .filter((name) => name.toLowerCase().endsWith(extension))
      .sort()
      .map((name) => join(path, name));
  });
}

/** Where modules are written, and how. */
export interface Writing {
  readonly output: string;
  /** Only what is new is told. */
  readonly isQuiet?: boolean;
  /** Nothing is written: what would be is an error. */
  readonly check?: true;
}

/**
 * Writes modules into a folder and says which. One that is there already is left alone, so that what watches it is not woken.
 * @throws Error with `check`, naming each file that would be another
 */
export function writeModules(modules: readonly GeneratedModule[], writing: Writing): void {
  const { output, isQuiet = false, check = false } = writing;
  const files = modules.map(({ fileName, text }) => ({ file: join(output, fileName), text }));
  const isNew = ({ file, text }: (typeof files)[number]): boolean =>
    !existsSync(file) || readFileSync(file, 'utf8') !== text;
  if (check) {
    const stale = files.filter(isNew).map(({ file }) => `${file}: it would be another one now`);
    if (stale.length > 0) throw new Error(stale.join('\n'));
    return;
  }
  mkdirSync(output, { recursive: true });
  for (const each of files) {
    const mustBeWritten = isNew(each);
    if (mustBeWritten) writeFileSync(each.file, each.text);
    if (mustBeWritten || !isQuiet) process.stdout.write(`${each.file}\n`);
  }
}
