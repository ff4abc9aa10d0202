import type { StoredQuery } from '@everchart/client';

/** Stored queries of one name, newest version first. */
export interface NamedQuery {
  /** Whole, as requests have it. */
  readonly name: string;
  /** Without its folder. */
  readonly label: string;
  readonly versions: readonly StoredQuery[];
}

/** What stands before `::` in names, with the queries that have it; '' holds those without. */
export interface QueryFolder {
  readonly folder: string;
  readonly queries: readonly NamedQuery[];
}

/** Stored queries by folder and name; `fits`: pieces of the name or of the text, without regard to case. */
export function queryFolders(stored: readonly StoredQuery[], fits = ''): readonly QueryFolder[] {
  const wanted = fits.trim().toLowerCase();
  const folders = new Map<string, Map<string, StoredQuery[]>>();
  for (const query of stored) {
    if (!`${query.name}\n${query.q}`.toLowerCase().includes(wanted)) continue;
    const { folder, label } = partsOf(query.name);
    const queries = folders.get(folder) ?? new Map<string, StoredQuery[]>();
    folders.set(folder, queries.set(label, [...(queries.get(label) ?? []), query]));
  }
  return [...folders].sort(byName).map(([folder, queries]) => ({
    folder,
    queries: [...queries].sort(byName).map(([label, versions]) => ({
      name: versions[0]?.name ?? label,
      label,
      versions: [...versions].sort((a, b) => byVersion(b.version, a.version)),
    })),
  }));
}

function partsOf(name: string): { readonly folder: string; readonly label: string } {
  const at = name.indexOf('::');
  return at < 0 ? { folder: '', label: name } : { folder: name.slice(0, at), label: name.slice(at + 2) };
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** SEMVER order: a pre-release comes before its release. */
function byVersion(a: string, b: string): number {
  const [[core, before], [otherCore, otherBefore]] = [splitVersion(a), splitVersion(b)];
  for (const [index, part] of core.entries()) {
    const difference = part - (otherCore[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (before === '' || otherBefore === '') return Number(before === '') - Number(otherBefore === '');
  return before.localeCompare(otherBefore, 'en', { numeric: true });
}

function splitVersion(version: string): readonly [readonly number[], string] {
  const [, core = '', before = ''] = /^([\d.]+)-?(.*)$/.exec(version) ?? [];
  return [core.split('.').map(Number), before];
}
