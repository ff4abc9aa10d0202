import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import type { Response } from 'supertest';
import type { AuditDoc } from '../../../models/audit.js';
import { everyOperation } from '../../../src/operation-table.js';
import { testApp } from '../../support/app.js';
import { apiCases } from '../../support/api/cases.js';
import { ApiProbe, type Call } from '../../support/api/probe.js';
import { recordsOfAnswer, wholeRecordsOf } from '../../support/api/audit-records.js';
import { useDatabase } from '../../support/database.js';
import { tokenOf } from '../../support/policy/marks.js';
import { givenTemplate } from '../../support/resources.js';

useDatabase();

const app = testApp();
const probe = new ApiProbe();
const cases = apiCases(app);
/** Never answers anything: 501. */
const NEVER = 'deleteContribution';
const disclosing = probe.operations.filter(({ id, discloses }) => discloses !== 'nothing' && id !== NEVER);
/** A look at the log names no EHRs of what it lists, or each look would be about everybody: it is recorded with what was asked for. */
const LOG = 'getAudit';
/** One success of each operation that gives or changes something of records. */
const successes = disclosing.flatMap(
  ({ id }) => cases.find((each) => each.id === id && each.status < 300) ?? [],
);
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** EHRs whose ids stand in an answer. */
async function ehrsIn(text: string): Promise<string[]> {
  const ids = [...new Set(text.match(UUID) ?? [])];
  const found = mongoose.connection.collection<{ _id: string }>('ehrs').find({ _id: { $in: ids } });
  return (await found.toArray()).map(({ _id }) => _id).sort();
}

function namedBy(records: readonly AuditDoc[]): Set<string> {
  return new Set(
    records
      .flatMap(({ ehr_id: one, ehr_ids: others = [], target }) => [one, target, ...others])
      .flatMap((id) => id ?? []),
  );
}

/** There are records of an answer, and they name every EHR that it discloses or is about. Gives them. */
async function expectNamed(
  id: string,
  answer: Response,
  params: Call['params'] = {},
): Promise<readonly AuditDoc[]> {
  const { text } = answer as { readonly text?: string };
  const parts = (await recordsOfAnswer(answer)).length;
  expect([id, parts > 0]).toEqual([id, true]);
  const records = await wholeRecordsOf(answer, parts);
  const named = namedBy(records);
  const { ehr_id: asked } = params;
  const disclosed = [
    ...(id === LOG ? [] : await ehrsIn(text ?? '')),
    ...(asked === undefined ? [] : await ehrsIn(asked)),
  ];
  expect([id, disclosed.filter((ehrId) => !named.has(ehrId))]).toEqual([id, []]);
  return records;
}

beforeAll(() => givenTemplate(app));

describe('the log', () => {
  it('is written by every operation that gives or changes something of records, by its row of the table', () => {
    const silent = everyOperation().operations.filter(
      ({ discloses, audit }) => discloses !== 'nothing' && audit === 'none',
    );
    expect(silent.map(({ id }) => id)).toEqual([]);
    const untried = disclosing.filter(({ id }) => !successes.some((each) => each.id === id));
    expect(untried.map(({ id }) => id)).toEqual([]);
  });

  it.each(successes.map((each) => [each.id, each] as const))(
    'names every EHR that %s answers or is about',
    async (id, { call, status }) => {
      const { settings, ...given } = await call();
      const answer = await probe.call(id, { ...given, settings: { ...settings, auditReads: true } });
      expect([id, answer.status]).toEqual([id, status]);
      await expectNamed(id, answer, given.params);
    },
  );
});

describe('the log where policies hold', () => {
  const ENFORCED = { auth: 'jwt', accessMode: 'enforce', auditReads: false } as const;
  const claims = { preferred_username: 'root-admin', organisation: 'ward 3', purpose_of_use: 'TREAT' };
  const Authorization = tokenOf(['ADMIN'], claims, 'root-admin');

  /** What belongs to who made it, which in these cases is somebody else. */
  const OWN = ['draft_get', 'draft_delete', 'favourite_delete'];

  beforeAll(async () => {
    const policy = 'permit (principal, action, resource);';
    const stored = await probe.call('putPolicy', {
      ...{ params: { policy_id: 'all' }, body: { policy }, settings: ENFORCED },
    });
    expect([stored.status, stored.text]).toEqual([200, stored.text]);
  });

  it.each(successes.filter(({ id }) => !OWN.includes(id)).map((each) => [each.id, each] as const))(
    'has of %s who asked, from where and what for, about which EHRs',
    async (id, { call, status }) => {
      const { settings, headers, ...given } = await call();
      const answer = await probe.call(id, {
        ...given,
        headers: { Authorization, ...headers },
        settings: { ...settings, ...ENFORCED },
      });
      expect([id, answer.status]).toEqual([id, status]);
      const records = await expectNamed(id, answer, given.params);
      for (const { user, sub, organisation, purpose } of records)
        expect({ id, user, sub, organisation, purpose }).toEqual({
          ...{ id, user: 'root-admin', sub: 'root-admin', organisation: 'ward 3', purpose: 'TREAT' },
        });
    },
  );
});
