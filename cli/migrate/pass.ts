import { isDeepStrictEqual } from 'node:util';
import type { Settings } from '../../config/settings.js';
import type { ImportFiles } from '../transfer/import-progress.js';
import type { MigrationPass, MigrationState } from './state.js';

/** Where a pass writes, without credentials. `settings`: of this process where it writes to the database itself; null: `url` does. */
export function targetName(url: string, settings: Pick<Settings, 'database'> | null): string {
  if (settings === null) return url;
  const { mongodbUri, mongodbDatabase, embeddedDataDir } = settings.database;
  const hosts = mongodbUri.replace(/\?.*$/s, '').replace(/\/\/[^/]*@/, '//');
  return `database ${mongodbDatabase} at ${hosts === '' ? embeddedDataDir : hosts}`;
}

/** Goes on with a pass that was stopped, where it was this one; else begins it. `say`: takes what whoever waits should know. */
export function openPass(
  files: ImportFiles,
  pass: MigrationPass,
  say: (line: string) => void,
): MigrationState {
  const { state, isResumed }: { readonly state: MigrationState; readonly isResumed: boolean } = files.open();
  if (!isResumed) return { ...state, pass };
  if (isDeepStrictEqual(state.pass, pass)) {
    if (state.after !== undefined) say(`going on after EHR ${state.after}`);
    return state;
  }
  say(`the pass that was stopped was another one (${differenceOf(state.pass, pass)}): this one begins anew`);
  files.finish();
  return { ...files.open().state, pass };
}

/** In what a pass that was stopped differs from this one. */
function differenceOf(stopped: Partial<MigrationPass> = {}, pass: MigrationPass): string {
  const names = Object.keys(pass) as (keyof MigrationPass)[];
  return names
    .filter((name) => stopped[name] !== pass[name])
    .map((name) => `${name}: ${String(stopped[name] ?? 'none')}`)
    .join(', ');
}
