// `npm run build`: compiles the product and its workspaces to dist/ and copies the files that they read beside their code.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { BESIDE_CODE } from './beside-code.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

process.chdir(root);
rmSync('dist', { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
for (const name of ['rm', 'client', 'aql']) {
  rmSync(`packages/${name}/dist`, { recursive: true, force: true });
  execFileSync(process.execPath, [tsc, '-p', `packages/${name}/tsconfig.json`], { stdio: 'inherit' });
}
execFileSync(process.execPath, ['scripts/console.mjs'], { stdio: 'inherit' });
// Absent where the console cannot be built: the server then says so.
const pages = existsSync('console/dist') ? ['console/dist/index.html', 'console/dist/assets'] : [];
for (const path of [...BESIDE_CODE, ...pages]) cpSync(path, `dist/${path}`, { recursive: true });
execFileSync(process.execPath, ['scripts/sbom.mjs', 'dist/sbom.cdx.json'], { stdio: 'inherit' });
