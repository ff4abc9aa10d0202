import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onEvent } from '../../../database/events.js';
import type { Operation } from '../../../routes/http/operation/operation.js';
import { everyOperation } from '../../../src/operation-table.js';
import { loadConfig } from '../../../src/settings/config.js';
import { testApp, useServer } from '../../support/app.js';
import { useOwnDatabase } from '../../support/database.js';
import { putPolicy } from '../../support/policy/put.js';
import { answerOf, givenDefinitions } from '../../support/policy/unseen-answers.js';
import { CREATING, unseenRequests, type UnseenRequest } from '../../support/policy/unseen-requests.js';
import { absentNames, hiddenThings, seenEhr } from '../../support/policy/unseen-world.js';
import { Random } from '../../support/random.js';
import { everythingOn } from '../../support/settings.js';
import { bearer } from '../../support/tokens.js';

/** Commands to the database since the last request was sent. */
const commands: string[] = [];
/** Asked every so often, and not by what a request is about. */
const BY_TIME = ['find merge_jobs'];
// Listened to before the connection is made, which tells of commands only then.
onEvent('commandStarted', ({ command, collection }) => {
  const asked = `${command} ${collection ?? ''}`;
  if (!BY_TIME.includes(asked)) commands.push(asked);
});
useOwnDatabase();

const { accessRefusedMs } = loadConfig({});
const settings = everythingOn({ auth: 'jwt', accessMode: 'enforce', accessRefusedMs });
const app = testApp(settings);
const served = useServer(app);
const open = testApp({ accessMode: 'dry' });
const ADA = bearer(['USER', 'ADMIN', 'AUDITOR'], 'ada');
/** What it tells of all records is kept for some seconds. */
const KEPT = 'overview_get';
const judged = everyOperation(settings).operations.filter(
  ({ id, discloses }) =>
    discloses !== 'nothing' && discloses !== 'whole' && id !== KEPT && !CREATING.includes(id),
);

const HIDING: Readonly<Record<string, string>> = {
  'its content': `forbid (principal, action, resource) when { principal.sub == "ada" && (
    (resource is Ehr && resource has namespace && resource.namespace == "hospital") ||
    (resource is Version && resource has composer && resource.composer == "hidden") ||
    (resource is Version && resource.kind != "COMPOSITION" && resource has committer &&
      resource.committer == "hidden")) };`,
  'a tag of its EHR': `forbid (principal, action, resource) when { principal.sub == "ada" && (
    resource.hasTag("access.hidden") ||
    (resource is Version && resource has committer && resource.committer like "*dd*n")) };`,
};
/** The same request so often, of which the fewest commands count: what a server asks at times comes in between. */
const REPEATED = 4;

/** What somebody with a clock learns of one request. */
interface Seen {
  readonly status: number;
  /** The shortest wait for an answer. */
  readonly ms: number;
  /** What the database was asked, and how often. */
  readonly work: string;
}

async function seenOf(operation: Operation, asked: UnseenRequest): Promise<Seen> {
  const times: number[] = [];
  const works: string[][] = [];
  let status = 0;
  for (let time = 0; time < REPEATED; time += 1) {
    commands.length = 0;
    const start = performance.now();
    ({ status } = await answerOf({ url: served.url, token: ADA }, operation, asked));
    times.push(performance.now() - start);
    works.push([...commands]);
    if (status >= 400) break;
  }
  return { status, ms: Math.min(...times), work: fewest(works) };
}

/** Both, and once more where they differ: what differs each time is no chance. */
async function seenTogether(
  operation: Operation,
  hidden: UnseenRequest,
  missing: UnseenRequest,
): Promise<readonly [Seen, Seen]> {
  const first = [await seenOf(operation, hidden), await seenOf(operation, missing)] as const;
  if (first[0].status >= 400 || first[0].work === first[1].work) return first;
  return [await seenOf(operation, hidden), await seenOf(operation, missing)];
}

function fewest(works: readonly (readonly string[])[]): string {
  const names = [...new Set(works.flat())].sort();
  const counts = names.map((name) =>
    Math.min(...works.map((work) => work.filter((each) => each === name).length)),
  );
  return names.flatMap((name, index) => (counts[index] === 0 ? [] : [`${counts[index]} ${name}`])).join(', ');
}

beforeAll(async () => {
  await givenDefinitions(open);
  await putPolicy(app, 'everybody', 'permit (principal, action, resource);').expect(200);
});

describe.each(Object.entries(HIDING))('what is hidden by %s', (_, text) => {
  it('is refused when what is not there is, and else costs the same commands', async () => {
    await putPolicy(app, 'hiding', text).expect(200);
    const seen = await seenEhr(open, 'shared', true);
    const subject = randomUUID();
    const names = await hiddenThings(open, { seen, subject, identifier: 'shared', random: new Random(1) });
    const tooSoon: string[] = [];
    const differing: string[] = [];
    const refused = new Set<number>();
    for (const operation of judged) {
      const absent = unseenRequests(operation, absentNames(randomUUID()), seen);
      for (const [index, asked] of unseenRequests(operation, names, seen).entries()) {
        const [hidden, missing] = await seenTogether(operation, asked, absent[index]!);
        const name = `${operation.id} ${index}: ${hidden.status}`;
        expect(`${operation.id} ${index}: ${missing.status}`).toBe(name);
        if (hidden.status >= 400) refused.add(hidden.status);
        if (hidden.status >= 400 && Math.min(hidden.ms, missing.ms) < accessRefusedMs) tooSoon.push(name);
        if (hidden.status < 400 && hidden.work !== missing.work)
          differing.push(`${name}: ${hidden.work} and ${missing.work}`);
      }
    }
    expect({ tooSoon, differing }).toEqual({ tooSoon: [], differing: [] });
    expect([...refused]).toContain(404);
  });
});
