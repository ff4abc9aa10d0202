import mongoose from 'mongoose';

/** Collections that a running server writes by itself: what it did, that it runs, and what it sealed. */
const OF_THE_SERVER: readonly string[] = ['aql_shapes', 'audit', 'settings', 'seal_blocks'];

/** The ids of all that is stored, as one text: a server that runs beside the test seals what it has not yet sealed. */
export async function recordIds(): Promise<string> {
  const { db } = mongoose.connection;
  if (db === undefined) throw new Error('not connected');
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  const names = collections.map(({ name }) => name).filter((name) => !OF_THE_SERVER.includes(name));
  const ids = names.sort().map(async (name) => {
    const found = await db
      .collection(name)
      .find({}, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .toArray();
    return [name, found.map(({ _id }) => _id)] as const;
  });
  return JSON.stringify(await Promise.all(ids));
}
