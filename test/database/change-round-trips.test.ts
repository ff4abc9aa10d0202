import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { createComposition, updateComposition } from '../../change/composition.js';
import { updateEhrStatus } from '../../change/ehr-status.js';
import { connectMongoose } from '../../database/connect.js';
import { createCollections } from '../../database/indexes.js';
import { COLLECTION_LAYOUT } from '../../models/layout.js';
import type { VersionDoc } from '../../models/version.js';
import { aContext, aMetadata, reader, storedEhr, storedTemplate } from '../support/change.js';
import { testDatabaseName, testDatabaseUri } from '../support/database.js';

const context = aContext();
let ehrId = '';
let first: VersionDoc;

beforeAll(async () => {
  const uri = new URL(testDatabaseUri());
  uri.searchParams.set('monitorCommands', 'true');
  await connectMongoose(uri.href, testDatabaseName());
  await mongoose.connection.dropDatabase();
  await createCollections(COLLECTION_LAYOUT);
  await storedTemplate();
  ehrId = await storedEhr(context);
  first = await create();
});
afterAll(async () => {
  await mongoose.connection.dropDatabase();
  await mongoose.disconnect();
});

const create = (): Promise<VersionDoc> =>
  createComposition(context, { ehrId, metadata: aMetadata() }, reader());

async function commandsOf(work: () => Promise<unknown>): Promise<string[]> {
  const commands: string[] = [];
  const note = (event: { commandName: string }): void => void commands.push(event.commandName);
  const client = mongoose.connection.getClient();
  client.on('commandStarted', note);
  await work();
  client.off('commandStarted', note);
  return commands;
}

/** MongoDB before 8.0 has no `bulkWrite`: there each collection costs one command. */
async function hasBulkWrite(): Promise<boolean> {
  const hello = await mongoose.connection.getClient().db('admin').command({ hello: 1 });
  return Number(hello['maxWireVersion']) >= 25;
}

describe('the commands of a commit', () => {
  it('are one that writes and one that commits, after the reads that cannot be guessed', async () => {
    const writes = (await hasBulkWrite())
      ? { create: ['bulkWrite'], update: ['bulkWrite'] }
      : {
          create: ['update', 'insert', 'insert', 'insert', 'insert'],
          update: ['update', 'insert', 'update', 'update', 'insert', 'insert'],
        };
    // The template's revision.
    expect(await commandsOf(create)).toEqual(['find', ...writes.create, 'commitTransaction']);
    const change = { ehrId, objectId: first.object_id, ifMatch: first._id, metadata: aMetadata('251') };
    // The container, then the template's revision.
    expect(await commandsOf(() => updateComposition(context, change, reader()))).toEqual([
      'find',
      'find',
      ...writes.update,
      'commitTransaction',
    ]);
  });

  it('for a new EHR are two', async () => {
    const commands = await commandsOf(() => storedEhr(context));
    expect(commands.at(-1)).toBe('commitTransaction');
    if (await hasBulkWrite()) expect(commands).toEqual(['bulkWrite', 'commitTransaction']);
  });

  it('do not grow with the number of versions', async () => {
    let version = await create();
    const costs: number[] = [];
    for (let number = 2; number <= 12; number += 1) {
      const place = { ehrId, objectId: version.object_id, ifMatch: version._id };
      const commands = await commandsOf(async () => {
        version = await updateComposition(context, { ...place, metadata: aMetadata('251') }, reader());
      });
      costs.push(commands.length);
    }
    expect(new Set(costs).size).toBe(1);
  });

  it('for a refused update are reads only', async () => {
    const change = { ehrId, objectId: first.object_id, ifMatch: first._id, metadata: aMetadata('251') };
    const commands = await commandsOf(async () => {
      await expect(updateComposition(context, change, reader())).rejects.toMatchObject({
        code: 'precondition-failed',
      });
    });
    expect(new Set(commands)).toEqual(new Set(['find']));
  });

  it('for an EHR_STATUS that turns is_queryable include one for the derived documents', async () => {
    const body = { _type: 'EHR_STATUS', archetype_node_id: 'x.v1', is_queryable: false };
    const commands = await commandsOf(() =>
      updateEhrStatus(context, { ehrId, ifMatch: null, metadata: aMetadata('251') }, body),
    );
    expect(commands.at(-1)).toBe('commitTransaction');
    if (await hasBulkWrite())
      expect(commands).toEqual(['find', 'find', 'bulkWrite', 'bulkWrite', 'commitTransaction']);
  });
});
