#!/usr/bin/env node
// The command `everchart`. After a build cli.js lies beside this file; in a working copy tsx compiles cli.ts.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const built = new URL('./cli.js', import.meta.url);
const isBuilt = existsSync(fileURLToPath(built));
if (!isBuilt) (await import('tsx/esm/api')).register();
const { runCli } = await import(isBuilt ? built.href : new URL('./cli.ts', import.meta.url).href);
process.exitCode = await runCli(process.argv.slice(2));
