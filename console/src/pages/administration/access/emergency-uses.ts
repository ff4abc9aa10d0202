import type { AuditRecord } from '@everchart/client';
import { textAt } from '../../../api/json.js';

/** Requests of one emergency: of one person, about one record, for one reason. */
export interface EmergencyUse {
  readonly user: string;
  readonly organisation: string;
  /** Empty: about all, as a search is. */
  readonly ehrId: string;
  readonly purpose: string;
  readonly reason: string;
  /** First and last request. */
  readonly from: string;
  readonly to: string;
  readonly requests: number;
}

/** What of one reason follows within this time is one use. Milliseconds. */
const PAUSE_MS = 30 * 60_000;

/** Records of `emergency_access`, newest first, as uses: one emergency makes a record with each request. */
export function usesOf(records: readonly AuditRecord[]): EmergencyUse[] {
  const uses: EmergencyUse[] = [];
  const last = new Map<string, number>();
  for (const record of records) {
    const said = {
      user: record.user,
      organisation: textAt(record, 'organisation'),
      ehrId: textAt(record, 'ehr_id'),
      purpose: textAt(record, 'purpose'),
      reason: textAt(record, 'reason'),
    };
    const key = JSON.stringify([said, textAt(record, 'sub'), textAt(record, 'issuer')]);
    const index = last.get(key) ?? -1;
    const use = uses[index];
    if (use !== undefined && Date.parse(use.from) - Date.parse(record.time) <= PAUSE_MS)
      uses[index] = { ...use, from: record.time, requests: use.requests + 1 };
    else {
      last.set(key, uses.length);
      uses.push({ ...said, from: record.time, to: record.time, requests: 1 });
    }
  }
  return uses;
}
