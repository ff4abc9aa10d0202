import { SingleBar } from 'cli-progress';
import { Command } from 'commander';
import { deriveAccessAttributes } from '../../maintenance/access-attributes.js';
import { reindexStorage } from '../../maintenance/reindex.js';
import { upgradePlan, upgradeStorage, type UpgradePlan } from '../../maintenance/upgrade.js';
import { namesThatDifferInCase } from '../../models/definition/stored-query.js';
import { anyVersion } from '../../models/version.js';
import { withDatabase, withStorage } from '../../src/process/storage.js';
import { writeShown } from '../shown.js';

/** `everchart reindex`: rebuilds what AQL reads; may run beside servers and be stopped at any time. */
export function reindexCommand(): Command {
  return new Command('reindex')
    .option('--access', 'only add what policies of access ask of data of older releases')
    .action(({ access }: { access?: true }) => (access === true ? reindexAccess() : reindex()));
}

async function reindexAccess(): Promise<void> {
  await withStorage(async () => {
    const format = 'reindex [{bar}] {value}/{total} documents, {eta_formatted} left';
    const bar = process.stderr.isTTY ? new SingleBar({ format }) : null;
    const start = performance.now();
    bar?.start(1, 0);
    const { named } = await deriveAccessAttributes(({ done, of }) => {
      bar?.setTotal(of);
      bar?.update(done);
    });
    bar?.stop();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    writeShown(process.stdout, `${named} documents name who committed them now, in ${seconds} s\n`);
  });
}

async function reindex(): Promise<void> {
  await withStorage(async (settings) => {
    const bar = process.stderr.isTTY
      ? new SingleBar({ format: 'reindex [{bar}] {value}/{total} EHRs, {eta_formatted} left' })
      : null;
    const start = performance.now();
    bar?.start(1, 0);
    const done = await reindexStorage(settings.aql.leafIndex, ({ ehrs, ofEhrs }) => {
      bar?.setTotal(ofEhrs);
      bar?.update(ehrs);
    });
    bar?.stop();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    writeShown(process.stdout, `${done.ehrs} EHRs, ${done.documents} documents rebuilt in ${seconds} s\n`);
  });
}

/** `everchart upgrade`: brings the data of older releases into the present layout; beside servers, and may be stopped. */
export function upgradeCommand(): Command {
  return new Command('upgrade')
    .option('--dry-run', 'print what there is to do, and write nothing')
    .action(({ dryRun }: { dryRun?: true }) => (dryRun === true ? planUpgrade() : upgrade()));
}

async function planUpgrade(): Promise<void> {
  const plan = await withDatabase(({ aql }) => upgradePlan(aql.leafIndex));
  writeShown(process.stdout, plan === null ? 'the database is empty\n' : planText(plan));
  await withDatabase(listNamesAlike);
}

function planText(plan: UpgradePlan): string {
  const megabytes = (plan.characters / 1e6).toFixed(1);
  const indexes = (verb: string, list: UpgradePlan['indexesToMake']): string[] =>
    list.map(({ collection, name }) => `index to be ${verb}: ${collection} ${name}`);
  return [
    `layout ${plan.layout}, this release has ${plan.presentLayout}`,
    ...indexes('made', plan.indexesToMake),
    ...indexes('dropped', plan.indexesToDrop),
    `${plan.versions} VERSIONs to be compressed, ${megabytes} MB of text`,
    `what names the patients of EHRs ${plan.lacksIdentities ? 'is to be derived' : 'is current'}`,
    `what AQL reads ${plan.isAqlStale ? 'is to be derived anew' : 'is current'}`,
    `what policies of access ask ${plan.lacksCommitters ? 'is to be added' : 'is current'}`,
    'nothing was written\n',
  ].join('\n');
}

async function upgrade(): Promise<void> {
  await withStorage(async ({ aql }) => {
    const bar = process.stderr.isTTY
      ? new SingleBar({ format: '{step} [{bar}] {value}/{total}, {eta_formatted} left' })
      : null;
    const start = performance.now();
    bar?.start(1, 0, { step: 'texts' });
    const done = await upgradeStorage(aql.leafIndex, ({ step, done: value, of }) => {
      bar?.setTotal(of);
      bar?.update(value, { step });
    });
    bar?.stop();
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const { compressed, derived, droppedIndexes, identified } = done;
    writeShown(
      process.stdout,
      `${compressed} VERSIONs compressed, ${identified} EHRs identified, ${derived} documents derived, ${droppedIndexes.length} indexes dropped in ${seconds} s\n`,
    );
    const { owners, ehrs, states } = done.baseline;
    writeShown(
      process.stdout,
      `sealed as they were found: the EHR of ${owners} records, ${ehrs} EHRs, ${states} templates, stored queries and merges\n`,
    );
    await listNamesAlike();
    const { resealed, unproven } = done.attested;
    for (const uid of resealed)
      writeShown(process.stdout, `sealed with its ATTESTATION, which no block held: ${uid}\n`);
    for (const uid of unproven)
      writeShown(process.stdout, `left as it is, since no sealed CONTRIBUTION has its ATTESTATION: ${uid}\n`);
  });
}

/** Names are compared without case: of these each is found by its own spelling, and all others find the first. */
async function listNamesAlike(): Promise<void> {
  for (const names of await namesThatDifferInCase())
    writeShown(process.stdout, `stored queries whose names differ in case only: ${names.join(', ')}\n`);
}

/** `everchart cat`: the text of a stored VERSION as it is, however it is stored. */
export function catCommand(): Command {
  return new Command('cat').argument('<version>', 'OBJECT_VERSION_ID').action(cat);
}

async function cat(versionUid: string): Promise<void> {
  const version = await withDatabase(() => anyVersion(versionUid));
  if (version === null) throw new Error(`there is no VERSION ${versionUid}`);
  if (version.data === null) throw new Error(`VERSION ${versionUid} is a deletion: it has no content`);
  writeShown(process.stdout, `${version.data}\n`);
}
