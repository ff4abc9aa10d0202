import { rm } from 'node:fs/promises';

/** Stops the database servers that the setup started, and removes what the run left in its temporary folder. */
export default async function tearDownDatabase() {
  for (const local of globalThis.everchartDatabases ?? []) await local.stop();
  for (const folder of [globalThis.everchartFolder, globalThis.everchartCompiled])
    await rm(folder, { recursive: true, force: true });
}
