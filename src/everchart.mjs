#!/usr/bin/env node
// The command `everchart`. A working copy runs its TypeScript through tsx; dist/ and the packed file are compiled.
import { existsSync } from 'node:fs';

const at = (path) => new URL(path, import.meta.url);
// In dist/ the compiled rooms lie beside this folder, in the packed file below dist/.
const root = [at('../'), at('../dist/')].find((folder) => existsSync(new URL('cli/cli.js', folder)));
const isSource = existsSync(at('../cli/cli.ts'));
if (!isSource && root === undefined)
  throw new Error('everchart was packed without a build: see CONTRIBUTING.md');
if (isSource) (await import('tsx/esm/api')).register();
const load = (name) => import(isSource ? at(`../${name}.ts`).href : new URL(`${name}.js`, root).href);
try {
  // Here and nowhere else: tests and measurements call the parts below and never see a developer's settings.
  (await load('src/settings/env-file')).readEnvFile();
  process.exitCode = await (await load('cli/cli')).runCli(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
