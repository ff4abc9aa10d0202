import { beforeAll, expect, it } from '@jest/globals';
import { testApp, useServer } from '../../support/app.js';
import { useDatabase } from '../../support/database.js';
import { draws, firstSeed } from '../../support/laws.js';
import { PairReader, type Wrong } from '../../support/merge/pair-reader.js';
import { PairWriter } from '../../support/merge/pair-writer.js';
import { givenMergeTemplates } from '../../support/merge-http.js';
import { Random } from '../../support/random.js';
import { testSettings } from '../../support/settings.js';
import { WITH_ADMIN } from '../../support/tokens.js';

useDatabase();
/** Of the pairs below the first merges in one transaction, the others in steps. */
const settings = { ...WITH_ADMIN, mergeStepsFrom: 25 };
const app = testApp(settings);
const server = useServer(app);
/** Gives streams of more than one command a few EHRs at a time. */
const inParts = useServer(testApp({ ...settings, aql: { ...testSettings().aql, streamHoldMs: 1 } }));
beforeAll(() => givenMergeTemplates(app));

const PAIRS = [
  { source: 4, target: 3 },
  { source: 40, target: 12 },
  // More than one batch of the database.
  { source: 70, target: 80 },
] as const;
const READERS = 12;
const ANSWERS = { small: 40, full: 100_000 };

it('each answer beside changes, merges and their undoing is of one moment', async () => {
  const seed = firstSeed();
  const pairs: PairWriter[] = [];
  for (const [at, counts] of PAIRS.entries())
    pairs.push(await PairWriter.given(app, new Random(seed + at), counts));
  const wrong: Wrong[] = [];
  let answers = 0;
  let steps = 0;
  const isGoingOn = (): boolean => answers < draws(ANSWERS) && wrong.length < 20;
  const write = async (pair: PairWriter): Promise<void> => {
    while (isGoingOn()) {
      await pair.step();
      steps += 1;
    }
  };
  const read = async (number: number): Promise<void> => {
    const pair = pairs[number % pairs.length]!;
    const reader = new PairReader([server.url, inParts.url], new Random(seed + 100 + number), pair);
    while (isGoingOn()) {
      const found = await reader.ask();
      if (found !== null) wrong.push(found);
      answers += 1;
    }
  };
  await Promise.all([...pairs.map(write), ...Array.from({ length: READERS }, (_, number) => read(number))]);
  expect({ seed, wrong }).toEqual({ seed, wrong: [] });
  expect(steps).toBeGreaterThan(pairs.length * 3);
}, 7_200_000);
