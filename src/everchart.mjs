#!/usr/bin/env node
// The command `everchart`. After a build cli.js lies beside this file; in a working copy tsx compiles cli.ts.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const isBuilt = existsSync(fileURLToPath(new URL('../cli/cli.js', import.meta.url)));
if (!isBuilt) (await import('tsx/esm/api')).register();
const load = (name) => import(new URL(`../${name}.${isBuilt ? 'js' : 'ts'}`, import.meta.url).href);
try {
  // Here and nowhere else: tests and measurements call the parts below and never see a developer's settings.
  (await load('src/settings/env-file')).readEnvFile();
  process.exitCode = await (await load('cli/cli')).runCli(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
