import { CdrError } from '../../openehr/base/errors.js';
import { flagsOf } from '../../change/commit/ehr-flags.js';
import type { EhrFlags } from '../../change/commit/draft.js';
import { setQueryable } from '../../models/aql-document.js';
import { contributionInsert, type ContributionDoc } from '../../models/contribution.js';
import { sealMarks, leafOf } from '../../models/cross-collection/seal-record.js';
import { ehrInsert, ehrsSharing, holdEhr, subjectDropped, type EhrDoc } from '../../models/ehr.js';
import { removalWrites } from '../../models/removal.js';
import { containerInsert } from '../../models/versioned-object.js';
import type { Write } from '../../models/access/write.js';
import { Chains, type Chain } from './chain.js';
import type { RestoredEhr } from './line.js';
import type { EhrPart, RestoreHow, RestorePlan, RestoreState, Tombstone } from './part.js';
import { chainWrites } from './plan-chain.js';
import {
  contributionIsThere,
  laterAttestations,
  requireEhr,
  requireUndone,
  tombstoneIsThere,
} from './same.js';
import { tagWrites } from './plan-tags.js';

/**
 * Works out a part against the state of the database. Pure: neither clock nor database.
 * @throws invalid for what contradicts itself, conflict for what contradicts the state; docs/spec/interchange.md#what-is-refused
 */
export function planPart(part: EhrPart, state: RestoreState, how: RestoreHow): RestorePlan {
  const ehr = state.ehrs.get(part.ehrId) ?? null;
  requireEhr(part, ehr);
  for (const merge of part.undoneMerges ?? []) requireUndone(merge, state.ehrs);
  const there = new Set<object>(ehr === null || part.ehr === null ? [] : [part.ehr]);
  const isNew = (one: object, isThere: boolean): boolean => {
    if (isThere) there.add(one);
    return !isThere;
  };
  const tombstones = part.tombstones.filter((one) => isNew(one, tombstoneIsThere(one, state.ehrs)));
  const contributions = part.contributions.filter((one) => isNew(one, contributionIsThere(one, state)));
  const { chains, attested } = placeVersions(part, state, there);
  const tags = tagWrites(part, { chains, state, batch: how.batch, there });
  const isSubjectDropped = dropsSubject(part, ehr, state, how);
  const changes = { ehr, chains: chains.changed, contributions, tombstones, isSubjectDropped };
  const isChanged = chains.changed.length + attested.length + tags.writes.length > 0;
  const status = statusOf(changes, part.ehrId, state);
  const content = chainWrites(chains.changed, {
    isQueryable: status?.isQueryable ?? ehr?.is_queryable ?? true,
    leafIndex: how.leafIndex,
  });
  const writes: Write[] = [
    ...ehrWrites(part, { ...changes, status, isChanged: isChanged || contributions.length > 0 }),
    ...tombstones.map((one) => ehrInsert(one.ehr)),
    ...sealedContributions(changes, part, how),
    ...content.writes,
    ...tombstones.flatMap((one) => one.containers.map((container) => containerInsert(container))),
    ...attested,
    ...tags.writes,
    ...queryableWrites(ehr, status),
  ];
  return { writes, shapes: content.shapes, there };
}

interface Changes {
  readonly ehr: EhrDoc | null;
  readonly chains: readonly Chain[];
  readonly contributions: readonly ContributionDoc[];
  readonly tombstones: readonly Tombstone[];
  /** Whether the EHR is to be without the subject that its EHR_STATUS names. */
  readonly isSubjectDropped: boolean;
}

function placeVersions(
  { versions }: EhrPart,
  state: RestoreState,
  there: Set<object>,
): { readonly chains: Chains; readonly attested: readonly Write[] } {
  const chains = new Chains(state.containers);
  const attested: Write[] = [];
  for (const version of versions) {
    const known = state.versions.get(version.doc._id);
    if (known === undefined) {
      chains.place(version);
      continue;
    }
    const later = laterAttestations(version.doc, known);
    if (later.length === 0) there.add(version);
    attested.push(...later);
  }
  return { chains, attested };
}

/** What the latest EHR_STATUS of the part makes of the EHR; null: it has none. @throws invalid, conflict */
function statusOf(
  { ehr, chains, isSubjectDropped }: Changes,
  ehrId: string,
  state: RestoreState,
): EhrFlags | null {
  const [first, ...others] = chains.filter(({ head }) => head.type === 'EHR_STATUS');
  if (others.length > 0) throw new CdrError('invalid', `EHR ${ehrId} has more than one EHR_STATUS`);
  if (first === undefined || first.content === null) {
    if (ehr === null) throw new CdrError('invalid', `EHR ${ehrId} has no EHR_STATUS before what it holds`);
    return null;
  }
  if (ehr !== null && ehr.ehr_status_id !== first.head._id)
    throw new CdrError('conflict', `EHR ${ehrId} has another EHR_STATUS here: ${ehr.ehr_status_id}`);
  const flags = flagsOf(first.head._id, first.content);
  if (isSubjectDropped) return { ...flags, subject: null };
  if (isTaken(state, ehrId))
    throw new CdrError(
      'conflict',
      `the subject of EHR ${ehrId} is that of EHR ${state.subjectHolder ?? ''} here`,
    );
  return flags;
}

/** Whether another EHR has the subject. */
function isTaken({ subjectHolder }: RestoreState, ehrId: string): boolean {
  return subjectHolder !== null && subjectHolder !== ehrId;
}

/** Whether the EHR does without its subject, as it did where it was exported, or since another one here has it. */
function dropsSubject(
  { ehrId, ehr: restored }: EhrPart,
  ehr: EhrDoc | null,
  state: RestoreState,
  { dropsSubjects = false }: RestoreHow,
): boolean {
  if (ehr !== null && ehr.subject_dropped === true && ehr.subject === undefined) return true;
  return (ehr === null && restored?.subject_dropped === true) || (dropsSubjects && isTaken(state, ehrId));
}

/** Container of the live directory once the part is there. @throws conflict for a second one */
function directoryOf({ ehr, chains }: Changes, ehrId: string): string | null {
  const directories = chains.map(({ head }) => head).filter(({ type }) => type === 'FOLDER');
  const before = ehr?.directory_id ?? null;
  const isEnded = directories.some(({ _id, deleted }) => deleted && _id === before);
  const live = [
    ...new Set([
      ...(before === null || isEnded ? [] : [before]),
      ...directories.filter(({ deleted }) => !deleted).map(({ _id }) => _id),
    ]),
  ];
  if (live.length > 1)
    throw new CdrError('conflict', `EHR ${ehrId} has a directory here already: ${before ?? ''}`);
  return live[0] ?? null;
}

function ehrWrites(
  { ehrId, ehr: restored }: EhrPart,
  changes: Changes & { readonly status: EhrFlags | null; readonly isChanged: boolean },
): Write[] {
  const { ehr, status, isChanged } = changes;
  const directoryId = directoryOf(changes, ehrId);
  if (ehr === null) return [ehrInsert(newEhr(restored, changes, directoryId))];
  if (!isChanged) return [];
  const expected = { ehrId, isQueryable: ehr.is_queryable, needsModifiable: false };
  const isSame = directoryId === (ehr.directory_id ?? null);
  const isMarked = restored?.shares_contributions !== true || ehr.shares_contributions === true;
  return [
    holdEhr(expected, { status: status ?? undefined, directoryId: isSame ? undefined : directoryId }),
    ...(isMarked ? [] : ehrsSharing([ehrId])),
    ...(changes.isSubjectDropped && ehr.subject_dropped !== true ? [subjectDropped(ehrId)] : []),
  ];
}

function newEhr(
  restored: RestoredEhr | null,
  { status, isSubjectDropped }: Pick<Changes, 'isSubjectDropped'> & { readonly status: EhrFlags | null },
  directoryId: string | null,
): EhrDoc {
  if (restored === null || status === null) throw new TypeError('a new EHR needs its EHR_STATUS');
  return {
    ...restored,
    state: 'active',
    write_seq: 1,
    is_queryable: status.isQueryable,
    is_modifiable: status.isModifiable,
    ...(status.subject !== null && { subject: status.subject }),
    ...(isSubjectDropped && { subject_dropped: true as const }),
    identities: status.identities,
    ehr_status_id: status.versionedObjectUid,
    ...(directoryId !== null && { directory_id: directoryId }),
  };
}

/** CONTRIBUTIONs with what the sealer needs, and notes of what none of them holds. */
function sealedContributions(changes: Changes, { ehrId, ehr }: EhrPart, how: RestoreHow): Write[] {
  const { contributions, chains, tombstones } = changes;
  const { batch } = how;
  const made = chains.flatMap(({ versions }) => versions);
  const [first] = contributions;
  const sealedEhr = { ...ehr } as EhrDoc;
  const inserts = contributions.map((one) => {
    const own = made.filter((version) => version.contribution_uid === one._id);
    const isCreation = changes.ehr === null && one === first;
    const contribution = { ...one, batch };
    const leaves = own.map((doc) => leafOf({ collection: 'versions', doc }));
    return contributionInsert({
      ...contribution,
      ...sealMarks(contribution, leaves, isCreation ? sealedEhr : null),
    });
  });
  const held = new Set(contributions.map(({ _id }) => _id));
  const orphans = made.filter((version) => !held.has(version.contribution_uid)).map(({ _id }) => _id);
  const ehrs = tombstones.map((one) => one.ehr._id);
  if (changes.ehr === null && first === undefined) ehrs.push(ehrId);
  const note = { kind: 'brought', reason: 'restore', batch, ehr_id: ehrId } as const;
  return [
    ...inserts,
    ...removalWrites({ ...note, collection: 'versions', ids: orphans }),
    ...removalWrites({ ...note, collection: 'ehrs', ids: ehrs }),
  ];
}

function queryableWrites(ehr: EhrDoc | null, status: EhrFlags | null): Write[] {
  if (ehr === null || status === null || status.isQueryable === ehr.is_queryable) return [];
  return [setQueryable(ehr._id, status.isQueryable)];
}
