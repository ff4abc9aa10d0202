// In a clone the packages are their sources; what is packed is compiled. npm takes package.json as it is, so a package is packed
// from a copy whose `exports` are those of its `publishConfig`, without what only the clone needs.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shrinkwrap } from './shrinkwrap.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Of package.json what only a clone needs. */
const OF_CLONE = ['private', 'workspaces', 'scripts', 'devDependencies', 'overrides', 'allowScripts'];
/** Whoever publishes says where the sources are: npm compares it with the workflow that signs. */
const REPOSITORY = process.env.EVERCHART_REPOSITORY;

/**
 * Packs the server (null) or a package, which are built, into `destination`.
 * @param {string | null} name of the folder of the package
 * @param {string} destination
 * @returns {{ filename: string, size: number, unpackedSize: number, files: readonly unknown[] }}
 */
export function packPackage(name, destination) {
  const folder = name === null ? '' : `packages/${name}/`;
  const copy = mkdtempSync(join(tmpdir(), 'everchart-pack-'));
  try {
    const manifest = published(JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')), folder);
    const files = [...manifest.files.filter((file) => !file.startsWith('!')), 'README.md'];
    for (const file of files.filter((file) => existsSync(join(root, folder, file))))
      cpSync(join(root, folder, file), join(copy, file), { recursive: true });
    // npm takes a LICENSE without being told, and no NOTICE.
    for (const file of ['LICENSE', 'NOTICE']) cpSync(join(root, file), join(copy, file));
    manifest.files = [...new Set([...manifest.files, 'NOTICE'])];
    if (name === null) {
      writeFileSync(join(copy, 'npm-shrinkwrap.json'), JSON.stringify(shrinkwrap(manifest), null, 2));
      manifest.files.push('npm-shrinkwrap.json');
    }
    writeFileSync(join(copy, 'package.json'), JSON.stringify(manifest, null, 2));
    const made = execFileSync(
      'npm',
      ['pack', '--ignore-scripts', '--json', '--pack-destination', destination],
      {
        cwd: copy,
      },
    );
    const [packed] = JSON.parse(made.toString());
    return packed;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** The manifest that is published: the clone's says `private`, so that nobody publishes sources by mistake. */
function published(manifest, folder) {
  const rest = Object.fromEntries(Object.entries(manifest).filter(([key]) => !OF_CLONE.includes(key)));
  const { exports } = manifest.publishConfig ?? {};
  return {
    ...rest,
    ...(exports && { exports }),
    ...(REPOSITORY && {
      repository: {
        type: 'git',
        url: `git+${REPOSITORY}.git`,
        ...(folder && { directory: folder.slice(0, -1) }),
      },
    }),
    keywords: ['openehr', 'ehr', 'aql', 'clinical-data-repository'],
    publishConfig: { access: 'public', ...(REPOSITORY && { provenance: true }) },
  };
}
