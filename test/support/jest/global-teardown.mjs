import { rm } from 'node:fs/promises';

/** Stops the database server that the setup started, and removes what the run left in its temporary folder. */
export default async function tearDownDatabase() {
  await globalThis.everchartDatabase?.stop();
  await rm(globalThis.everchartFolder, { recursive: true, force: true });
}
