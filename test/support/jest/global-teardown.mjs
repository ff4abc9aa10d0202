import { rm } from 'node:fs/promises';

/** Stops the database server that the setup started, and removes what the run left in its temporary folder. */
export default async function tearDownDatabase() {
  await globalThis.everchartDatabase?.stop();
  for (const folder of [globalThis.everchartFolder, globalThis.everchartCompiled])
    await rm(folder, { recursive: true, force: true });
}
