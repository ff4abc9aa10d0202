// `npm run build`: compiles the product to dist/ and copies the files that it reads beside its code.
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
/** The demo loads real templates and compositions. */
const DEMO = ['ehrbase_blood_pressure_simple.de.v0', 'Corona_Anamnese', 'ehrbase_multi_occurrence.de.v1'];
/** The OpenAPI document shows them. */
const EXAMPLES = [
  'opt/minimal_evaluation.en.v1.opt',
  'composition/minimal_evaluation.en.v1.json',
  'flat/minimal_evaluation.en.v1.json',
];
const FILES = [
  'src/everchart.mjs',
  'workers/thread.mjs',
  'openehr/rm/terminology/openehr-terminology.json',
  'test/fixtures/openehr/NOTICE',
  ...EXAMPLES.map((name) => `test/fixtures/openehr/${name}`),
  ...DEMO.flatMap((name) => [
    `test/fixtures/openehr/opt/${name}.opt`,
    `test/fixtures/openehr/composition/${name}.json`,
  ]),
];

process.chdir(root);
rmSync('dist', { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
for (const file of FILES) cpSync(file, `dist/${file}`);
