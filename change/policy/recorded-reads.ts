import type { Settings } from '../../config/settings.js';
import { livePolicies } from './live-policies.js';

/**
 * Whether reads leave records: with `AUDIT_READS`, and once a policy of access, or a mark, restricts who may see what, for the law then asks who
 * has seen it. While nobody can tell they do. docs/access-log.md#when
 */
export async function areReadsRecorded({
  auditReads,
  accessMode,
}: Pick<Settings, 'auditReads' | 'accessMode'>): Promise<boolean> {
  if (auditReads || accessMode !== 'enforce') return auditReads;
  try {
    return (await livePolicies()).isRestricting;
  } catch {
    // The database is away, which the request is told by what it asks for.
    return true;
  }
}
