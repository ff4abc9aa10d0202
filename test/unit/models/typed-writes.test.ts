import { describe, expect, it } from '@jest/globals';
import { holdEhr, releaseSubject } from '../../../models/ehr.js';
import type { InsertWrite, RemoveWrite, UpdateWrite, Write } from '../../../models/access/write.js';

/*
 * Each `@ts-expect-error` is a proof that `npx tsc` checks: were the line below it correct, the comment would be the
 * error.
 */
describe('a write is typed by its collection', () => {
  it('refuses fields that the documents of the collection do not have', () => {
    const filter: UpdateWrite<'versioned_objects'> = {
      collection: 'versioned_objects',
      // @ts-expect-error a misspelt field of a filter
      filter: { _id: 'a', lastest_version_uid: 'b' },
      update: { $set: { deleted: true } },
      matching: 'one',
    };
    const update: UpdateWrite<'versioned_objects'> = {
      collection: 'versioned_objects',
      filter: { _id: 'a' },
      // @ts-expect-error a misspelt field of an update
      update: { $set: { delted: true } },
      matching: 'one',
    };
    // @ts-expect-error a misspelt field of a removal
    const removal: RemoveWrite<'aql'> = { collection: 'aql', remove: { ehr_id: 'a' } };
    // @ts-expect-error a misspelt field of a new document
    const insert: InsertWrite<'item_tags'>['insert'] = { owner: 'a' };
    expect([filter, update, removal, insert]).toHaveLength(4);
  });

  it('refuses a field of another collection, a value of another type, and the removal of a field that must stay', () => {
    // @ts-expect-error `latest` is a field of the derived documents
    const other: Write = { collection: 'versions', remove: { latest: true } };
    // @ts-expect-error a text where the field is a number
    const type: Write<'ehrs'> = { collection: 'ehrs', remove: { write_seq: '1' } };
    const ehr = { collection: 'ehrs', filter: { _id: 'a' }, matching: 'one' } as const;
    // @ts-expect-error every EHR has a state
    const unset: UpdateWrite<'ehrs'> = { ...ehr, update: { $unset: { state: 1 } } };
    // @ts-expect-error only numbers are counted
    const count: UpdateWrite<'ehrs'> = { ...ehr, update: { $inc: { state: 1 } } };
    // @ts-expect-error the id of a document never changes
    const id: UpdateWrite<'ehrs'> = { ...ehr, update: { $set: { _id: 'b' } } };
    expect([other, type, unset, count, id]).toHaveLength(5);
  });

  it('gives writes that match only what they were planned on', () => {
    const expected = { ehrId: 'a', isQueryable: true, needsModifiable: true };
    expect(holdEhr(expected, { directoryId: null })).toEqual({
      collection: 'ehrs',
      filter: { _id: 'a', state: 'active', merging: null, is_queryable: true, is_modifiable: true },
      update: { $inc: { write_seq: 1 }, $unset: { directory_id: 1 } },
      matching: 'one',
    });
    expect(releaseSubject('b', { namespace: 'n', id: 'i' }).filter).toEqual({ _id: 'b', state: 'merged' });
  });
});
