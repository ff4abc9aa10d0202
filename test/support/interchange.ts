import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import { sealBaseline } from '../../maintenance/baseline.js';
import { exportInterchange, type ExportScope } from '../../maintenance/interchange/export.js';
import {
  InterchangeImport,
  type ImportHow,
  type LineOutcome,
  type PlacedLine,
} from '../../maintenance/interchange/import.js';
import { readLine } from '../../maintenance/interchange/line.js';
import { beginRestore, restoringHere } from '../../maintenance/interchange/restore-here.js';
import { claimStorage } from '../../models/settings.js';
import { testSettings } from './settings.js';

/** The lines of an export. `meanwhile`: done each time that something was written. */
export async function exported(
  scope: ExportScope = { ehrIds: null, since: null },
  held?: number,
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<string[]> {
  let text = '';
  const write = (piece: string): Promise<void> => {
    text += piece;
    return meanwhile();
  };
  await exportInterchange(scope, { write }, held);
  return text.trimEnd().split('\n');
}

/** Imports lines; gives what became of each, in their order. */
export async function imported(
  lines: readonly string[],
  {
    batch = randomUUID(),
    accessMode = 'off',
    ...how
  }: Partial<ImportHow> & { readonly batch?: string; readonly accessMode?: string } = {},
): Promise<LineOutcome[]> {
  const names = await beginRestore(batch);
  const { leafIndex } = testSettings().aql;
  const run = new InterchangeImport(
    restoringHere({ batch, leafIndex, accessMode }, names),
    { parallel: 4, ...how },
    new Set(),
  );
  const placed: PlacedLine[] = lines.map((text, index) => ({
    position: index + 1,
    length: text.length,
    line: readLine(text),
  }));
  const outcomes = await run.restore(
    placed.filter(({ line }) => line.kind !== 'header' && line.kind !== 'end'),
  );
  return outcomes.sort((one, other) => one.position - other.position);
}

/** What was refused, each reason once. */
export function refusals(outcomes: readonly LineOutcome[]): string[] {
  return [...new Set(outcomes.flatMap((one) => (one.result === 'failed' ? one.error.message : [])))];
}

/** Takes everything out of the database, and begins it anew; `systemId`: of another server. */
export async function emptied(systemId?: string): Promise<void> {
  for (const { name } of await mongoose.connection.listCollections()) {
    // This process has cached that its shapes are there.
    if (name !== 'aql_shapes') await mongoose.connection.collection(name).deleteMany({});
  }
  const settings = testSettings();
  await claimStorage(systemId ?? settings.systemId, settings.aql.leafIndex);
  await sealBaseline();
}
