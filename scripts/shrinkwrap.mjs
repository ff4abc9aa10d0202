// The lock of the packed server: of the clone's lock what the server needs, so that everybody gets the versions that were tested.
import { readFileSync } from 'node:fs';

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));

/** What an entry says of the clone alone. */
const OF_CLONE = ['dev', 'devOptional', 'peer', 'optional'];

/** Where the lock has what `name` means to the package at `path`: as Node.js searches, folder by folder upwards. */
function placeOf(path, name) {
  for (let folder = path; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (folder === '') return null;
  }
}

/** All that these packages need, beginning at the root. */
function reached(names) {
  const found = new Set();
  const waiting = names.map((name) => placeOf('', name));
  for (const place of waiting) {
    if (place === null || found.has(place)) continue;
    found.add(place);
    const {
      dependencies,
      optionalDependencies,
      peerDependencies,
      peerDependenciesMeta = {},
    } = packages[place];
    const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta[name]?.optional);
    const all = [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
    waiting.push(...all.map((name) => placeOf(place, name)));
  }
  return found;
}

/**
 * The lock of a manifest that is published.
 * @param {Record<string, any>} manifest
 */
export function shrinkwrap(manifest) {
  const { name, version, license, bin, engines, dependencies, optionalDependencies } = manifest;
  const needed = reached(Object.keys(dependencies));
  const all = reached(Object.keys({ ...dependencies, ...optionalDependencies }));
  const places = [...all].sort().map((place) => {
    const entry = Object.fromEntries(
      Object.entries(packages[place]).filter(([key]) => !OF_CLONE.includes(key)),
    );
    return [place, { ...entry, ...(!needed.has(place) && { optional: true }) }];
  });
  const own = { name, version, license, bin, engines, dependencies, optionalDependencies };
  return {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': own, ...Object.fromEntries(places) },
  };
}
