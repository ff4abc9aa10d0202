import mongoose from 'mongoose';
import type { ShapeCatalogue } from '../aql/index/shapes.js';
import { shapeCatalogue } from '../aql/index/shapes.js';
import { runPipelineRows, shapeIds } from '../models/cross-collection/run-pipeline.js';
import { COLLECTIONS } from '../models/access/layout.js';
import { textTable } from '../cli/output.js';
import { documentsOf } from '../test/support/aql/load-reference.js';
import { onTemporaryDatabase, planOf, SHAPES, usedIndex } from './aql.js';
import { measure, milliseconds } from './measure.js';
import { vitalSigns } from './vital-signs.js';

const COMPOSITIONS_PER_EHR = 20;
/** EHRs that are made up at a time. */
const SLICE = 250;
const RUNS = 11;
const LIMITS = { timeoutMs: 120_000 };
const COLUMNS = ['shape', 'first ms', 'then ms', 'ratio', 'first documents', 'then documents', 'index'];

interface Figure {
  readonly medianMs: number;
  readonly index: string;
  readonly documents: string;
}

/** How the time of each kind of query grows when the data grows from `few` to `many` EHRs with 20 compositions each. */
export async function benchAqlGrowth(
  few: number,
  many: number,
  print: (line: string) => void,
): Promise<void> {
  await onTemporaryDatabase(print, async () => {
    await insertEhrs(0, few);
    const before = await figures();
    await insertEhrs(few, many);
    const after = await figures();
    print(`${few * COMPOSITIONS_PER_EHR}, then ${many * COMPOSITIONS_PER_EHR} compositions`);
    const rows = SHAPES.map(({ name }, at) => rowOf(name, before[at], after[at]));
    print(textTable(COLUMNS, rows));
  });
}

function rowOf(name: string, before: Figure | undefined, after: Figure | undefined): string[] {
  if (before === undefined || after === undefined) throw new Error(`${name} was not measured`);
  const times = [before.medianMs, after.medianMs].map(milliseconds);
  const ratio = (after.medianMs / before.medianMs).toFixed(2);
  const index = before.index === after.index ? after.index : `${before.index}, then ${after.index}`;
  return [name, ...times, ratio, before.documents, after.documents, index];
}

async function figures(): Promise<Figure[]> {
  const catalogue = shapeCatalogue(await shapeIds(null));
  const found: Figure[] = [];
  for (const { name, aql } of SHAPES) found.push(await figureOf(name, aql, catalogue));
  return found;
}

async function figureOf(name: string, aql: string, catalogue: ShapeCatalogue): Promise<Figure> {
  const { plan } = planOf(aql, catalogue);
  const { medianMs } = await measure(name, RUNS, () => runPipelineRows(plan, LIMITS));
  return { medianMs, ...(await usedIndex(plan)) };
}

/** Inserts the derived documents of some EHRs: what queries of the latest versions read. */
async function insertEhrs(from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += SLICE) {
    const ehrs = Math.min(SLICE, to - first);
    const plan = { ehrs, firstEhr: first, compositionsPerEhr: COMPOSITIONS_PER_EHR, seed: 1 + first };
    const documents = documentsOf(vitalSigns(plan));
    for (const name of [COLLECTIONS.aql, COLLECTIONS.ehrs])
      await mongoose.connection.collection(name).insertMany(documents.get(name) ?? []);
    const shapes = (documents.get(COLLECTIONS.aqlShapes) ?? []) as { _id: string }[];
    const updates = shapes.map(({ _id }) => ({
      updateOne: { filter: { _id }, update: { $setOnInsert: { _id } }, upsert: true },
    }));
    await mongoose.connection.collection<{ _id: string }>(COLLECTIONS.aqlShapes).bulkWrite(updates);
  }
}
