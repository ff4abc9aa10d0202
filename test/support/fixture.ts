import { readdirSync, readFileSync } from 'node:fs';
import type { JsonObject } from '../../openehr/base/json.js';

const ROOT = new URL('../fixtures/openehr/', import.meta.url);

/** Text of a file below test/fixtures/openehr. */
export function fixtureText(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

/** Parsed JSON of a file below test/fixtures/openehr. */
export function fixtureJson(path: string): JsonObject {
  return JSON.parse(fixtureText(path)) as JsonObject;
}

/** Names of the files of a folder below test/fixtures/openehr. */
export function fixtureNames(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, ROOT));
}

/** Names of the public templates: files `opt/<name>.opt`. */
export function templateNames(): string[] {
  return fixtureNames('opt')
    .filter((file) => file.endsWith('.opt'))
    .map((file) => file.slice(0, -'.opt'.length))
    .sort();
}
