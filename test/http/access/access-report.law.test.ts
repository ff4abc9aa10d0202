import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { ReportScript } from '../../support/access/report-script.js';
import { testApp } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { seeds } from '../../support/laws.js';
import { givenTemplate, type Json } from '../../support/resources.js';
import { everythingOn } from '../../support/settings.js';
import { bearer } from '../../support/tokens.js';

/** Scripts of two dozen steps each. */
const SIZES = { small: 4, full: 600 };

useDatabase();
const settings = everythingOn({ auth: 'jwt', auditReads: true });
const apps = [testApp(settings), testApp({ ...settings, mergeStepsFrom: 0 })] as const;
const AUDITOR = bearer(['AUDITOR'], 'auditor');

beforeAll(() => givenTemplate(testApp()));

/** Requests that the pages of a report name, in their order. */
async function reported(app: (typeof apps)[number], ehrId: string): Promise<string[]> {
  const found: string[] = [];
  const to = new Date().toISOString();
  for (let next: string | undefined = ''; next !== undefined;) {
    const { body } = await request(app)
      .get(`/rest/ehrs/${ehrId}/access`)
      .query({ fetch: '7', to, ...(next !== '' && { after: next }) })
      .set('Authorization', AUDITOR)
      .expect(200);
    const page = body as Json;
    found.push(
      ...page['entries']
        .filter(({ operation }: Json) => operation !== 'ehr_access')
        .map(({ request_id: id }: Json) => id as string),
    );
    next = page['next'] as string | undefined;
  }
  return found;
}

it('the report of each EHR names exactly the requests that answered something of it, through merge and unmerge', async () => {
  const met = { reads: 0, queries: 0, writes: 0, merges: 0, unmerges: 0, visits: 0 };
  for (const seed of seeds(SIZES)) {
    const app = apps[seed % 2 === 0 ? 0 : 1];
    const script = new ReportScript(seed, app);
    await script.run();
    for (const ehrId of script.standing) {
      const found = await reported(app, ehrId);
      expect({ seed, ehrId, found: [...found].sort() }).toEqual({
        seed,
        ehrId,
        found: script.expected(ehrId),
      });
    }
    for (const name of Object.keys(met) as (keyof typeof met)[]) met[name] += script.met[name];
  }
  for (const [name, count] of Object.entries(met)) expect([name, count > 0]).toEqual([name, true]);
}, 3_600_000);
