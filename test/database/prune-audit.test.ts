import { beforeEach, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { pruneAudit, retentionEnd } from '../../maintenance/prune-audit.js';
import { loadConfig } from '../../src/settings/config.js';
import { auditRecordsOf, forgetAudit } from '../support/api/audit-records.js';
import { useDatabase } from '../support/database.js';

useDatabase();

const AGES = [1, 4, 6, 11];

/** Records of some years ago. */
beforeEach(async () => {
  await forgetAudit();
  await mongoose.connection.collection<{ _id: string }>('audit').insertMany(
    AGES.map((years) => ({
      _id: `aged-${years}`,
      time: retentionEnd(years, new Date()),
      user: 'ada',
      operation: 'ehr_get_by_id',
      request_id: String(years),
      status: 200,
    })),
  );
});

const left = async (): Promise<string[]> =>
  (await auditRecordsOf({ operation: 'ehr_get_by_id' })).map(({ request_id: id }) => id).sort();

describe('pruning the audit', () => {
  it('removes what is older than AUDIT_RETENTION_YEARS, and records that it was asked for', async () => {
    expect(await pruneAudit(null, 5)).toBe(2);
    expect(await left()).toEqual(['1', '4']);
    expect(await auditRecordsOf({ operation: 'pruneAudit' })).toHaveLength(1);
  });

  it('removes nothing that has to be kept, whatever is asked for', async () => {
    await expect(pruneAudit(new Date(), 10)).rejects.toThrow('AUDIT_RETENTION_YEARS=10');
    await expect(pruneAudit(null, null)).rejects.toThrow('AUDIT_RETENTION_YEARS');
    expect(await left()).toEqual(['1', '11', '4', '6']);
    expect(await auditRecordsOf({ operation: 'pruneAudit' })).toEqual([]);
  });

  it('removes what it is told where no years are set', async () => {
    expect(await pruneAudit(retentionEnd(3, new Date()), null)).toBe(3);
    expect(await left()).toEqual(['1']);
  });

  it('keeps at least three years where any are set', () => {
    expect(() => loadConfig({ AUDIT_RETENTION_YEARS: '2' })).toThrow('AUDIT_RETENTION_YEARS');
    expect(loadConfig({ AUDIT_RETENTION_YEARS: '3' }).auditRetentionYears).toBe(3);
    expect(loadConfig({}).auditRetentionYears).toBeNull();
  });
});
