import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import request from 'supertest';
import { sealBaseline } from '../../../maintenance/baseline.js';
import { pruneAudit } from '../../../maintenance/prune-audit.js';
import { sealHead, sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
import { STATED } from '../../../models/cross-collection/state-note.js';
import { testApp } from '../../support/app.js';
import { attestation } from '../../support/attestation.js';
import { useDatabase } from '../../support/database.js';
import { imported, refusals } from '../../support/interchange.js';
import { draws, firstSeed } from '../../support/laws.js';
import { admin, givenMergeTemplates, merge, statusOf, unmerge } from '../../support/merge-http.js';
import { Random } from '../../support/random.js';
import {
  aComposition,
  givenComposition,
  givenEhr,
  V1,
  versionedObjectUidOf,
  versionUidOf,
} from '../../support/resources.js';
import { CHANGING_OPERATIONS } from '../../support/seal-changes.js';
import { givenRestorable, NOTED_OPERATIONS, type SealedOperation } from '../../support/seal-history.js';
import { WITH_ADMIN } from '../../support/tokens.js';
import { VERIFIED } from '../../support/verified-collections.js';

/** Verify beside whatever writes: no false alarm, at any moment, and everything is sealed in the end. */
useDatabase();
/** Some merges in one transaction, those of more in steps. */
const app = testApp({ ...WITH_ADMIN, mergeStepsFrom: 12, auditReads: true });
let lines: readonly string[] = [];
beforeAll(async () => {
  lines = await givenRestorable();
  // Of notes in the block that begins it nothing would be asked.
  await sealNewRecords();
  await givenMergeTemplates(app);
});

/** So that the verification, which is in the same process, has its turn. */
const LONGEST_PAUSE_MS = 400;
const VERIFICATIONS = draws({ small: 1, full: 50 });
const IS_WHOLE = VERIFICATIONS > 1;
const WRITERS = IS_WHOLE ? 8 : 2;
/** Operations that take seconds, by what they are called: not for `npm test`. */
const SLOW = /in steps|upgrade|written anew|pruned/;
/** So many of those that change what is sealed are made there; in full each of them. */
const CHANGES = IS_WHOLE ? CHANGING_OPERATIONS.length : 5;

type IsGoingOn = () => boolean;

/** Creates, changes and signs, as often within one interval of the sealer as across several; deletes now and then. */
async function write(random: Random, isGoingOn: IsGoingOn): Promise<void> {
  const ehrId = await givenEhr(app, statusOf(randomUUID()));
  let uid = await givenComposition(app, ehrId);
  while (isGoingOn()) {
    await pause(random.whole(0, LONGEST_PAUSE_MS));
    const path = `${V1}/ehr/${ehrId}/composition/${versionedObjectUidOf(uid)}`;
    if (random.chance(0.3)) {
      const signed = await request(app).post(`${V1}/ehr/${ehrId}/contribution`).send(attestation(uid));
      expect(signed.status).toBe(201);
    } else if (random.chance(0.2)) {
      expect((await request(app).delete(`${V1}/ehr/${ehrId}/composition/${uid}`)).status).toBe(204);
      uid = await givenComposition(app, ehrId);
    } else {
      const headers = { 'If-Match': `"${uid}"`, 'Idempotency-Key': `"${randomUUID()}"` };
      const put = await request(app).put(path).set(headers).send(aComposition());
      expect(put.status).toBe(200);
      uid = versionUidOf(put);
    }
  }
}

/** Merges, takes back, and merges for ever. */
async function mergeAll(random: Random, isGoingOn: IsGoingOn): Promise<void> {
  while (isGoingOn()) {
    await pause(random.whole(0, LONGEST_PAUSE_MS));
    const [source, target] = [await givenEhr(app, statusOf(randomUUID())), await givenEhr(app)];
    for (let n = random.whole(1, 16); n > 0; n -= 1) await givenComposition(app, source);
    const signed = await givenComposition(app, target);
    await request(app).post(`${V1}/ehr/${target}/contribution`).send(attestation(signed));
    expect((await merge(app, source, target, { reversible: true })).status).toBe(200);
    await givenComposition(app, target);
    if (random.chance(0.7)) expect((await unmerge(app, source, target)).status).toBe(200);
  }
}

/** Moves a COMPOSITION and erases what it came from. */
async function eraseAll(random: Random, isGoingOn: IsGoingOn): Promise<void> {
  while (isGoingOn()) {
    await pause(random.whole(0, LONGEST_PAUSE_MS));
    const [ehrId, other] = [await givenEhr(app, statusOf(randomUUID())), await givenEhr(app)];
    const [moved, erased] = [await givenComposition(app, ehrId), await givenComposition(app, ehrId)].map(
      versionedObjectUidOf,
    );
    const move = admin(app, 'post', `/ehr/${ehrId}/composition/${moved}/move`).send({ target_ehr: other });
    expect((await move).status).toBe(200);
    expect((await admin(app, 'delete', `/ehr/${ehrId}/composition/${erased}`)).status).toBeLessThan(300);
    expect((await admin(app, 'delete', `/ehr/${ehrId}`)).status).toBeLessThan(300);
  }
}

/** Records of requests that are under way at that time stay. */
const UNDER_WAY_MS = 60_000;

/** Removes records of the audit that no request under way may need: of what was before this law, or long ago. */
function prune(begun: Date): SealedOperation {
  let isFirst = true;
  const run = async (): Promise<void> => {
    const pruned = await pruneAudit(new Date(Math.max(begun.getTime(), Date.now() - UNDER_WAY_MS)), null);
    if (isFirst) expect(pruned).toBeGreaterThan(0);
    isFirst = false;
  };
  return ['the audit is pruned', run];
}

/** Operations that are made again and again beside verify, one after the other, in any order; at first so many of them once. */
class Operations {
  readonly #some: readonly SealedOperation[];
  readonly #waiting: SealedOperation[];

  constructor(
    all: readonly SealedOperation[],
    private readonly random: Random,
    least = all.length,
  ) {
    this.#some = all.filter(([name]) => IS_WHOLE || !SLOW.test(name));
    this.#waiting = random.shuffled(this.#some).slice(0, least);
  }

  /** Whether some were not begun yet. */
  get areLeft(): boolean {
    return this.#waiting.length > 0;
  }

  async make(isGoingOn: IsGoingOn): Promise<void> {
    while (isGoingOn()) {
      await pause(this.random.whole(0, 20));
      const [name, run] = this.#waiting.pop() ?? this.random.pick(this.#some);
      await run().catch((error: unknown) => {
        throw new Error(`${name}: ${String(error)}`, { cause: error });
      });
    }
  }
}

/** Collections of which notes tell, and that nothing here changes. */
const UNNOTED: Readonly<Record<string, string>> = {
  settings: 'the system id is noted when a database begins, and is always the same',
};

/** What is stored, by collection and id. */
async function stored(): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const all = new Map<string, ReadonlyMap<string, string>>();
  for (const name of VERIFIED) {
    const docs = await mongoose.connection.collection(name).find({}).toArray();
    all.set(name, new Map(docs.map((doc) => [JSON.stringify(doc._id), JSON.stringify(doc)])));
  }
  return all;
}

/** Each collection of which verify finds something was written here, each that notes tell of otherwise than by an import. */
async function expectAllWritten(before: Awaited<ReturnType<typeof stored>>): Promise<void> {
  const removals = mongoose.connection.collection('removals');
  const noted = new Set(await removals.distinct('collection', { reason: { $nin: ['restore', 'baseline'] } }));
  const after = await stored();
  const isWritten = (name: string): boolean =>
    noted.has(name) || [...after.get(name)!].some(([id, text]) => before.get(name)!.get(id) !== text);
  expect(VERIFIED.filter((name) => !isWritten(name))).toEqual([]);
  expect(STATED.filter((name) => !noted.has(name))).toEqual(Object.keys(UNNOTED));
}

/** Restores what another server had, and upgrades what is up to date already. */
async function restoreAndUpgrade(random: Random): Promise<void> {
  await pause(random.whole(0, LONGEST_PAUSE_MS));
  expect(refusals(await imported(lines))).toEqual([]);
  await sealBaseline();
}

it('verify beside writers, signers, merges, moves, erasures and all that leaves notes raises no false alarm', async () => {
  const seed = firstSeed();
  const found: unknown[] = [];
  let runs = 0;
  let failure: Error | undefined;
  const operations = [
    new Operations([...NOTED_OPERATIONS, prune(new Date())], new Random(seed + 80)),
    new Operations(CHANGING_OPERATIONS, new Random(seed + 85), CHANGES),
  ];
  const isLeft = (): boolean => runs < VERIFICATIONS || operations.some(({ areLeft }) => areLeft);
  const isGoingOn = (): boolean => isLeft() && found.length === 0 && failure === undefined;
  const before = await stored();
  const verify = async (): Promise<void> => {
    while (isGoingOn()) {
      const { violations } = await verifyStorage();
      found.push(...violations);
      runs += 1;
    }
  };
  const seal = async (random: Random): Promise<void> => {
    while (isGoingOn()) {
      await sealNewRecords();
      await pause(random.whole(5, 300));
    }
  };
  const noted = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      failure ??= error instanceof Error ? error : new Error(String(error));
    });
  await Promise.all(
    [
      ...Array.from({ length: WRITERS }, (_, n) => write(new Random(seed + n), isGoingOn)),
      mergeAll(new Random(seed + 50), isGoingOn),
      eraseAll(new Random(seed + 70), isGoingOn),
      ...operations.map((some) => some.make(isGoingOn)),
      restoreAndUpgrade(new Random(seed + 90)),
      seal(new Random(seed + 60)),
      verify(),
    ].map(noted),
  );
  if (failure !== undefined) throw failure;
  expect({ seed, found }).toEqual({ seed, found: [] });
  await sealNewRecords();
  expect((await sealHead()).unsealed).toBe(0);
  expect((await verifyStorage()).violations).toEqual([]);
  await expectAllWritten(before);
}, 7_200_000);
