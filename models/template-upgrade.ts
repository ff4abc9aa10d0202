import { trusted } from 'mongoose';
import type { JsonValue } from '../openehr/base/json.js';
import { COLLECTIONS } from './access/layout.js';
import {
  collection,
  date,
  flag,
  number,
  oneOf,
  opaque,
  optional,
  text,
  type DocumentOf,
} from './access/collection.js';
import type { RemoveWrite } from './access/write.js';
import type { RequestIdentity } from './contribution.js';

/**
 * `running`, `undoing`: a process is at it, or was killed; `paused`: until it is resumed; `done`: all data are upgraded that can be;
 * `undone`: what it did was taken back, but for obstacles.
 */
export type UpgradeState = 'running' | 'paused' | 'done' | 'undoing' | 'undone';

/** Where a walk over the COMPOSITIONs of a template stands. */
export interface WalkPosition {
  /** The EHR after which the batch of EHRs began. */
  readonly batch: string;
  /** The last COMPOSITION that is done, and its EHR. */
  readonly ehr: string;
  readonly object: string;
}

const TEMPLATE_UPGRADE = {
  /** UUID. */
  _id: text,
  /** As it is stored. */
  template_id: text,
  /** Digests of the revisions, and their numbers. */
  from: text,
  to: text,
  from_name: text,
  to_name: text,
  rules: opaque<JsonValue>(),
  /** Whether what is valid as it is gets a new VERSION too. */
  rewrite: flag,
  state: oneOf<UpgradeState>(),
  /** Why it stopped by itself. */
  reason: optional(text),
  started_at: date,
  started_by: text,
  /** The requests that began it, and its undo: the CONTRIBUTIONs of both are theirs, and known by it. */
  begun_by: opaque<RequestIdentity>(),
  undone_by: optional(opaque<RequestIdentity>()),
  /** Who commits what its undo writes; absent: it was not begun, or before this was noted. */
  undo_started_by: optional(text),
  finished_at: optional(date),
  position: opaque<WalkPosition>(),
  /** VERSIONs that were written. */
  upgraded: number,
  undone: number,
  /** COMPOSITIONs that were left. */
  left: number,
};

const LEFT = {
  /** `<upgrade> <object id>`. */
  _id: text,
  upgrade: text,
  ehr_id: text,
  object_id: text,
  /** Of the VERSION that was looked at. */
  uid: text,
  reason: text,
};

/** A COMPOSITION that an upgrade left as it is, and why. */
export type LeftComposition = Pick<DocumentOf<typeof LEFT>, 'ehr_id' | 'object_id' | 'uid' | 'reason'>;

declare module './access/write.js' {
  interface Documents {
    readonly [COLLECTIONS.templateUpgradeLeft]: DocumentOf<typeof LEFT>;
  }
}

/** An upgrade of the data of a template. Fields: docs/spec/storage.md#other-collections. */
export type TemplateUpgradeDoc = DocumentOf<typeof TEMPLATE_UPGRADE>;

const TemplateUpgrade = collection(COLLECTIONS.templateUpgrades, TEMPLATE_UPGRADE);
const Left = collection(COLLECTIONS.templateUpgradeLeft, LEFT);

/** So many of what was left are kept. */
const MAX_LEFT = 1_000;

/** The beginning of a walk. */
export const WALK_BEGIN: WalkPosition = { batch: '', ehr: '', object: '' };

const OPEN: readonly UpgradeState[] = ['running', 'paused', 'undoing'];
const AT_WORK: readonly UpgradeState[] = ['running', 'undoing'];

/** Notes an upgrade that begins. */
export async function insertUpgrade(doc: TemplateUpgradeDoc): Promise<void> {
  await TemplateUpgrade.create([doc]);
}

/** An upgrade, null when there is none with the id. */
export function upgradeById(id: string): Promise<TemplateUpgradeDoc | null> {
  return TemplateUpgrade.findOne({ _id: id }).exec();
}

/** An upgrade of a template, other than this one, that is not done; null when there is none. Joins the caller's transaction. */
export function openUpgrade(storedId: string, butThis: string): Promise<TemplateUpgradeDoc | null> {
  return TemplateUpgrade.findOne({
    _id: trusted({ $ne: butThis }),
    template_id: storedId,
    state: trusted({ $in: OPEN }),
  }).exec();
}

/** The upgrades of a template, newest first. */
export function upgradesOf(templateIds: readonly string[]): Promise<TemplateUpgradeDoc[]> {
  return TemplateUpgrade.find({ template_id: trusted({ $in: [...templateIds] }) })
    .sort({ started_at: -1 })
    .limit(MAX_LISTED)
    .exec();
}

const MAX_LISTED = 100;

/** Ids of the requests that began upgrades, or took them back: what these wrote is known by it. Joins the caller's transaction. */
export async function upgradeRequests(): Promise<ReadonlySet<string>> {
  const found = await TemplateUpgrade.find({}, { begun_by: 1, undone_by: 1 }).exec();
  return new Set(
    found.flatMap(({ begun_by: begun, undone_by: undone }) => [
      begun.request_id,
      ...(undone === undefined ? [] : [undone.request_id]),
    ]),
  );
}

/** All upgrades that a process is at, or was. */
export function upgradesAtWork(): Promise<TemplateUpgradeDoc[]> {
  return TemplateUpgrade.find({ state: trusted({ $in: AT_WORK }) }).exec();
}

/** Changes the state where it is one of these. False: it is another one. */
export async function changeState(
  id: string,
  from: readonly UpgradeState[],
  change: Partial<
    Pick<
      TemplateUpgradeDoc,
      'state' | 'reason' | 'finished_at' | 'position' | 'left' | 'undone_by' | 'undo_started_by'
    >
  >,
): Promise<boolean> {
  const { modifiedCount } = await TemplateUpgrade.updateOne(
    { _id: id, state: trusted({ $in: from }) },
    { $set: change },
  ).exec();
  return modifiedCount === 1;
}

/** What one step did. */
interface UpgradeStep {
  /** Absent: it is not done yet. */
  readonly position?: WalkPosition;
  readonly upgraded?: number;
  readonly undone?: number;
  readonly left?: readonly LeftComposition[];
}

/**
 * Notes how far an upgrade is, in the transaction that took it there, which is to be ended where this gives false: then its state is
 * none of these any more, and what it did is not wanted.
 */
export async function noteStep(
  id: string,
  from: readonly UpgradeState[],
  { position, upgraded = 0, undone = 0, left = [] }: UpgradeStep,
): Promise<boolean> {
  const fresh = left.length === 0 ? 0 : await keepLeft(id, left);
  const { matchedCount } = await TemplateUpgrade.updateOne(
    { _id: id, state: trusted({ $in: from }) },
    { ...(position !== undefined && { $set: { position } }), $inc: { upgraded, undone, left: fresh } },
  ).exec();
  return matchedCount === 1;
}

/** Keeps what a step left. Gives how many of them were not met before: what a merge takes to an EHR whose turn is later is met again. */
async function keepLeft(id: string, left: readonly LeftComposition[]): Promise<number> {
  const before = await TemplateUpgrade.findOne({ _id: id }, { left: 1 }).exec();
  const docs = left.map((each) => ({ ...each, _id: `${id} ${each.object_id}`, upgrade: id }));
  const met = await Left.find({ _id: trusted({ $in: docs.map(({ _id }) => _id) }) }, { _id: 1 }).exec();
  const known = new Set(met.map(({ _id }) => _id));
  const fresh = docs.filter(({ _id }) => !known.has(_id));
  const kept = fresh.slice(0, Math.max(0, MAX_LEFT - (before?.left ?? 0)));
  if (kept.length > 0) await Left.insertMany(kept);
  return fresh.length;
}

/** The first of what an upgrade left, by EHR. */
export function leftOf(id: string): Promise<LeftComposition[]> {
  return Left.find({ upgrade: id }).sort({ ehr_id: 1, _id: 1 }).limit(MAX_LEFT).exec();
}

/** Forgets what an upgrade left, before it is taken back. */
export async function forgetLeft(id: string): Promise<void> {
  await Left.deleteMany({ upgrade: id }).exec();
}

/** The writes that forget what upgrades left in EHRs that are erased. */
export function leftRemoval(ehrIds: readonly string[]): RemoveWrite<'template_upgrade_left'> {
  return { collection: COLLECTIONS.templateUpgradeLeft, remove: { ehr_id: { $in: ehrIds } } };
}

/** The same of one COMPOSITION that is erased. */
export function leftRemovalOf(objectId: string): RemoveWrite<'template_upgrade_left'> {
  return { collection: COLLECTIONS.templateUpgradeLeft, remove: { object_id: objectId } };
}
