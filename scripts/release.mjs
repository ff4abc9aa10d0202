// `npm run release`: builds and packs the server and the packages for those who build on it into release/, with the bill of
// materials of the server.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packPackage } from './pack-package.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const release = fileURLToPath(new URL('../release', import.meta.url));

rmSync(release, { recursive: true, force: true });
mkdirSync(release);
execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
execFileSync('npm', ['pack', '--pack-destination', release], { cwd: root, stdio: 'inherit' });
cpSync(`${root}/dist/sbom.cdx.json`, `${release}/sbom.cdx.json`);
for (const name of ['rm', 'client', 'aql']) console.log(packPackage(name, release).filename);
