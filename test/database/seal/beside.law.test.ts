import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { sealBaseline } from '../../../maintenance/baseline.js';
import { pruneAudit } from '../../../maintenance/prune-audit.js';
import { sealHead, sealNewRecords } from '../../../maintenance/seal.js';
import { verifyStorage } from '../../../maintenance/verify.js';
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
import { givenRestorable, NOTED_OPERATIONS } from '../../support/seal-history.js';
import { WITH_ADMIN } from '../../support/tokens.js';

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

const WRITERS = 8;
/** So that the verification, which is in the same process, has its turn. */
const LONGEST_PAUSE_MS = 400;
const VERIFIED = { small: 1, full: 50 };

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
      const put = await request(app).put(path).set('If-Match', `"${uid}"`).send(aComposition());
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

/** Whatever else leaves notes, in any order: policies, marks, templates, queries, moves, merges made final, erasures in steps; prunes the audit. */
async function noteAll(random: Random, isGoingOn: IsGoingOn): Promise<void> {
  while (isGoingOn()) {
    await pause(random.whole(0, LONGEST_PAUSE_MS));
    if (random.chance(0.1)) await pruneAudit(new Date(Date.now() - UNDER_WAY_MS), null);
    else await random.pick(NOTED_OPERATIONS)[1]();
  }
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
  const isGoingOn = (): boolean => runs < draws(VERIFIED) && found.length === 0 && failure === undefined;
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
      noteAll(new Random(seed + 80), isGoingOn),
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
}, 7_200_000);
