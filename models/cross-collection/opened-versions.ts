import { versionMatch } from '../../aql/mongo/document/permitted-match.js';
import { all, not, type Permitted } from '../../policy/condition.js';
import { documents } from '../access/documents.js';
import { COLLECTIONS } from '../access/layout.js';
import { movingMerges } from '../access/merge-job.js';
import { activeEhrNamed } from '../ehr-identity.js';

/** Two answers to what somebody may see, and of which EHR. */
interface Opening {
  readonly ehrId: string;
  readonly systemId: string;
  /** With EHRs in place of tags and marks, both. */
  readonly now: Permitted;
  readonly then: Permitted;
}

/** Whether somebody would find an EHR, or something in it, that he does not find now. */
export async function opensMore({ ehrId, systemId, now, then }: Opening): Promise<boolean> {
  if ((await activeEhrNamed(ehrId, then.ehr)).length === 0) return false;
  if ((await activeEhrNamed(ehrId, now.ehr)).length === 0) return true;
  const ofEhr = { kind: 'equals', attribute: 'ehr_id', among: [ehrId] } as const;
  const opened = all([ofEhr, then.version, not(now.version)]);
  // Of data of an older release nobody knows the committer without a join, which what is only told is not worth.
  const context = { systemId, targets: movingMerges().targets, hasCommitters: true };
  const found = await documents(COLLECTIONS.aql).findOne(versionMatch(opened, context), {
    projection: { _id: 1 },
  });
  return found !== null;
}
