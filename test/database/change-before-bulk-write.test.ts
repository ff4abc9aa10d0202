import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { requireObjectVersionId } from '../../openehr/base/object-version-id.js';
import {
  createComposition,
  deleteComposition,
  updateComposition,
} from '../../change/composition/composition.js';
import type { VersionDoc } from '../../models/version.js';
import { aContext, aMetadata, reader, storedEhr, storedTemplate } from '../support/change.js';
import { useDatabase } from '../support/database.js';
import { dump } from '../support/resources.js';

/** Wire version of MongoDB 7.0. */
const OLD_WIRE_VERSION = 21;

useDatabase();
const context = aContext();
let ehrId = '';
beforeAll(async () => {
  const client = mongoose.connection.getClient();
  const database = client.db.bind(client);
  Object.assign(client, {
    db: (name: string) =>
      name === 'admin'
        ? { command: () => Promise.resolve({ maxWireVersion: OLD_WIRE_VERSION }) }
        : database(name),
    bulkWrite: () => Promise.reject(new Error('bulkWrite is not known to this server')),
  });
  await storedTemplate();
  ehrId = await storedEhr(context);
});

const create = (): Promise<VersionDoc> =>
  createComposition(context, { ehrId, metadata: aMetadata() }, reader());
const update = (version: VersionDoc): Promise<VersionDoc> =>
  updateComposition(
    context,
    { ehrId, versionedObjectUid: version.object_id, ifMatch: version._id, metadata: aMetadata('251') },
    reader(),
  );

describe('on a server without the bulkWrite command', () => {
  it('commits creations, updates and deletions collection by collection', async () => {
    const first = await create();
    const second = await update(first);
    const versionId = requireObjectVersionId(second._id);
    const deletion = await deleteComposition(context, {
      ehrId,
      metadata: aMetadata('523', '523'),
      versionId,
      versionUid: second._id,
    });
    expect(deletion.version).toBe(3);
    const latest = await mongoose.connection
      .collection('aql')
      .countDocuments({ vo: first.object_id, latest: true });
    expect(latest).toBe(0);
  });

  it('is as exact: of 32 parallel updates one succeeds', async () => {
    const first = await create();
    const outcomes = await Promise.allSettled(Array.from({ length: 32 }, () => update(first)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const codes = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [(outcome.reason as { code: string }).code] : [],
    );
    expect(new Set(codes)).toEqual(new Set(['precondition-failed']));
  });

  it('finds ids in use and leaves nothing behind', async () => {
    const taken = await create();
    const before = await dump();
    const again = createComposition(context, { ehrId, metadata: aMetadata() }, async () => ({
      ...(await reader()()),
      uid: { _type: 'OBJECT_VERSION_ID', value: taken._id },
    }));
    await expect(again).rejects.toMatchObject({ code: 'precondition-failed' });
    expect(await dump()).toBe(before);
  });
});
