import { afterEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { testDatabaseUri, useDatabase } from '../../support/database.js';
import { asStandalone, ClusterProxy } from '../../support/process/cluster-proxy.js';
import { runCommand, type CommandResult } from '../../support/process/command-line.js';

useDatabase();

/** What a proxy plays. */
type Plays = ClusterProxy['plays'];

const doctor = (uri: string): Promise<CommandResult> =>
  runCommand(['doctor', '--uri', uri], { LOG_LEVEL: 'warn', MONGODB_URI: '' });

/** All that is tried, in the order of its rows. */
const TRIED = [
  'version, topology, rights',
  'round trip',
  'clock',
  'bulkWrite of several collections',
  'a write of the majority',
  'transaction, committed',
  'transaction, aborted',
  'transactions on one document',
  'transaction of 20 MiB',
  'collections and indexes',
  'a commit',
  ...[
    'rows',
    'rows in order, paged',
    'an aggregate',
    'values below an archetype',
    'whole objects',
    'versions',
  ].flatMap((shape) => ['a pipeline', 'the evaluator'].map((by) => `AQL: ${shape}, by ${by}`)),
];

/** What and verdict of each row. */
function rowsOf(stdout: string): [what: string, verdict: string][] {
  return stdout.split('\n').flatMap((line) => {
    const [, what, verdict] = /^(.+?) {2,}(works|slow|missing) /u.exec(line) ?? [];
    return what === undefined || verdict === undefined ? [] : [[what, verdict] as [string, string]];
  });
}

/** A `doctor` of what a proxy plays. */
async function doctorOf(plays: Plays): Promise<CommandResult> {
  const proxy = await ClusterProxy.before(testDatabaseUri(), plays);
  try {
    return await doctor(proxy.uri);
  } finally {
    proxy.close();
  }
}

describe('doctor', () => {
  // It drops its database whatever it finds.
  afterEach(async () => {
    const { databases } = await mongoose.connection.getClient().db('admin').admin().listDatabases();
    expect(databases.filter(({ name }) => name.startsWith('everchart-doctor-'))).toEqual([]);
  });

  it('tries everything out, and says what it found', async () => {
    const { code, stdout, stderr } = await doctor(testDatabaseUri());
    expect([code === 0 ? '' : `${stdout}${stderr}`, code]).toEqual(['', 0]);
    const rows = rowsOf(stdout);
    expect(rows.map(([what]) => what)).toEqual(TRIED);
    expect(rows.filter(([, verdict]) => verdict === 'missing')).toEqual([]);
    // These know nothing of time.
    for (const what of [
      'version, topology, rights',
      'bulkWrite of several collections',
      'transaction, aborted',
      'a commit',
    ])
      expect(rows).toContainEqual([what, 'works']);
  });

  it('calls slow what is there and takes long', async () => {
    const late = new Set(['ping', 'commitTransaction']);
    const { code, stdout, stderr } = await doctorOf({
      fault: ({ name }) => (late.has(name) ? 'slow' : null),
    });
    expect([code === 0 ? '' : `${stdout}${stderr}`, code]).toEqual(['', 0]);
    const rows = rowsOf(stdout);
    expect(rows.map(([what]) => what)).toEqual(TRIED);
    expect(rows).toEqual(
      expect.arrayContaining([
        ['round trip', 'slow'],
        ['transaction, committed', 'slow'],
      ]),
    );
  });

  it.each<[string, Plays, string[]]>([
    ['replica set', { rewrite: asStandalone }, ['version, topology, rights']],
    [
      'command that it says it has',
      { fault: ({ name }) => (name === 'bulkWrite' ? 'not-primary' : null) },
      ['bulkWrite of several collections'],
    ],
  ])('calls missing a %s, tries what does not need it, and no server', async (_what, plays, missing) => {
    const { code, stdout } = await doctorOf(plays);
    const rows = rowsOf(stdout);
    expect([code, rows.map(([what]) => what)]).toEqual([1, TRIED.slice(0, TRIED.indexOf('a commit'))]);
    expect(rows.filter(([, verdict]) => verdict === 'missing').map(([what]) => what)).toEqual(missing);
  });

  it('says why nothing can be tried', async () => {
    const { code, stderr } = await doctor('mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=500');
    expect([code, stderr]).toEqual([1, expect.stringContaining('Nothing listens')]);
  });
});
