import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import type { AuditDoc } from '../../../models/audit.js';

/** The audit records that fit, oldest first. */
export function auditRecordsOf(filter: object = {}): Promise<AuditDoc[]> {
  return mongoose.connection.collection<AuditDoc>('audit').find(filter).sort({ _id: 1 }).toArray();
}

/** The records of one answered request, by its id. */
export function recordsOfAnswer(answer: { headers: Record<string, string> }): Promise<AuditDoc[]> {
  return auditRecordsOf({ request_id: answer.headers['x-request-id'] });
}

/** The one record of an answered request, as soon as its answer has ended for the server too. */
export async function recordOfAnswer(answer: { headers: Record<string, string> }): Promise<AuditDoc> {
  for (let attempt = 1; ; attempt += 1) {
    // What a restore does beside EHRs has records of its own, in its transactions.
    const isOfRequest = ({ operation, notes }: AuditDoc): boolean =>
      operation !== 'restore' || notes === undefined;
    const [record, ...others] = (await recordsOfAnswer(answer)).filter(isOfRequest);
    if (others.length > 0) throw new Error(`more than one record: ${JSON.stringify([record, ...others])}`);
    if (record !== undefined && record.pending !== true) return record;
    if (attempt >= 100) throw new Error(`no whole record: ${JSON.stringify(record ?? null)}`);
    await setTimeout(50);
  }
}

/** Removes all records. */
export async function forgetAudit(): Promise<void> {
  await mongoose.connection.collection('audit').deleteMany({});
}

/** All parts of the record of an answered request, as soon as there are so many and its answer has ended. */
export async function wholeRecordsOf(
  answer: { headers: Record<string, string> },
  parts: number,
): Promise<AuditDoc[]> {
  for (let attempt = 1; ; attempt += 1) {
    const records = await recordsOfAnswer(answer);
    if (records.length === parts && records.every(({ pending }) => pending !== true)) return records;
    if (attempt >= 100)
      throw new Error(`no ${parts} whole records: ${JSON.stringify(records).slice(0, 2_000)}`);
    await setTimeout(50);
  }
}
