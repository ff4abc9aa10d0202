import { COLLECTIONS, type CollectionName } from '../access/layout.js';
import { archiveDoc, MOVED_IDS, type ArchiveDoc, type MovedIds } from '../merge/archive.js';
import { documents } from '../access/documents.js';

/** Documents of one kind that move with an EHR, in the order in which they are archived. */
interface Source {
  readonly of: MovedIds['of'];
  readonly collection: CollectionName;
  readonly filter: object;
  readonly sort: Readonly<Record<string, 1>>;
}

/**
 * Archives the ids of all that moves with an EHR, but for some, outside of transactions and without holding them all. Nobody
 * may write to the EHR meanwhile; `removeArchive` takes it back.
 */
export async function archiveMovedIds(
  mergeId: string,
  ehrId: string,
  except: ReadonlySet<string>,
): Promise<void> {
  const { contributions, versionedObjects, itemTags } = COLLECTIONS;
  const sources: Source[] = [
    {
      of: 'contribution',
      collection: contributions,
      filter: { ehr_id: ehrId },
      sort: { ehr_id: 1, time_committed: 1 },
    },
    {
      of: 'composition',
      collection: versionedObjects,
      filter: { ehr_id: ehrId, type: 'COMPOSITION' },
      sort: { ehr_id: 1, type: 1, time_created: 1 },
    },
    { of: 'tag', collection: itemTags, filter: { owner_id: ehrId }, sort: { owner_id: 1, target: 1 } },
  ];
  for (const source of sources) await archiveIds(mergeId, source, except);
}

async function archiveIds(
  mergeId: string,
  { of, collection, filter, sort }: Source,
  except: ReadonlySet<string>,
): Promise<void> {
  const archive = documents<ArchiveDoc>(COLLECTIONS.mergeArchive);
  let ids: string[] = [];
  let parts = 0;
  const flush = async (): Promise<void> => {
    if (ids.length === 0) return;
    const doc = archiveDoc(mergeId, 'moved', `${of}:${String(parts).padStart(6, '0')}`, { of, ids });
    await archive.insertOne(doc);
    parts += 1;
    ids = [];
  };
  const found = documents<{ _id: string }>(collection).find<{ _id: string }>(filter, {
    projection: { _id: 1 },
    sort,
  });
  for await (const { _id } of found) {
    if (except.has(_id)) continue;
    ids.push(_id);
    if (ids.length === MOVED_IDS) await flush();
  }
  await flush();
}
