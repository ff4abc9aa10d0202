import { describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { testDatabaseUri, useDatabase } from '../../support/database.js';
import { runCommand, type CommandResult } from '../../support/process/command-line.js';

useDatabase();

const doctor = (uri: string): Promise<CommandResult> =>
  runCommand(['doctor', '--uri', uri], { LOG_LEVEL: 'warn', MONGODB_URI: '' });

describe('doctor', () => {
  it('tries everything out, says what it found, and leaves nothing behind', async () => {
    const { code, stdout, stderr } = await doctor(testDatabaseUri());
    expect([code === 0 ? '' : `${stdout}${stderr}`, code]).toEqual(['', 0]);
    for (const what of [
      'version, topology, rights',
      'clock',
      'bulkWrite of several collections',
      'transaction, aborted',
      'transactions on one document',
      'transaction of 20 MiB',
      'collections and indexes',
      'a commit',
      'AQL: the evaluator',
    ])
      expect(stdout).toMatch(new RegExp(`^${what} +(works|slow) `, 'm'));
    const { databases } = await mongoose.connection.getClient().db('admin').admin().listDatabases();
    expect(databases.filter(({ name }) => name.startsWith('everchart-doctor-'))).toEqual([]);
  });

  it('says why nothing can be tried', async () => {
    const { code, stderr } = await doctor('mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=500');
    expect([code, stderr]).toEqual([1, expect.stringContaining('Nothing listens')]);
  });
});
