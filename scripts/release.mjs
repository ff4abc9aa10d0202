// `npm run release [folder]`: builds, packs the server and the packages for those who build on it into release/, with the bill of
// materials of the server and the notes of the version, and checks what it packed: sizes, and whether every tool can import it.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGES } from './beside-code.mjs';
import { packPackage } from './pack-package.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** How large what is unpacked may be, in KiB: a guard against files that slip in. */
const LIMITS = {
  everchart: 16_500,
  rm: 300,
  client: 300,
  aql: 1_200,
  codegen: 2_500,
  'aql-lsp': 3_000,
  'embedded-mongodb': 500,
};

/** The changes of this version: what CHANGELOG.md has under its number, else under Unreleased. Throws where it has neither. */
function notes(version) {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^(?=## )/m);
  const own = (name) => sections.find((text) => text.startsWith(`## ${name}\n`));
  const found = own(version) ?? own('Unreleased');
  if (found === undefined) throw new Error(`CHANGELOG.md says nothing of ${version}`);
  return found;
}

function tool(name, ...args) {
  execFileSync(process.execPath, ['--import', 'tsx', 'scripts/tools.ts', name, ...args], {
    cwd: root,
    stdio: 'inherit',
  });
}

function pack(name, folder) {
  const { filename, size, unpackedSize, files } = packPackage(name, folder);
  const [kib, limit] = [Math.round(unpackedSize / 1024), LIMITS[name ?? 'everchart']];
  console.log(`${filename}: ${files.length} files, ${Math.round(size / 1024)} KiB, unpacked ${kib} KiB`);
  if (kib > limit) throw new Error(`${filename} unpacks to ${kib} KiB, more than ${limit}`);
  const file = join(folder, filename);
  tool('publint', 'run', file, '--strict');
  // Only for imports by ESM: everchart has no CommonJS.
  if (name !== null) tool('attw', file, '--profile', 'esm-only', '--quiet');
}

/** Builds, packs and checks everything into a folder. */
export function release(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
  for (const name of [null, ...PACKAGES]) pack(name, folder);
  cpSync(join(root, 'dist/sbom.cdx.json'), join(folder, 'sbom.cdx.json'));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'NOTES.md'), notes(version));
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  release(resolve(process.argv[2] ?? join(root, 'release')));
