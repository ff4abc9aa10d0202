import mongoose from 'mongoose';
import { demoClient, loadDemoData, patientCompositions, type LoadPlan } from '../cli/demo/load.js';
import { textTable } from '../cli/output.js';
import { COLLECTION_LAYOUT } from '../models/access/layout.js';

/** Compositions that are committed between the two counts. */
const COMMITS = 20;
const PLAN: LoadPlan = { ehrs: 1, compositionsPerEhr: COMMITS, seed: 20260105, parallel: 1 };

/**
 * Counts the entries of every index, commits one COMPOSITION after another, counts again, and prints how many entries a commit
 * wrote, by collection and index; what a commit only takes away (the sealer's marks) is not in it while the sealer sleeps.
 * `url`: a server of this process, whose database is connected.
 */
export async function benchIndexEntries(url: string, print: (line: string) => void): Promise<void> {
  const client = demoClient(url);
  const [ehrId = ''] = await loadDemoData(client, PLAN, () => undefined);
  const before = await entries();
  for (const composition of patientCompositions(PLAN, 0)) await client.commitComposition(ehrId, composition);
  const after = await entries();
  const rows = [...after].flatMap(([index, count]) => {
    const written = (count - (before.get(index) ?? 0)) / COMMITS;
    return written === 0 ? [] : [[...index.split(' '), written.toFixed(2)]];
  });
  const total = rows.reduce((sum, row) => sum + Number(row.at(-1)), 0);
  print(textTable(['collection', 'index', 'entries of a commit'], [...rows, ['all', '', total.toFixed(2)]]));
}

/** How many entries each index has, by `<collection> <index>`; the engine counts them when it validates a collection. */
async function entries(): Promise<Map<string, number>> {
  const { db } = mongoose.connection;
  const counts = new Map<string, number>();
  for (const { name } of COLLECTION_LAYOUT) {
    const { keysPerIndex } = (await db?.command({ validate: name })) as {
      keysPerIndex?: Readonly<Record<string, number>>;
    };
    for (const [index, count] of Object.entries(keysPerIndex ?? {})) counts.set(`${name} ${index}`, count);
  }
  return counts;
}
