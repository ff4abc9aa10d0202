import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Operation } from '../../../routes/http/operation/operation.js';
import { everyOperation } from '../../../src/operation-table.js';
import { testApp } from '../../support/app.js';
import { apiCases } from '../../support/api/cases.js';
import { ApiProbe } from '../../support/api/probe.js';
import { useDatabase } from '../../support/database.js';
import { aComposition, givenTemplate } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';

useDatabase();

/**
 * Rows of the table that give or change something of all records, whatever policies and marks hide, with why: docs/access.md#of-all-records.
 * One that is not here fails, so that nobody adds one unseen.
 */
const DECIDED: Readonly<Record<string, readonly string[]>> = {
  // Ids, counts and what was done, to whoever administers all that is there.
  'ids and counts': [
    ...['deleteEhr', 'deleteContribution', 'updateContribution', 'deleteComposition', 'deleteDirectory'],
    ...['deleteTemplate', 'deleteAllTemplates', 'compareTemplate', 'listTemplateComparisons'],
    ...['getTemplateComparison', 'cancelTemplateComparison', 'resumeTemplateComparison', 'upgradeTemplate'],
    ...['listTemplateUpgrades', 'getTemplateUpgrade', 'pauseTemplateUpgrade', 'resumeTemplateUpgrade'],
    ...['undoTemplateUpgrade', 'verify', 'getSeal', 'getStatistics', 'decideAccess', 'comparePolicies'],
    ...['listApprovals', 'confirmApproval', 'withdrawApproval', 'restore', 'addExtract', 'undoExtract'],
    ...['ehr_extract_create', 'mergeEhrs', 'unmerge', 'confirmMerge', 'withdrawMerge', 'getMergeTarget'],
    ...['getMergeStatusList', 'getMergeDetails', 'finaliseMerge', 'moveComposition', 'sayDistinct'],
    'takeBackDistinct',
  ],
  // Who saw what: for who keeps the log, and of his own for the patient.
  'the log': ['getAudit', 'getEhrAccess', 'ehr_access'],
  // For administrators, auditors and the patient himself.
  marks: ['marks_get', 'marks_put'],
};
/** Who may come to them: a permission over all that is there, or a check of its own. */
const OVER_ALL: readonly Operation['access'][] = ['admin', 'audit', 'restore'];
/** With a check of their own: 403 for whoever is neither the patient nor has one of those. */
const OF_THE_PATIENT = ['marks_get', 'marks_put', 'ehr_access'];

const whole = everyOperation(everythingOn()).operations.filter(({ discloses }) => discloses === 'whole');
const app = testApp();
const probe = new ApiProbe();
const cases = apiCases(app);
/** One success of each. */
const successes = whole.flatMap(({ id }) => cases.find((each) => each.id === id && each.status < 300) ?? []);
/** Never answers anything: 501. */
const NEVER = 'deleteContribution';

/** What somebody wrote into what the cases commit: who ids and counts are for learns nothing of it. */
const WRITTEN = ['Dr. House', 'Alexandra Alamo', 'legal guardian consent author', 'magnitude'];

beforeAll(() => givenTemplate(app));

describe('rows about all records', () => {
  it('are those that were decided', () => {
    expect(whole.map(({ id }) => id).sort()).toEqual(Object.values(DECIDED).flat().sort());
  });

  it('need a permission over all that is there, or check who the patient is', () => {
    const others = whole.filter(
      ({ access, adminWith }) => !OVER_ALL.includes(access) && adminWith === undefined,
    );
    expect(others.map(({ id }) => id).sort()).toEqual([...OF_THE_PATIENT].sort());
  });

  it('are each tried', () => {
    const tried = new Set(successes.map(({ id }) => id));
    expect(whole.filter(({ id }) => !tried.has(id) && id !== NEVER).map(({ id }) => id)).toEqual([]);
    const committed = JSON.stringify(aComposition());
    expect(WRITTEN.filter((written) => !committed.includes(written))).toEqual([]);
  });

  it.each(successes.map((each) => [each.id, each] as const))(
    '%s tells nothing that was written in a record',
    async (id, { call, status }) => {
      const answer = await probe.call(id, await call());
      expect([id, answer.status]).toEqual([id, status]);
      const { text = '' } = answer as { readonly text?: string };
      expect([id, WRITTEN.filter((written) => text.includes(written))]).toEqual([id, []]);
    },
  );
});
