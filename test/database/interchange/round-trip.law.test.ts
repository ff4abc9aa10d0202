import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { testApp } from '../../support/app.js';
import { attestation } from '../../support/attestation.js';
import { useDatabase } from '../../support/database.js';
import { emptied, exported, imported, refusals } from '../../support/interchange.js';
import { draws, seeds } from '../../support/laws.js';
import {
  admin,
  folder,
  givenDirectory,
  givenMergeTemplates,
  merge,
  statusOf,
} from '../../support/merge-http.js';
import { GroupWriter } from '../../support/merge/group-writer.js';
import { Script } from '../../support/merge/replay-script.js';
import { Random } from '../../support/random.js';
import { givenComposition, givenEhr, V1 } from '../../support/resources.js';
import { testSettings } from '../../support/settings.js';
import { WITH_ADMIN } from '../../support/tokens.js';

const SIZES = { small: 1, full: 300 };
/** Scripts of merges, and steps of a writer that moves and erases too, in each store. */
const SCRIPTS = 3;
const STEPS = 25;

useDatabase();
const app = testApp({ ...WITH_ADMIN, signing: 'digest' });
beforeAll(async () => {
  await emptied();
});

/** A store after random writes, merges, moves, erasures, signatures and undos. */
async function givenStore(seed: number): Promise<void> {
  await emptied();
  await givenMergeTemplates(app);
  const random = new Random(seed);
  await request(app)
    .put(`${V1}/definition/query/org.example::all/1.${seed % 7}.0`)
    .set('Content-Type', 'text/plain')
    .send('SELECT e FROM EHR e');
  for (let script = 0; script < SCRIPTS; script += 1) await new Script(seed * SCRIPTS + script, app).run();
  const writer = await GroupWriter.given(app, random, { source: 4, target: 5, third: 2 });
  for (let step = 0; step < STEPS; step += 1) await writer.step();
  const ehrs = await Promise.all([1, 2, 3].map((name) => givenEhr(app, statusOf(`${seed} ${name}`))));
  for (const one of ehrs) await givenComposition(app, one);
  await givenDirectory(app, ehrs[0]!, folder('root', [], [folder('inner')]));
  // A merge that can be taken back, into one that is final, and one into which both went.
  const chain = [
    [ehrs[0]!, ehrs[1]!, { folder_merge: 'COPY' }],
    [ehrs[1]!, ehrs[2]!, { reversible: false }],
  ] as const;
  for (const [from, to, how] of chain) expect((await merge(app, from, to, how)).status).toBe(200);
  const ehrId = writer.ehrOf('source');
  await admin(app, 'put', `/ehr/${ehrId}/distinct/${ehrs[2]!}`).send({ reason: 'twins' });
  const uid = await givenComposition(app, ehrId);
  await request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(attestation(uid));
}

/** Where an import may stop: not before an EHR has each EHR_STATUS. */
function wholeAt(lines: readonly string[], at: number): number {
  const isBegin = (line: string): boolean => line.startsWith('{"kind":"ehr"');
  const end = lines.findIndex((line, index) => index >= at && isBegin(line));
  const status = lines
    .slice(0, end < 0 ? lines.length : end)
    .findLastIndex((line) => isBegin(line) || line.includes('"type":"EHR_STATUS","version"'));
  return Math.max(at, status + 1);
}

it(`a store that was exported, imported and exported again gives the same bytes, and is sound (${draws(SIZES)} stores)`, async () => {
  for (const seed of seeds(SIZES)) {
    await givenStore(seed);
    expect((await verifyStorage()).violations).toEqual([]);
    const before = await exported();
    await emptied(seed % 2 === 0 ? 'another.system' : testSettings().systemId);
    const random = new Random(seed);
    // Cut anywhere: an import may be stopped, and what it had done is there when it is repeated.
    const cut = random.below(before.length);
    const how = { parallel: random.whole(1, 4), linesAtOnce: random.pick([1, 3, 40, 1_000]) };
    const first = await imported(before.slice(0, wholeAt(before, cut)), how);
    expect([seed, ...refusals(first)]).toEqual([seed]);
    const again = await imported(before, how);
    expect([seed, ...refusals(again)]).toEqual([seed]);
    const after = await exported(undefined, random.pick([0, 1_000_000]));
    expect({ seed, differing: before.filter((line, index) => line !== after[index]).slice(0, 3) }).toEqual({
      seed,
      differing: [],
    });
    expect(after).toHaveLength(before.length);
    await sealNewRecords();
    expect({ seed, violations: (await verifyStorage()).violations }).toEqual({ seed, violations: [] });
  }
}, 14_400_000);
