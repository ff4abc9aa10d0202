import {
  activeEhrNamed,
  activeEhrsAfter,
  activeEhrsIdentified,
  identifiedInParts,
  type ListedEhr,
} from '../../models/ehr-identity.js';
import { CdrError } from '../../openehr/base/errors.js';
import { inSteps } from '../../models/access/in-steps.js';
import type { SeenEhrs } from './seen-ehrs.js';
import { viewing, type Viewer } from './viewer.js';

/** EHRs with one identifier that are looked at for who sees only some, and how many at once. */
const LOOKED_AT = 1_000;
const AT_ONCE = 20;

/** EHRs that one patient may have: records of whom nobody has merged yet. An emergency is for one patient. */
const MOST_OF_ONE = 5;

/** EHRs that are read together where it is seen then which of them are there for him. */
const PART = 500;

/** What a list says of an EHR: to whom its EHR_STATUS is hidden nothing that only that says. */
export type ShownEhr = Pick<ListedEhr, '_id' | 'time_created'> & Partial<ListedEhr>;

/** EHRs, which who asks may see, as a list shows them to him. */
export async function shownEhrs(ehrs: readonly ListedEhr[]): Promise<readonly ShownEhr[]> {
  const viewer = viewing.getStore()?.viewer;
  return viewer === undefined ? ehrs : shownTo(viewer, ehrs);
}

async function shownTo(viewer: Viewer, ehrs: readonly ListedEhr[]): Promise<ShownEhr[]> {
  const shown: ShownEhr[] = [];
  for (const part of inSteps(ehrs, AT_ONCE))
    shown.push(
      ...(await Promise.all(
        part.map(async (ehr) =>
          (await viewer.seesStatus(ehr._id)) ? ehr : { _id: ehr._id, time_created: ehr.time_created },
        ),
      )),
    );
  return shown;
}

/**
 * Active EHRs after an id that are there for somebody, ascending, at most `count`. However many EHRs have tags and marks: where they are too
 * many to be named, one part after the other is read and looked at.
 */
export async function ehrsSeenAfter(
  { candidates, among }: SeenEhrs,
  ehrId: string,
  count: number,
): Promise<ListedEhr[]> {
  const seen: ListedEhr[] = [];
  let size = count;
  for (let after = ehrId; ;) {
    const found = await activeEhrsAfter(after, size, candidates);
    seen.push(...(await among(found)));
    const last = found.at(-1);
    if (last === undefined || found.length < size || seen.length >= count) return seen.slice(0, count);
    after = last._id;
    size = Math.max(count, PART);
  }
}

/**
 * Active EHRs with this id, id of the subject or identifier that are there for somebody, ascending by id; of more than `most` any. One
 * whose EHR_STATUS is hidden from him is found by its id alone.
 * @throws invalid in an emergency for a name that says of nobody who he is
 */
export async function ehrsShownNamed(viewer: Viewer, name: string, most: number): Promise<ShownEhr[]> {
  const seen = (isNamed: boolean): Promise<SeenEhrs> => viewer.namedEhrs(isNamed);
  const found = await ehrsNamed(viewer, { name, seen }, most);
  if (viewer.isEmergency) requireOnePatient(found);
  const inEmergency = await viewer.ehrsInEmergency(false);
  if (inEmergency !== null) {
    const known = new Set(found.map(({ _id }) => _id));
    const wider = async (isNamed: boolean): Promise<SeenEhrs> =>
      (await viewer.ehrsInEmergency(isNamed)) ?? inEmergency;
    const named = [...(await seenNamed(name, inEmergency)), ...(await identifiedSeen(name, wider))];
    if (named.some(({ _id }) => !known.has(_id))) viewer.withheld();
  }
  return found;
}

function requireOnePatient({ length }: readonly ShownEhr[]): void {
  if (length <= MOST_OF_ONE) return;
  const message = `more than ${MOST_OF_ONE} records have this identifier: emergency access is for one, look for it by another`;
  throw new CdrError('invalid', message);
}

/** A name, and what is there of the EHRs that have it. */
interface Named {
  readonly name: string;
  readonly seen: (isNamed: boolean) => Promise<SeenEhrs>;
}

async function ehrsNamed(viewer: Viewer, { name, seen }: Named, most: number): Promise<ShownEhr[]> {
  const byId = await shownTo(viewer, await seenNamed(name, await seen(false)));
  const found = new Map(byId.map((ehr) => [ehr._id, ehr]));
  const identified = await identifiedSeen(name, seen);
  for (const part of inSteps(identified, AT_ONCE)) {
    if (found.size >= most) break;
    const shown = await shownTo(viewer, part);
    for (const ehr of shown) if (ehr.is_queryable !== undefined) found.set(ehr._id, ehr);
  }
  return [...found.values()].sort((a, b) => (a._id < b._id ? -1 : 1)).slice(0, most);
}

async function seenNamed(name: string, { candidates, among }: SeenEhrs): Promise<readonly ListedEhr[]> {
  return among(await activeEhrNamed(name, candidates));
}

/**
 * Those with this id of the subject or identifier that are there, at most as many as are looked at. Few have one: these are looked at. Of a value
 * that many share those are read whose tags and marks are named, as far as they can be.
 */
async function identifiedSeen(
  name: string,
  seen: (isNamed: boolean) => Promise<SeenEhrs>,
): Promise<readonly ListedEhr[]> {
  const few = await seen(false);
  const found = await activeEhrsIdentified(name, LOOKED_AT, few.candidates);
  if (found.length < LOOKED_AT) return few.among(found);
  const { candidates, among } = await seen(true);
  const there: ListedEhr[] = [];
  for await (const part of identifiedInParts(name, PART, candidates)) {
    there.push(...(await among(part)));
    if (there.length >= LOOKED_AT) break;
  }
  return there.slice(0, LOOKED_AT);
}
