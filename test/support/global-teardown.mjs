/** Stops the database server that the setup started. */
export default async function tearDownDatabase() {
  await globalThis.everchartDatabase?.stop();
}
