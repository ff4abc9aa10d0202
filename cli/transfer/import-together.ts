import type { JsonObject } from '../../openehr/base/json.js';
import type { BulkContent } from '../../change/bulk.js';
import { inParallel } from '../demo/load.js';
import type { Item, InProcessServer } from './import-commit.js';
import { noteKnown } from './import-ehr.js';
import type { ImportContext, Outcome } from './import-progress.js';
import type { ImportRecord } from './import-source.js';
import { importRecords, itemOf, MAX_BATCH_LENGTH } from './import-write.js';

/** Records of one EHR, in their order. */
export interface EhrRecords {
  readonly ehrId: string;
  readonly records: readonly ImportRecord[];
}

/** Records of one transaction: enough that its own cost no longer counts, few enough for MongoDB's advice of 1000 documents. */
const MAX_TOGETHER = 100;
/** Transactions at once: while one is written the others are validated and sent. More would wait too long for their turn. */
const MAX_TRANSACTIONS = 8;

/** Imports EHR by EHR, some of them side by side. */
export async function importEach(
  context: ImportContext,
  groups: readonly EhrRecords[],
  parallel: number,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  await inParallel(groups.length, parallel, async (index) => {
    const group = groups[index];
    if (group !== undefined) outcomes.push(...(await importRecords(context, group.ehrId, group.records)));
  });
  return outcomes;
}

/** Imports several EHRs in each transaction; an EHR that this does not do is imported by itself. */
export async function importTogether(
  context: ImportContext,
  here: InProcessServer,
  groups: readonly EhrRecords[],
  parallel: number,
): Promise<Outcome[]> {
  const tasks = tasksOf(groups);
  const outcomes: Outcome[] = [];
  await inParallel(tasks.length, Math.min(parallel, MAX_TRANSACTIONS), async (index) => {
    for (const pack of tasks[index] ?? []) {
      const done = await commitPack(context, here, pack);
      for (const { ehrId, records } of pack) {
        if (done.has(ehrId)) outcomes.push(...records.map(asImported));
        else outcomes.push(...(await importRecords(context, ehrId, records)));
      }
    }
  });
  return outcomes;
}

function asImported({ position }: ImportRecord): Outcome {
  return { position, result: 'imported' };
}

/** Tasks that may run side by side, each a list of transactions in their order: small EHRs share one, large ones need several. */
function tasksOf(groups: readonly EhrRecords[]): EhrRecords[][][] {
  const tasks: EhrRecords[][][] = [];
  const shared = cut(groups, ({ records }) => ({ count: records.length, length: lengthOf(records) }));
  for (const pack of shared) {
    const [only] = pack;
    const ownTransactions =
      pack.length === 1 && only !== undefined
        ? cut(only.records, ({ length }) => ({ count: 1, length })).map((records) => [{ ...only, records }])
        : [pack];
    tasks.push(ownTransactions);
  }
  return tasks;
}

function lengthOf(records: readonly ImportRecord[]): number {
  return records.reduce((sum, { length }) => sum + length, 0);
}

/** Neighbours in lists that each fit into a transaction; one that is larger by itself is alone. */
function cut<T>(all: readonly T[], sizeOf: (one: T) => { count: number; length: number }): T[][] {
  const lists: T[][] = [];
  let filled = { count: Infinity, length: Infinity };
  for (const one of all) {
    const own = sizeOf(one);
    filled = { count: filled.count + own.count, length: filled.length + own.length };
    if (filled.count > MAX_TOGETHER || filled.length > MAX_BATCH_LENGTH) {
      lists.push([]);
      filled = own;
    }
    lists.at(-1)?.push(one);
  }
  return lists;
}

/** Gives the EHRs of the pack whose records are all imported. */
async function commitPack(
  context: ImportContext,
  here: InProcessServer,
  pack: readonly EhrRecords[],
): Promise<ReadonlySet<string>> {
  const unknown = pack.map(({ ehrId }) => ehrId).filter((ehrId) => !context.knownEhrs.has(ehrId));
  const missing = unknown.length === 0 ? new Set<string>() : await here.missingEhrs(unknown);
  const contents: BulkContent[] = [];
  for (const group of pack) {
    const content = await contentOf(context, group, missing.has(group.ehrId));
    if (content !== null) contents.push(content);
  }
  const results = contents.length === 0 ? [] : await here.commit(contents);
  const done = contents.filter((_, index) => results[index]).map(({ ehrId }) => ehrId);
  for (const ehrId of done) noteKnown(context, ehrId);
  return new Set(done);
}

/** Null when the records are not only new COMPOSITIONs that nobody signed and no earlier revision judges, after the EHR_STATUS of a new EHR. */
async function contentOf(
  context: ImportContext,
  { ehrId, records }: EhrRecords,
  isNew: boolean,
): Promise<BulkContent | null> {
  if (context.refusedEhrs.has(ehrId)) return null;
  const status = isNew ? statusOf(records[0]) : null;
  if (isNew && status === null && context.isStatusLost(ehrId)) return null;
  const items = await itemsOf(context, status === null ? records : records.slice(1));
  if (items === null) return null;
  const contributions: Item[][] = [];
  for (let start = 0; start < items.length; start += context.batchSize)
    contributions.push(items.slice(start, start + context.batchSize));
  return { ehrId, ...(isNew && { newEhr: { status } }), contributions };
}

function statusOf(record: ImportRecord | undefined): JsonObject | null {
  return record?.content.kind === 'ehr_status' ? record.content.object : null;
}

async function itemsOf(context: ImportContext, records: readonly ImportRecord[]): Promise<Item[] | null> {
  const items: Item[] = [];
  for (const record of records) {
    const { content } = record;
    if (content.kind !== 'composition' && content.kind !== 'flat') return null;
    const item = await itemOf(context, record, content);
    if ('status' in item || item.signed !== null || item.pin !== null) return null;
    items.push(item);
  }
  return items;
}
