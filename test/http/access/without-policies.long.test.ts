import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import type { Response } from 'supertest';
import { onEvent } from '../../../database/events.js';
import type { Settings } from '../../../config/settings.js';
import { testApp } from '../../support/app.js';
import { apiCases, type ApiCase } from '../../support/api/cases.js';
import { ApiProbe, type Call } from '../../support/api/probe.js';
import { useOwnDatabase } from '../../support/database.js';
import { givenTemplate } from '../../support/resources.js';

const commands: string[] = [];
// Listened to before the connection is made, which tells of commands only then.
onEvent('commandStarted', ({ command }) => void commands.push(command));
useOwnDatabase();

const OFF = { accessMode: 'off' } as const;
const ENFORCED = { accessMode: 'enforce' } as const;

const app = testApp();
const probe = new ApiProbe();
const paths = new Map(probe.operations.map(({ id, path }) => [id, path]));
/** What keeps policies, marks and what they ask for is what makes the difference. */
const isOfAccess = ({ id }: ApiCase): boolean => /policies|marks|categories/.test(paths.get(id) ?? '');
/** What each look adds itself to. */
const RECORDING = ['getEhrAccess', 'ehr_access'];
const reads = probe.operations.filter(
  ({ id, method, audit }) => (method === 'GET' || audit === 'query') && !RECORDING.includes(id),
);
const READS = new Set(reads.map(({ id }) => id));
const cases = apiCases(app).filter((each) => !isOfAccess(each));

/** What the server has done or has, which each request adds to, or which goes on by itself: of these only the status is compared. */
const MOVING = [
  ...['overview_get', 'management_env', 'management_prometheus', 'getSeal', 'getAudit', 'listDistinct'],
  ...['restore', 'deleteAllTemplates', 'getStatistics'],
  ...[
    'listTemplateComparisons',
    'getTemplateComparison',
    'cancelTemplateComparison',
    'resumeTemplateComparison',
  ],
  ...['listTemplateUpgrades', 'getTemplateUpgrade', 'pauseTemplateUpgrade', 'resumeTemplateUpgrade'],
  // It describes what policies may hide only where they may.
  'openapi_get',
];

/** What each request has of its own: ids, times, digests of these, addresses, how much there is. */
const OWN: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>'],
  [/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g, '<time>'],
  [/127\.0\.0\.1:\d+/g, '<server>'],
  [/\b[0-9a-f]{40,64}\b/g, '<digest>'],
  [/\b0m[0-9a-z]{7}-[0-9a-f]{16}\b/g, '<record>'],
  [/\borg\.n[0-9a-f]{8}\b/g, '<name space>'],
  [/\b\d+ COMPOSITIONs \(\d+ versions\)/g, '<uses>'],
];
/** Of each answer anew. */
const OWN_HEADERS = ['date', 'x-request-id'];

function masked(text: string): string {
  return OWN.reduce((left, [own, name]) => left.replaceAll(own, name), text);
}

interface Told {
  readonly status: number;
  readonly headers: string;
  readonly text: string;
}

function told({ status, headers, text }: Response): Told {
  const kept = Object.entries(headers as Record<string, string>).filter(
    ([name]) => !OWN_HEADERS.includes(name),
  );
  return { status, headers: masked(JSON.stringify(kept)), text: masked(text) };
}

async function ask(
  id: string,
  call: Call,
  settings: Partial<Settings>,
): Promise<{ readonly answer: Told; readonly commands: number }> {
  commands.length = 0;
  const answer = await probe.call(id, { ...call, settings: { ...call.settings, ...settings } });
  return { answer: told(answer), commands: commands.length };
}

const stored = (name: string): Promise<number> => mongoose.connection.collection(name).countDocuments();

beforeAll(() => givenTemplate(app));

describe('where policies would hold and there is neither a policy nor a mark', () => {
  it.each(cases.map((each) => [`${each.id} ${each.status}`, each] as const))(
    '%s is answered as where they are off',
    async (_, { id, status, call }) => {
      const one = await call();
      const off = await ask(id, one, OFF);
      // What is read or refused is the same for the next request too.
      const isSame = READS.has(id) || status >= 400;
      const enforced = await ask(id, isSame ? one : await call(), ENFORCED);
      expect([await stored('policies'), await stored('ehr_marks')]).toEqual([0, 0]);
      expect([off.answer.status, enforced.answer.status]).toEqual([status, status]);
      if (!MOVING.includes(id)) expect(enforced.answer).toEqual(off.answer);
      // Whether there is a policy or a mark by now is asked for at most three times.
      if (READS.has(id)) expect(enforced.commands - off.commands).toBeLessThanOrEqual(3);
    },
  );
});
