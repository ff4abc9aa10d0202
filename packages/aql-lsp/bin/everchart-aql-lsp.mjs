#!/usr/bin/env node
// The command `everchart-aql-lsp`. A working copy runs its TypeScript through tsx; the packed file is compiled.
import { existsSync, readFileSync } from 'node:fs';

const at = (path) => new URL(path, import.meta.url);
const isSource = existsSync(at('../src/program.ts'));
if (isSource) (await import('tsx/esm/api')).register();
const program = isSource ? '../src/program.ts' : '../dist/packages/aql-lsp/src/program.js';
const { version } = JSON.parse(readFileSync(at('../package.json'), 'utf8'));
process.exitCode = await (await import(at(program).href)).runLanguageServer(process.argv.slice(2), version);
