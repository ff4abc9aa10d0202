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

/** Writes modules into a folder and says which. One that is there already is left alone, so that what watches it is not woken. */
export function writeModules(modules: readonly GeneratedModule[], output: string, isQuiet = false): void {
  mkdirSync(output, { recursive: true });
  for (const { fileName, text } of modules) {
    const file = join(output, fileName);
    const isNew = !existsSync(file) || readFileSync(file, 'utf8') !== text;
    if (isNew) writeFileSync(file, text);
    if (isNew || !isQuiet) process.stdout.write(`${file}\n`);
  }
}
