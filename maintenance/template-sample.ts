import { randomInt, randomUUID } from 'node:crypto';
import { ehrIdsAfter } from '../models/ehr.js';
import { liveCompositionsOf, type VersionedObjectDoc } from '../models/versioned-object.js';
import { WALK_BEGIN } from '../models/template-upgrade.js';
import { storedIds, walkTemplate, type WalkStep } from './template-walk.js';

/** COMPOSITIONs of a sample. */
const SAMPLED = 1_000;
/** EHRs of one draw, and COMPOSITIONs that are taken of them. */
const EHRS = 50;
const TAKEN = 20;
/** Draws one after the other that found nothing new before all is walked over. */
const VAIN_DRAWS = 20;

/**
 * Some of the live COMPOSITIONs of a template, at random: of EHRs behind ids that are drawn; where those have too few, of all EHRs
 * from the first on. `most`: how many there are at most.
 */
export async function* sampleTemplate(storedId: string, most = SAMPLED): AsyncGenerator<WalkStep> {
  const taken = new Set<string>();
  const take = (found: readonly VersionedObjectDoc[], count: number): VersionedObjectDoc[] => {
    const fresh = shuffled(found.filter(({ _id }) => !taken.has(_id)));
    const some = fresh.slice(0, Math.min(count, most - taken.size));
    for (const { _id } of some) taken.add(_id);
    return some;
  };
  for (let vain = 0; vain < VAIN_DRAWS && taken.size < most;) {
    const containers = take(await liveCompositionsOf(await drawnEhrs(), storedIds(storedId)), TAKEN);
    vain = containers.length > 0 ? 0 : vain + 1;
    if (containers.length > 0) yield { containers, position: WALK_BEGIN };
  }
  if (taken.size >= most) return;
  for await (const { containers } of walkTemplate(storedId, WALK_BEGIN)) {
    const left = take(containers, containers.length);
    if (left.length > 0) yield { containers: left, position: WALK_BEGIN };
    if (taken.size >= most) return;
  }
}

/** EHRs behind an id that is drawn; behind the last one the first. */
async function drawnEhrs(): Promise<string[]> {
  const ehrIds = await ehrIdsAfter(randomUUID(), EHRS);
  return ehrIds.length < EHRS ? [...ehrIds, ...(await ehrIdsAfter('', EHRS - ehrIds.length))] : ehrIds;
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((each) => ({ each, rank: randomInt(2 ** 32) }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ each }) => each);
}
