import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { createComposition, updateComposition } from '../../change/composition/composition.js';
import { updateEhrStatus } from '../../change/ehr-status.js';
import { inOneState } from '../../change/commit/ehr-access.js';
import { connectMongoose } from '../../database/connect.js';
import { createCollections } from '../../database/indexes.js';
import { DatabaseAway } from '../../database/mongo-error.js';
import { COLLECTION_LAYOUT } from '../../models/access/layout.js';
import { ehrWithStatusUid } from '../../models/cross-collection/ehr-with-status.js';
import { latestVersion, versionAtTime, versionById, type VersionDoc } from '../../models/version.js';
import {
  containerOf,
  directoryAtTime,
  ehrStatusContainer,
  liveDirectory,
} from '../../models/versioned-object.js';
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

/** Keys and documents that MongoDB looks at for the finds of some work. */
async function examinedBy(work: () => Promise<unknown>): Promise<number[]> {
  const finds: { command: Record<string, unknown>; databaseName: string }[] = [];
  const client = mongoose.connection.getClient();
  const note = (event: { commandName: string; command: object; databaseName: string }): void => {
    if (event.commandName !== 'find') return;
    finds.push({ command: { ...event.command }, databaseName: event.databaseName });
  };
  client.on('commandStarted', note);
  await work();
  client.off('commandStarted', note);
  const examined: number[] = [];
  for (const { command, databaseName } of finds) {
    const { find, filter, sort, limit } = command;
    const explain = {
      find,
      filter,
      ...(sort !== undefined && { sort }),
      ...(limit !== undefined && { limit }),
    };
    const { executionStats: stats } = await client
      .db(databaseName)
      .command({ explain, verbosity: 'executionStats' });
    examined.push(Math.max(Number(stats.totalKeysExamined), Number(stats.totalDocsExamined)));
  }
  return examined;
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
    const change = {
      ehrId,
      versionedObjectUid: first.object_id,
      ifMatch: first._id,
      metadata: aMetadata('251'),
    };
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
      const place = { ehrId, versionedObjectUid: version.object_id, ifMatch: version._id };
      const commands = await commandsOf(async () => {
        version = await updateComposition(context, { ...place, metadata: aMetadata('251') }, reader());
      });
      costs.push(commands.length);
    }
    expect(new Set(costs).size).toBe(1);
  });

  it('for a refused update are reads only', async () => {
    const change = {
      ehrId,
      versionedObjectUid: first.object_id,
      ifMatch: first._id,
      metadata: aMetadata('251'),
    };
    const commands = await commandsOf(async () => {
      await expect(updateComposition(context, change, reader())).rejects.toMatchObject({
        code: 'precondition-failed',
      });
    });
    expect(new Set(commands)).toEqual(new Set(['find']));
  });

  it('for an EHR_STATUS that turns is_queryable include one for the derived documents', async () => {
    const subject = { _type: 'PARTY_SELF' };
    const flags = { is_queryable: false, is_modifiable: true };
    const body = { _type: 'EHR_STATUS', archetype_node_id: 'x.v1', subject, ...flags };
    const commands = await commandsOf(() =>
      updateEhrStatus(context, { ehrId, ifMatch: null, metadata: aMetadata('251') }, body),
    );
    expect(commands.at(-1)).toBe('commitTransaction');
    if (await hasBulkWrite()) expect(commands).toEqual(['find', 'find', 'bulkWrite', 'commitTransaction']);
  });
});

describe('reads', () => {
  it('look at a handful of keys, however many versions and compositions there are', async () => {
    const owner = await storedEhr(context);
    const metadata = aMetadata();
    const version = await createComposition(context, { ehrId: owner, metadata }, reader());
    const many = (count: number, make: (number: number) => object): object[] =>
      Array.from({ length: count }, (_none, index) => make(index + 2));
    const versions = mongoose.connection.collection<{ _id: string }>('versions');
    const past = version.time_committed.getTime() - 10_000;
    await versions.insertMany(
      many(3000, (number) => ({
        ...version,
        _id: `${version.object_id}::local.cdr::${number}`,
        version: number,
        time_committed: new Date(past + number),
      })) as never,
    );
    const containers = mongoose.connection.collection<{ _id: string }>('versioned_objects');
    await containers.insertMany(
      many(3000, (number) => ({
        _id: `x${number}`,
        ehr_id: owner,
        type: 'COMPOSITION',
        time_created: new Date(past + number),
        latest_version_uid: `x${number}`,
        deleted: false,
      })) as never,
    );
    const middle = new Date(past + 1500);
    const examined = await examinedBy(async () => {
      await latestVersion(owner, 'COMPOSITION', version.object_id);
      await versionAtTime(owner, 'COMPOSITION', version.object_id, middle);
      await versionById(owner, 'COMPOSITION', version._id);
      await containerOf(owner, 'COMPOSITION', version.object_id);
      await ehrStatusContainer(owner);
      await ehrWithStatusUid(owner);
      await liveDirectory(owner);
      await directoryAtTime(owner, middle);
      await createComposition(context, { ehrId: owner, metadata }, reader());
    });
    expect(examined).toHaveLength(10);
    expect(Math.max(...examined)).toBeLessThanOrEqual(2);
  });
});

describe('reads of an EHR with the uid of its EHR_STATUS', () => {
  it('of the same moment share two finds that run side by side', async () => {
    const others = [await storedEhr(context), await storedEhr(context)];
    const commands = await commandsOf(async () => {
      const read = await Promise.all([ehrId, ...others].map(ehrWithStatusUid));
      expect(read.map(({ ehr }) => ehr?._id)).toEqual([ehrId, ...others]);
      for (const { ehr, statusUid } of read) expect(statusUid).toContain(ehr?.ehr_status_id);
    });
    // The first goes at once, the others together when it is back.
    expect(commands).toEqual(['find', 'find', 'find', 'find']);
  });
});

it('a read that waited for a database that is away asks it for nothing more', async () => {
  const found: unknown[] = [];
  const note = ({ command }: { command: Record<string, unknown> }): void => void found.push(command['find']);
  const client = mongoose.connection.getClient();
  client.on('commandStarted', note);
  const away = new DatabaseAway('away');
  await expect(inOneState(ehrId, () => Promise.reject(away))).rejects.toBe(away);
  client.off('commandStarted', note);
  expect(found.filter((collection) => collection === 'ehrs')).toHaveLength(1);
});
