import type mongoose from 'mongoose';
import { type ClientSession } from 'mongoose';
import { inSteps } from './access/in-steps.js';
import { COLLECTIONS } from './access/layout.js';
import { documents } from './access/documents.js';

/** Shapes that this process saw in the collection; none is ever removed. */
const known = new Set<string>();
const MAX_KNOWN = 100_000;

/**
 * Saves the shapes that queries must know of **before** the commit whose documents have them: one too many does
 * no harm, a missing one loses rows. Almost always all are known and nothing is sent.
 */
export async function saveShapes(shapes: readonly string[]): Promise<void> {
  const unknown = [...new Set(shapes)].filter((shape) => !known.has(shape));
  if (unknown.length === 0) return;
  await upsertShapes(unknown);
  if (known.size > MAX_KNOWN) known.clear();
  for (const shape of unknown) known.add(shape);
}

/** As `saveShapes`, but inside a transaction that is open already (merge). */
export async function saveShapesWith(session: ClientSession, shapes: readonly string[]): Promise<void> {
  const unknown = [...new Set(shapes)].filter((shape) => !known.has(shape));
  if (unknown.length > 0) await upsertShapes(unknown, session);
}

async function upsertShapes(shapes: readonly string[], session?: ClientSession): Promise<void> {
  const operations = shapes.map((shape) => ({
    updateOne: { filter: { _id: shape }, update: { $setOnInsert: { _id: shape } }, upsert: true },
  }));
  await shapeDocuments().bulkWrite(operations, { ordered: false, ...(session !== undefined && { session }) });
}

/** Those of these shapes that queries do not know. */
export async function missingShapes(shapes: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const part of inSteps(shapes)) {
    const found: ReadonlySet<unknown> = new Set(
      await shapeDocuments().distinct('_id', { _id: { $in: part } }),
    );
    missing.push(...part.filter((shape) => !found.has(shape)));
  }
  return missing;
}

function shapeDocuments(): mongoose.mongo.Collection<{ _id: string }> {
  return documents<{ _id: string }>(COLLECTIONS.aqlShapes);
}
