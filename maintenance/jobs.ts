import { isLeased } from '../models/access/lease.js';
import { activeEhrCount, ehrsBeingErased } from '../models/ehr.js';
import { mergeJobs } from '../models/access/merge-job.js';
import { storageSettings } from '../models/settings.js';
import { comparisonsAtWork } from '../models/template-comparison.js';
import { upgradesAtWork } from '../models/template-upgrade.js';
import { VERIFY_LEASE, verifyProgress } from './verify.js';

/** Something that goes on in the background: docs/spec/rest.md#overview */
export interface BackgroundJob {
  readonly kind:
    | ('verify' | 'reindex' | 'upgrade' | 'template_upgrade' | 'template_comparison')
    | ('merge' | 'unmerge' | 'erase');
  readonly started?: Date;
  /** Of a merge in steps. */
  readonly phase?: 'planning' | 'moving';
  /** EHRs, as far as it is known. */
  readonly done?: number;
  readonly of?: number;
}

/** What goes on in the background right now, in whichever process; without ids of patients. */
export async function backgroundJobs(): Promise<BackgroundJob[]> {
  const [verify, rebuilds, merges, erased, upgrades, comparisons] = await Promise.all([
    verifyJobs(),
    rebuildJobs(),
    mergeJobs(),
    ehrsBeingErased(),
    upgradeJobs(),
    comparisonJobs(),
  ]);
  return [
    ...verify,
    ...rebuilds,
    ...upgrades,
    ...comparisons,
    ...merges.map(({ kind, phase, started_at: started }) => ({ kind, phase, started })),
    ...erased.map(() => ({ kind: 'erase' as const })),
  ];
}

async function verifyJobs(): Promise<BackgroundJob[]> {
  const own = verifyProgress();
  if (own !== null)
    return [{ kind: 'verify', started: own.started, done: own.ehrs, of: Math.max(own.ehrs, own.ofEhrs) }];
  return (await isLeased(VERIFY_LEASE)) ? [{ kind: 'verify' }] : [];
}

async function upgradeJobs(): Promise<BackgroundJob[]> {
  const upgrades = await upgradesAtWork();
  if (upgrades.length === 0) return [];
  const of = await activeEhrCount();
  return Promise.all(
    upgrades.map(async ({ started_at: started, position }) => {
      const done = position.ehr === '' ? 0 : await activeEhrCount(position.ehr);
      return { kind: 'template_upgrade' as const, started, done, of: Math.max(done, of) };
    }),
  );
}

async function comparisonJobs(): Promise<BackgroundJob[]> {
  const comparisons = await comparisonsAtWork();
  if (comparisons.length === 0) return [];
  const of = await activeEhrCount();
  return Promise.all(
    comparisons.map(async ({ data, started_at: started, position }) => {
      const job = { kind: 'template_comparison' as const, started };
      // A sample looks at EHRs in no order.
      if (data === 'sample') return job;
      const done = position.ehr === '' ? 0 : await activeEhrCount(position.ehr);
      return { ...job, done, of: Math.max(done, of) };
    }),
  );
}

async function rebuildJobs(): Promise<BackgroundJob[]> {
  const { upgrade, reindex } = (await storageSettings()) ?? {};
  const jobs: BackgroundJob[] = upgrade === undefined ? [] : [{ kind: 'upgrade' }];
  if (reindex === undefined) return jobs;
  const [done, of] = await Promise.all([activeEhrCount(reindex.afterEhr), activeEhrCount()]);
  return [...jobs, { kind: 'reindex', done, of: Math.max(done, of) }];
}
