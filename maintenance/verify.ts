import { ehrById, ehrCount, ehrsAfter, sharedSubjects } from '../models/ehr.js';
import { AQL_SCHEMA_VERSION } from '../aql/index/document.js';
import { withLease } from '../models/access/lease.js';
import { storageSettings } from '../models/settings.js';
import { saveVerification } from '../models/verification.js';
import { OWNED_COLLECTIONS, unknownOwners } from '../models/cross-collection/owned-documents.js';
import { templateIds, usedTemplateIds } from '../models/definition/template.js';
import type { StorageFacts } from './verify-container.js';
import { checkEhr, type VerifyRun } from './verify-ehr.js';
import type { SealHead } from '../models/cross-collection/seal-block.js';
import { sealHead } from './seal.js';
import { checkMerges, checkTombstoneRecord } from './verify-merges.js';
import { Findings, type VerifyProgress, type VerifyReport } from './verify-report.js';
import { checkStates } from './verify-states.js';
import { checkSeals } from './verify-seal.js';

/** EHRs read at once. */
const PAGE = 100;

/**
 * Checks the whole database against its own rules, EHR by EHR in constant memory, while others write: chains of
 * versions, heads, CONTRIBUTIONs both ways, EHR_STATUS, subjects, templates, item tags, derived documents equal
 * to recomputation, merges, and that every sealed record is what it was. Changes none of it, and keeps when it ended. `since`: heads of the
 * seals kept elsewhere, which must be in the chain. See docs/spec/rest.md#verify.
 * @throws conflict while another check of this database runs, in whichever process
 */
export async function verifyStorage(
  onProgress: (progress: VerifyProgress) => void = () => undefined,
  since: readonly SealHead[] = [],
): Promise<VerifyReport> {
  return withLease(VERIFY_LEASE, 'an integrity check is running already', async () => {
    const started = new Date();
    const ofEhrs = await ehrCount();
    running = { ehrs: 0, ofEhrs, started };
    const publish = (progress: VerifyProgress): void => {
      running = { ...progress, started };
      onProgress(progress);
    };
    try {
      const report = await verify(publish, since, ofEhrs);
      await saveVerification({ at: new Date(), violations: report.violations.length });
      return report;
    } finally {
      running = null;
    }
  });
}

/** How far the check is that this process makes; null: it makes none. */
export function verifyProgress(): (VerifyProgress & { readonly started: Date }) | null {
  return running;
}

/** Name of the lease of a check, in whichever process. */
export const VERIFY_LEASE = 'verify';

let running: (VerifyProgress & { readonly started: Date }) | null = null;

async function verify(
  onProgress: (progress: VerifyProgress) => void,
  since: readonly SealHead[],
  ofEhrs: number,
): Promise<VerifyReport> {
  const all = new Findings();
  const templates = await templateIds();
  all.count('templates', templates.length);
  const run: VerifyRun = {
    storage: await storageFacts(),
    usedTemplates: await usedTemplateIds(),
    digests: new Set(),
    shapes: new Set(),
  };
  let ehrs = 0;
  for (let page = await ehrsAfter('', PAGE); page.length > 0;) {
    for (const ehr of page) {
      all.take(await checkEhr(run, ehr));
      if (ehr.state === 'merged') all.take(await checkTombstoneRecord(ehr._id, ehr.merge_id));
      ehrs += 1;
      onProgress({ ehrs, ofEhrs: Math.max(ehrs, ofEhrs) });
    }
    page = await ehrsAfter(page.at(-1)?._id ?? '', PAGE);
  }
  all.take(await checkOwners());
  all.take(await checkSubjects());
  all.take(await checkMerges());
  all.take(await checkStates());
  all.take(await checkSeals(since));
  const seal = await sealHead();
  return all.report(seal.block === 0 ? null : seal);
}

async function storageFacts(): Promise<StorageFacts> {
  const settings = await storageSettings();
  return {
    systems: settings === null ? null : new Set([settings.system_id, ...(settings.systems ?? [])]),
    leafIndex: settings?.leaf_index ?? 'all',
    isReindexPending:
      settings !== null && (settings.sv !== AQL_SCHEMA_VERSION || settings.reindex !== undefined),
    lacksCommitters: settings?.committers !== true,
  };
}

/** Documents whose EHR does not exist. */
async function checkOwners(): Promise<Findings> {
  const found = new Findings();
  for (const name of OWNED_COLLECTIONS) {
    const unknown = await unknownOwners(name);
    // An EHR may have been made or deleted between the two questions.
    const again = unknown.size === 0 ? unknown : await unknownOwners(name);
    for (const [ehrId, one] of again) {
      if (unknown.has(ehrId) && (await ehrById(ehrId)) === null)
        found.add(name, one, 'it belongs to an EHR that does not exist');
    }
  }
  return found;
}

async function checkSubjects(): Promise<Findings> {
  const found = new Findings();
  for (const { ehrIds } of await sharedSubjects()) {
    for (const ehrId of ehrIds) found.add('ehrs', ehrId, 'another EHR has the same subject');
  }
  return found;
}
