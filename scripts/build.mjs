// `npm run build`: compiles the product and its workspaces to dist/ and copies the files that they read beside their code.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const BESIDE_CODE = [
  'src/everchart.mjs',
  'workers/thread.mjs',
  'openehr/rm/terminology/openehr-terminology.json',
  'cli/demo/data',
  'openehr/template/codegen/runtime',
  'routes/http/openapi/data',
];

process.chdir(root);
rmSync('dist', { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
for (const name of ['rm', 'client', 'aql']) {
  rmSync(`packages/${name}/dist`, { recursive: true, force: true });
  execFileSync(process.execPath, [tsc, '-p', `packages/${name}/tsconfig.json`], { stdio: 'inherit' });
}
execFileSync(process.execPath, ['scripts/console.mjs'], { stdio: 'inherit' });
// Absent where the console cannot be built: the server then says so.
if (existsSync('console/dist')) BESIDE_CODE.push('console/dist/index.html', 'console/dist/assets');
for (const path of BESIDE_CODE) cpSync(path, `dist/${path}`, { recursive: true });
