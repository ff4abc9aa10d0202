import type { JsonObject } from '../openehr/base/json.js';
import { flagsOf } from '../change/commit/ehr-flags.js';
import { ehrCount } from '../models/ehr.js';
import {
  identifiedEhrs,
  identifiedEhrsAfter,
  saveIdentities,
  type IdentifiedEhr,
} from '../models/ehr-identity.js';
import { identitiesDerived } from '../models/settings.js';
import { versionsByUid } from '../models/version.js';
import { containersById } from '../models/versioned-object.js';

const EHRS_AT_ONCE = 200;
/** How often EHRs are tried again that others wrote to in between. */
const ATTEMPTS = 20;

/**
 * Derives the identities of all EHRs from their EHR_STATUS, beside running servers: stored only where nothing was written
 * to the EHR meanwhile, else it is tried again. May be stopped and repeated. docs/spec/merge.md#candidates
 * @throws Error when an EHR is written to all the time
 */
export async function deriveAllIdentities(
  onProgress: (done: number, of: number) => void = () => undefined,
): Promise<number> {
  const of = await ehrCount();
  let [done, derived] = [0, 0];
  for (let after = ''; ;) {
    const ehrs = await identifiedEhrsAfter(after, EHRS_AT_ONCE);
    const last = ehrs.at(-1);
    if (last === undefined) break;
    derived += await deriveIdentities(ehrs);
    after = last._id;
    done += ehrs.length;
    onProgress(done, of);
  }
  await identitiesDerived();
  return derived;
}

/** Gives how many of them are active. */
async function deriveIdentities(first: readonly IdentifiedEhr[]): Promise<number> {
  let ehrs = first.filter(({ state }) => state === 'active');
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const derived = await derivedOf(ehrs);
    if ((await saveIdentities(derived)) === ehrs.length) return ehrs.length;
    const again = await identifiedEhrs(ehrs.map(({ _id }) => _id));
    ehrs = again.filter(({ state }) => state === 'active');
  }
  throw new Error(`EHR ${ehrs[0]?._id ?? ''} or one after it is written to all the time: try again later`);
}

async function derivedOf(ehrs: readonly IdentifiedEhr[]) {
  const heads = await containersById(ehrs.map(({ ehr_status_id: id }) => id));
  const versions = await versionsByUid(heads.map(({ latest_version_uid: uid }) => uid));
  const statuses = new Map(versions.map(({ object_id: id, data }) => [id, data]));
  return ehrs.map((ehr) => {
    const data = statuses.get(ehr.ehr_status_id) ?? null;
    const identities =
      data === null ? [] : flagsOf(ehr.ehr_status_id, JSON.parse(data) as JsonObject).identities;
    return { ehr, identities };
  });
}
