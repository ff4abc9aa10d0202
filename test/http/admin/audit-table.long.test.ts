import { beforeAll, describe, expect, it } from '@jest/globals';
import { isUuid } from '../../../openehr/base/object-version-id.js';
import { testApp } from '../../support/app.js';
import { apiCases, type ApiCase } from '../../support/api/cases.js';
import { ApiProbe } from '../../support/api/probe.js';
import { recordOfAnswer, recordsOfAnswer } from '../../support/api/audit-records.js';
import { useDatabase } from '../../support/database.js';
import { givenTemplate } from '../../support/resources.js';
import { bearer } from '../../support/tokens.js';

useDatabase();

const AUDITING = { auditReads: true };
const probe = new ApiProbe();
const app = testApp();
const cases = apiCases(app);
const audited = cases.filter(({ id }) => kindOf(id) !== 'none');

function kindOf(id: string): string | undefined {
  return probe.operations.find((operation) => operation.id === id)?.audit;
}

beforeAll(() => givenTemplate(app));

it('knows a case of every operation that is recorded', () => {
  const ids = new Set(audited.map(({ id }) => id));
  const missing = probe.operations.filter(({ id, audit }) => audit !== 'none' && !ids.has(id));
  expect(missing.map(({ id }) => id)).toEqual([]);
});

describe('every operation that is recorded', () => {
  it.each(audited.map((one): [string, number, ApiCase] => [one.id, one.status, one]))(
    '%s leaves one record with status %i',
    async (id, status, { call }) => {
      const { settings, ...given } = await call();
      const answer = await probe.call(id, { ...given, settings: { ...settings, ...AUDITING } });
      expect(await recordOfAnswer(answer)).toMatchObject({
        user: expect.any(String),
        operation: id,
        status,
        request_id: answer.headers['x-request-id'],
        // What is no id names no EHR.
        ...(isUuid(given.params?.['ehr_id'] ?? '') && { ehr_id: given.params?.['ehr_id'] }),
      });
    },
  );

  it.each([200, 204] as const)('leaves one when an update is answered with %i', async (status) => {
    for (const id of [
      'composition_update',
      'directory_update',
      'ehr_status_update',
      'composition_tags_update',
    ]) {
      const first = cases.find((one) => one.id === id);
      const call = await first?.call();
      const answer = await probe.call(id, { ...call, settings: { preferMinimalUpdateStatus: status } });
      expect([id, (await recordOfAnswer(answer)).status]).toEqual([id, answer.status]);
      expect([id, answer.status]).toEqual([id, status]);
    }
  });

  it('leaves one with a token that may not', async () => {
    const firsts = probe.operations.map(({ id }) => audited.find((one) => one.id === id));
    for (const { id, call } of firsts.filter((one) => one !== undefined)) {
      const { headers, ...given } = await call();
      // Of one user twenty refusals a minute are recorded.
      const Authorization = bearer([], `nobody-${id}`);
      const refused = {
        ...given,
        headers: { ...headers, Authorization },
        settings: { auth: 'jwt' },
      } as const;
      const answer = await probe.call(id, refused);
      const record = await recordOfAnswer(answer);
      expect([id, record.operation, record.status, record.user]).toEqual([id, id, 403, `nobody-${id}`]);
    }
  });

  it('leaves none when it is a read and reads are not recorded', async () => {
    for (const { id, call } of audited.filter((one) => ['read', 'query'].includes(kindOf(one.id) ?? ''))) {
      const answer = await probe.call(id, await call());
      expect([id, await recordsOfAnswer(answer)]).toEqual([id, []]);
    }
  });
});
