import { activeEhrNamed, activeEhrsIdentified, type ListedEhr } from '../../models/ehr-identity.js';
import type { Condition } from '../../policy/condition.js';
import { CdrError } from '../../openehr/base/errors.js';
import { inSteps } from '../../models/access/in-steps.js';
import { viewing, type Viewer } from './viewer.js';

/** EHRs with one identifier that are looked at for who sees only some, and how many at once. */
const LOOKED_AT = 1_000;
const AT_ONCE = 20;

/** EHRs that one patient may have: records of whom nobody has merged yet. An emergency is for one patient. */
const MOST_OF_ONE = 5;

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
 * Active EHRs with this id, id of the subject or identifier that are there for somebody, ascending by id; of more than `most` any. One
 * whose EHR_STATUS is hidden from him is found by its id alone.
 * @throws invalid in an emergency for a name that says of nobody who he is
 */
export async function ehrsShownNamed(viewer: Viewer, name: string, most: number): Promise<ShownEhr[]> {
  const found = await ehrsNamed(viewer, name, { seen: await viewer.namedEhrs(), most });
  if (viewer.isEmergency) requireOnePatient(found);
  const inEmergency = await viewer.ehrsInEmergency();
  if (inEmergency !== null && (await namesMore(name, { found, inEmergency }))) viewer.withheld();
  return found;
}

function requireOnePatient({ length }: readonly ShownEhr[]): void {
  if (length <= MOST_OF_ONE) return;
  const message = `more than ${MOST_OF_ONE} records have this identifier: emergency access is for one, look for it by another`;
  throw new CdrError('invalid', message);
}

async function ehrsNamed(
  viewer: Viewer,
  name: string,
  { seen, most }: { readonly seen: Condition; readonly most: number },
): Promise<ShownEhr[]> {
  const byId = await shownTo(viewer, await activeEhrNamed(name, seen));
  const found = new Map(byId.map((ehr) => [ehr._id, ehr]));
  const identified = await activeEhrsIdentified(name, LOOKED_AT, seen);
  for (const part of inSteps(identified, AT_ONCE)) {
    if (found.size >= most) break;
    const shown = await shownTo(viewer, part);
    for (const ehr of shown) if (ehr.is_queryable !== undefined) found.set(ehr._id, ehr);
  }
  return [...found.values()].sort((a, b) => (a._id < b._id ? -1 : 1)).slice(0, most);
}

/** Whether more EHRs would be there for who breaks the glass than were found. */
async function namesMore(
  name: string,
  { found, inEmergency }: { readonly found: readonly ShownEhr[]; readonly inEmergency: Condition },
): Promise<boolean> {
  const known = new Set(found.map(({ _id }) => _id));
  const named = [
    ...(await activeEhrNamed(name, inEmergency)),
    ...(await activeEhrsIdentified(name, LOOKED_AT, inEmergency)),
  ];
  return named.some(({ _id }) => !known.has(_id));
}
