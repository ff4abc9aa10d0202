import { describe, expect, it } from '@jest/globals';
import { auditFilter } from '../../../console/src/pages/administration/audit-filter.js';

describe('what is typed to narrow the audit', () => {
  it('is sent by time with zone, status as a number, and without what is empty', () => {
    const typed = { from: '2026-01-05T07:12', to: '', user: 'ada', operation: '', status: '403', ehrId: 'x' };
    expect(auditFilter(typed)).toEqual({
      from: new Date('2026-01-05T07:12').toISOString(),
      user: 'ada',
      status: 403,
      ehrId: 'x',
    });
  });

  it('narrows nothing while a status or time is half typed', () => {
    expect(auditFilter({ status: '4', from: '2026-' + 'x' })).toEqual({});
    expect(auditFilter({})).toEqual({});
  });
});
