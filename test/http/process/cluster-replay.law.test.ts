import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import mongoose from 'mongoose';
import { connectMongoose } from '../../../database/connect.js';
import { createCollections } from '../../../database/indexes.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { resumeMerges } from '../../../merge/steps.js';
import { COLLECTION_LAYOUT } from '../../../models/access/layout.js';
import { testApp, useServer } from '../../support/app.js';
import { testDatabaseName, testDatabaseUri } from '../../support/database.js';
import { draws, seeds } from '../../support/laws.js';
import { givenMergeTemplates } from '../../support/merge-http.js';
import { Script } from '../../support/merge/replay-script.js';
import { ClusterProxy, randomFaults } from '../../support/process/cluster-proxy.js';
import { Random } from '../../support/random.js';
import { WITH_ADMIN } from '../../support/tokens.js';

/**
 * Undo is replay on a database that fails as a cluster does, too, for a client that does what 503 asks for: it sends the same again
 * with its key. A failure names its seed: `LAW_SEED=<seed>`.
 */
jest.setTimeout(7_200_000);
const SCRIPTS = { small: 1, full: 100 };
const SHARE = 0.03;
/** Of an EHR of a script more than half merge in steps. */
const app = testApp({ ...WITH_ADMIN, mergeStepsFrom: 4 });
const server = useServer(app);
let proxy: ClusterProxy;

beforeAll(async () => {
  proxy = await ClusterProxy.before(testDatabaseUri());
  await connectMongoose(proxy.uri, testDatabaseName());
  await mongoose.connection.dropDatabase();
  await createCollections(COLLECTION_LAYOUT);
  await givenMergeTemplates(app);
});
afterAll(async () => {
  await mongoose.connection.dropDatabase();
  await mongoose.disconnect();
  proxy.close();
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** Tags take no `Idempotency-Key`: who does not know whether the tag is there reads, as the answer says. Its ids. */
async function tagged(url: string, text: string): Promise<string[]> {
  const [{ key }] = JSON.parse(text) as [{ key: string }];
  const found = await fetch(`${server.url}${url}?keys=${encodeURIComponent(key)}`);
  return ((await found.json()) as { id: string }[]).map(({ id }) => id);
}

/** Sends each request on while the database fails; what failed once more while it does not. */
function insistent(random: Random, met: Map<number, number>) {
  const answerOf = async (request: IncomingMessage): Promise<Response> => {
    const { method = 'GET', url = '' } = request;
    const text = await bodyOf(request);
    const headers = new Headers({ 'Idempotency-Key': randomUUID() });
    for (const name of ['content-type', 'authorization', 'if-match', 'accept']) {
      const value = request.headers[name];
      if (typeof value === 'string') headers.set(name, value);
    }
    const send = (): Promise<Response> =>
      fetch(`${server.url}${url}`, { method, headers, ...(text !== '' && { body: text }) });
    proxy.plays = { fault: randomFaults(() => random.next(), SHARE) };
    const first = await send();
    proxy.plays = {};
    met.set(first.status, (met.get(first.status) ?? 0) + 1);
    // What a process under way left is ended by whoever comes, as in a server; also behind a merge that was answered.
    await resumeMerges();
    // Faults may make each attempt of a write a conflict.
    if (first.status !== 503 && first.status !== 409) return first;
    await first.text();
    const ids = url.endsWith('/item_tag') ? await tagged(url, text) : [];
    return ids.length > 0 ? Response.json(ids) : send();
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    void answerOf(request).then(async (answer) => {
      for (const name of ['content-type', 'etag', 'location', 'link']) {
        const value = answer.headers.get(name);
        if (value !== null) response.setHeader(name, value);
      }
      response.writeHead(answer.status).end(await answer.text());
    });
  };
}

it(`after any merges and unmerges among faults every EHR is what the remaining merges alone would give (${draws(SCRIPTS)} scripts)`, async () => {
  const met = new Map<number, number>();
  for (const seed of seeds(SCRIPTS)) {
    const script = new Script(seed, insistent(new Random(seed + 1), met));
    const failure = await script
      .run()
      .then(() => script.expectReplay(app))
      .catch((error: unknown) => String(error));
    expect({ seed, failure, done: script.done }).toEqual({ seed, failure: undefined, done: script.done });
  }
  process.stderr.write(`${JSON.stringify([...met])}\n`);
  expect((await verifyStorage()).violations).toEqual([]);
});
