import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { runApps } from './apps.js';
import { OPT, pagesOfPackages } from './pages.js';
import { startRegistry } from './registry.js';
import { runCommands, runPage, type Place } from './shell.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** In a folder where nothing of everchart is, with a registry that has what was packed: the demo, and what the packages show. */
export async function runPacked(packed: string, folder: string): Promise<void> {
  const registry = await startRegistry(packed, join(folder, 'registry'));
  try {
    const project = join(folder, 'stranger');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    // The templates that the pages name.
    symlinkSync(join(root, 'test'), join(project, 'test'));
    const place = { repository: root, folder: project, server: 'npx everchart start', env: registry.env };
    tellDemo(place);
    runCommands(['npx everchart start', `npx everchart template upload ${OPT}`], place);
    for (const page of pagesOfPackages()) runPage(page, place);
    runApps(registry.env);
  } finally {
    await registry.stop();
  }
}

/** `npx everchart demo` brings the server, and shows what it can do. */
function tellDemo(place: Place): void {
  const start = performance.now();
  const said = runCommands(['npx everchart demo'], place);
  if (!said.includes('compositions')) throw new Error(`the demo said ${said}`);
  const seconds = (performance.now() - start) / 1_000;
  process.stdout.write(`npx everchart demo, from an empty cache: ${seconds.toFixed(0)} s\n`);
}
