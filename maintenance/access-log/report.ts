import { successesAbout } from '../../models/cross-collection/access-records.js';
import { firstPartId, type AuditDoc } from '../../models/audit.js';
import { ownersOf } from '../../models/versioned-object.js';
import { placesOf, type Places } from './places.js';

/** Which part of a report is asked for. */
export interface ReportWanted {
  /** EHR that stands, or that was erased. */
  readonly ehrId: string;
  readonly from: Date | null;
  readonly to: Date | null;
  /** `next` of the page before; null: the first page. */
  readonly after: string | null;
  readonly fetch: number;
}

/** One request that answered or changed something of the person. */
export interface ReportedAccess {
  readonly record: AuditDoc;
  /** true: of an EHR that this one was merged into by mistake, while it was. */
  readonly whileMerged: boolean;
}

/** A page of a report, newest first. */
export interface ReportPage {
  /** The EHR, and those that were merged into it. */
  readonly ehrIds: readonly string[];
  readonly accesses: readonly ReportedAccess[];
  /** null: that was all. */
  readonly next: string | null;
}

/** Records of one page that are looked at: of more the page ends early, and the next one goes on. */
const LOOKED_AT = 5_000;

/** Who saw or changed what of a person, through merges. docs/access-log.md#the-patients-report */
export async function accessReport({ ehrId, from, to, after, fetch }: ReportWanted): Promise<ReportPage> {
  const places = await placesOf(ehrId);
  const spans = [{ ehrIds: places.own, from: null, to: null }, ...places.visited];
  const accesses: ReportedAccess[] = [];
  let last = after;
  for (let looked = 0; ;) {
    const count = fetch - accesses.length;
    const records = await successesAbout(spans, { from, to, before: last, count });
    const known = last === null ? null : firstPartId(last);
    accesses.push(...(await ofThePerson(records, known, places)));
    looked += records.length;
    last = records.at(-1)?._id ?? last;
    if (records.length < count) return { ehrIds: places.own, accesses, next: null };
    if (accesses.length >= fetch || looked >= LOOKED_AT) return { ehrIds: places.own, accesses, next: last };
  }
}

/** Each request once, whichever of its parts name the EHR. `known`: one that the page before has. */
async function ofThePerson(
  records: readonly AuditDoc[],
  known: string | null,
  { own, visited }: Places,
): Promise<ReportedAccess[]> {
  const seen = new Set(known === null ? [] : [known]);
  const once = records.filter(({ _id: id }) => {
    const first = firstPartId(id);
    if (seen.has(first)) return false;
    seen.add(first);
    return true;
  });
  if (visited.length === 0) return once.map((record) => ({ record, whileMerged: false }));
  const owners = await ownersOf([...new Set(once.flatMap(containersOf))]);
  return once.flatMap((record) => {
    if (namedBy(record).some((ehrId) => own.includes(ehrId))) return { record, whileMerged: false };
    const ofWhom = containersOf(record).flatMap((uid) => owners.get(uid) ?? []);
    // What names objects of the other person alone was about her, or him.
    const isOthers = ofWhom.length > 0 && !ofWhom.some((ehrId) => own.includes(ehrId));
    return isOthers ? [] : { record, whileMerged: true };
  });
}

function namedBy({ ehr_id: one, ehr_ids: rows = [], target }: AuditDoc): string[] {
  return [one, target, ...rows].flatMap((id) => id ?? []);
}

function containersOf({ objects = [] }: AuditDoc): string[] {
  return objects.flatMap((uid) => uid.split('::')[0] ?? []);
}
