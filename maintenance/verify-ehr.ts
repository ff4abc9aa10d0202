import { rootOfUid } from '../openehr/base/object-version-id.js';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { groupBy } from '../openehr/base/maps.js';
import { aqlDocumentsOf, versionedObjectUidsOfAql } from '../models/aql-document.js';
import { missingShapes } from '../models/aql-shape.js';
import { contributionsByUid, contributionsOf, listedUids } from '../models/contribution.js';
import { ehrById, type EhrDoc } from '../models/ehr.js';
import { inSteps } from '../models/access/in-steps.js';
import { isAccessTag } from '../models/access-tag.js';
import { itemTagsOf } from '../models/item-tag.js';
import { sharesContributions } from '../models/merge/history.js';
import { OWNED_COLLECTIONS, ownedCount } from '../models/cross-collection/owned-documents.js';
import { removalsOf } from '../models/removal.js';
import { storedDigests } from '../models/definition/revision-in-use.js';
import { usedTemplateIds } from '../models/definition/template.js';
import { versionedObjectUidsOfVersions, versionsOfContainers, type VersionDoc } from '../models/version.js';
import {
  containersOfEhr,
  endedContainers,
  ownersOf,
  type VersionedObjectDoc,
} from '../models/versioned-object.js';
import { flagsOf } from '../change/commit/ehr-flags.js';
import { checkContainer, parsedContent, type ContainerCheck, type StorageFacts } from './verify-container.js';
import { isRequestIdentity } from '../change/commit/request-identity.js';
import { foundByEveryLook, LOOKS } from './verify-looks.js';
import { Findings } from './verify-report.js';
import { checkSignatures } from './verify-signatures.js';
import { checkUndone } from './verify-undo.js';

/** What all EHRs of one check share. */
export interface VerifyRun {
  readonly storage: StorageFacts;
  /** Templates known to be used; asked for again before one is called missing. */
  usedTemplates: ReadonlySet<string>;
  /** Digests of revisions known to be there; asked for again as well. */
  digests: ReadonlySet<string>;
  /** Shapes known to be there. */
  readonly shapes: Set<string>;
}

/** Containers looked at together. */
const AT_ONCE = 20;
/** How long after an EHR that is merged in steps is looked at anew. */
const MERGING_MS = 1_000;

/**
 * Validates one EHR and everything it owns. Writers go on: when one of them changed the EHR meanwhile it is looked at
 * anew, for every write raises `write_seq`. Of one that never holds still, wrong is what every look found: what was
 * only half written during one look is whole in the next.
 */
export async function checkEhr(run: VerifyRun, first: EhrDoc): Promise<Findings> {
  let ehr = first;
  return foundByEveryLook(async () => {
    for (let waits = 0; waits < LOOKS; waits += 1) {
      const found = await lookAt(run, ehr);
      const after = await ehrById(ehr._id);
      if (found.violations.length === 0) return { found, isStill: true };
      if (after === null || after.state === 'deleting') return { found: new Findings(), isStill: true };
      const isMerging = ehr.merging !== undefined || after.merging !== undefined;
      const isStill = after.write_seq === ehr.write_seq && after.state === ehr.state;
      ehr = after;
      if (!isMerging) return { found, isStill };
      await setTimeout(MERGING_MS);
    }
    return { found: merging(ehr), isStill: true };
  });
}

async function lookAt(run: VerifyRun, ehr: EhrDoc): Promise<Findings> {
  const found = new Findings();
  found.count('ehrs', 1);
  await checkState(run, ehr, found);
  if (ehr.state === 'active') await checkUndone(ehr, found);
  return found;
}

function merging(ehr: EhrDoc): Findings {
  const found = new Findings();
  found.add('ehrs', ehr._id, 'it was being merged all the time and could not be validated');
  return found;
}

async function checkState(run: VerifyRun, ehr: EhrDoc, found: Findings): Promise<void> {
  // Somebody may have put anything there.
  const state: string | undefined = ehr.state;
  if (state === 'active') await checkActive(run, ehr, found);
  else if (state === 'merged') await checkTombstone(ehr, found);
  else if (state !== 'deleting') found.add('ehrs', ehr._id, 'it has no state that an EHR can have');
}

/** Everything of a merged EHR went to another one, but containers whose ids must not be used again. */
async function checkTombstone(ehr: EhrDoc, found: Findings): Promise<void> {
  for (const name of OWNED_COLLECTIONS) {
    const owned = await ownedCount(name, ehr._id);
    const kept = name === 'versioned_objects' ? await endedContainers(ehr._id) : 0;
    const count = owned - kept;
    if (count > 0) found.add(name, ehr._id, `${count} documents belong to an EHR that was merged away`);
  }
}

async function checkActive(run: VerifyRun, ehr: EhrDoc, found: Findings): Promise<void> {
  const containers = new Map((await containersOfEhr(ehr._id)).map((doc) => [doc._id, doc]));
  found.count('versioned_objects', containers.size);
  const contributions = await contributionRefs(ehr._id, found);
  checkRoots(ehr, [...containers.values()], found);
  const present = new Set<string>();
  const hasHistory = await sharesContributions(ehr);
  for (const part of inSteps([...containers.keys()], AT_ONCE)) {
    const all = await versionsOfContainers(ehr._id, part);
    const versions = groupBy(all, (version) => version.object_id);
    const elsewhere = hasHistory ? await contributionsElsewhere(all, contributions) : contributions;
    const listing = { get: (uid: string) => contributions.get(uid) ?? elsewhere.get(uid) };
    const aqlDocuments = groupBy(await aqlDocumentsOf(ehr._id, part), (document) => document.vo);
    const shapes = new Set<string>();
    for (const versionedObjectUid of part) {
      const container = containers.get(versionedObjectUid);
      if (container === undefined) continue;
      const own = versions.get(versionedObjectUid) ?? [];
      const derived = aqlDocuments.get(versionedObjectUid) ?? [];
      found.count('versions', own.length);
      found.count('aql', derived.length);
      const { storage } = run;
      const input = { container, versions: own, aqlDocuments: derived, contributions: listing, storage };
      for (const shape of soundShapes(found, { ...input, isQueryable: ehr.is_queryable })) shapes.add(shape);
      await checkSignatures(found, own);
      for (const version of own) {
        present.add(version._id);
        found.addAccepted(version);
      }
      if (container.type === 'EHR_STATUS') checkFlags(ehr, own.at(-1), found);
      await checkTemplates(run, own, found);
    }
    await checkShapes(run, shapes, found);
  }
  await checkStrays(ehr, containers, found);
  await checkReferences(ehr, { contributions, containers, present, hasHistory }, found);
  await checkTags(ehr, containers, found);
}

/** As `checkContainer`. What is damaged beyond reading is named, and the rest goes on. */
function soundShapes(found: Findings, check: ContainerCheck): readonly string[] {
  try {
    return checkContainer(found, check);
  } catch {
    found.add('versioned_objects', check.container._id, 'one of its versions is damaged beyond reading');
    return [];
  }
}

async function contributionRefs(ehrId: string, found: Findings): Promise<Map<string, Set<string>>> {
  const refs = new Map<string, Set<string>>();
  for await (const contribution of contributionsOf(ehrId)) {
    const { _id, authenticated } = contribution;
    if (authenticated !== undefined && !isRequestIdentity(authenticated))
      found.add('contributions', _id, 'authenticated does not tell who sent a request');
    refs.set(_id, new Set(listedUids(contribution)));
  }
  found.count('contributions', refs.size);
  return refs;
}

/**
 * What CONTRIBUTIONs of other EHRs list, by CONTRIBUTION: an object that came back with an unmerge has versions which
 * were committed to the other EHR. One that was erased there lists whatever names it.
 */
async function contributionsElsewhere(
  versions: readonly VersionDoc[],
  own: ReadonlyMap<string, unknown>,
): Promise<Map<string, Set<string>>> {
  const strange = versions.filter((version) => !own.has(version.contribution_uid));
  const uids = [...new Set(strange.map((version) => version.contribution_uid))];
  const listed = new Map<string, Set<string>>();
  for (const contribution of await contributionsByUid(uids))
    listed.set(contribution._id, new Set(listedUids(contribution)));
  const removals = await removalsOf('contributions', uids);
  const erased = new Set(removals.flatMap(({ ids }) => ids));
  for (const { _id, contribution_uid: uid } of strange) {
    if (erased.has(uid)) listed.set(uid, (listed.get(uid) ?? new Set()).add(_id));
  }
  return listed;
}

/** One EHR_STATUS, at most one live directory, and the EHR knows both. */
function checkRoots(ehr: EhrDoc, containers: readonly VersionedObjectDoc[], found: Findings): void {
  const add = (message: string): void => {
    found.add('ehrs', ehr._id, message);
  };
  const statuses = containers.filter(({ type }) => type === 'EHR_STATUS');
  if (statuses.length !== 1) add(`it has ${statuses.length} EHR_STATUS containers`);
  else if (statuses[0]?._id !== ehr.ehr_status_id) add('ehr_status_id is another container');
  else if (statuses[0].deleted) add('its EHR_STATUS is deleted');
  const directories = containers.filter(({ type, deleted }) => type === 'FOLDER' && !deleted);
  if (directories.length > 1) add(`it has ${directories.length} live directories`);
  else if (directories[0]?._id !== ehr.directory_id) add('directory_id is not its live directory');
  if (ehr.merged_into !== undefined || ehr.merge_id !== undefined) add('it is active but says it was merged');
}

/** The EHR document repeats what its latest EHR_STATUS says. */
function checkFlags(ehr: EhrDoc, status: VersionDoc | undefined, found: Findings): void {
  // That its content is damaged is told of the VERSION.
  const content = typeof status?.data === 'string' ? parsedContent(status.data) : null;
  if (status === undefined || content === null) return;
  const flags = flagsOf(status.object_id, content);
  if (flags.isQueryable !== ehr.is_queryable)
    found.add('ehrs', ehr._id, 'is_queryable is not that of its EHR_STATUS');
  if (flags.isModifiable !== ehr.is_modifiable)
    found.add('ehrs', ehr._id, 'is_modifiable is not that of its EHR_STATUS');
  checkSubject(ehr, flags, found);
  // Absent of EHRs that an older release wrote and no upgrade has reached.
  if (ehr.identities !== undefined && !isDeepStrictEqual(flags.identities, ehr.identities))
    found.add('ehrs', ehr._id, 'identities are not those of its EHR_STATUS');
}

function checkSubject(ehr: EhrDoc, { subject }: ReturnType<typeof flagsOf>, found: Findings): void {
  const isDropped = ehr.subject_dropped === true && ehr.subject === undefined;
  if (!isDropped && !isDeepStrictEqual(subject, ehr.subject ?? null))
    found.add('ehrs', ehr._id, 'subject is not that of its EHR_STATUS');
}

async function checkTemplates(
  run: VerifyRun,
  versions: readonly VersionDoc[],
  found: Findings,
): Promise<void> {
  for (const { _id, type, template_id: templateId, template_digest: digest } of versions) {
    if (type !== 'COMPOSITION') continue;
    await checkRevision(run, { _id, digest }, found);
    if (templateId !== undefined && run.usedTemplates.has(templateId)) continue;
    run.usedTemplates = await usedTemplateIds();
    if (templateId === undefined) found.add('versions', _id, 'it has no template');
    else if (!run.usedTemplates.has(templateId))
      found.add('versions', _id, `its template ${templateId} does not exist or is not noted as used`);
  }
}

async function checkRevision(
  run: VerifyRun,
  { _id, digest }: { readonly _id: string; readonly digest: string | undefined },
  found: Findings,
): Promise<void> {
  if (digest === undefined || run.digests.has(digest)) return;
  run.digests = await storedDigests();
  if (!run.digests.has(digest))
    found.add('versions', _id, 'the revision of its template by which it was judged is not there');
}

async function checkShapes(run: VerifyRun, shapes: ReadonlySet<string>, found: Findings): Promise<void> {
  const unknown = [...shapes].filter((shape) => !run.shapes.has(shape));
  const missing = new Set(await missingShapes(unknown));
  for (const shape of unknown) {
    if (missing.has(shape)) found.add('aql_shapes', shape, 'queries do not know this shape');
    else run.shapes.add(shape);
  }
}

/** Versions and derived documents without a container. */
async function checkStrays(
  ehr: EhrDoc,
  containers: ReadonlyMap<string, unknown>,
  found: Findings,
): Promise<void> {
  const named = {
    versions: await versionedObjectUidsOfVersions(ehr._id),
    aql: await versionedObjectUidsOfAql(ehr._id),
  };
  for (const name of ['versions', 'aql'] as const) {
    for (const versionedObjectUid of named[name]) {
      if (!containers.has(versionedObjectUid))
        found.add(name, versionedObjectUid, 'its container does not exist in the EHR');
    }
  }
}

interface References {
  readonly contributions: ReadonlyMap<string, ReadonlySet<string>>;
  readonly containers: ReadonlyMap<string, unknown>;
  /** Uids of all versions of the EHR. */
  readonly present: ReadonlySet<string>;
  /** Whether a merge with another EHR was taken back: objects may have gone there, their CONTRIBUTIONs stay. */
  readonly hasHistory: boolean;
}

/** What a CONTRIBUTION lists exists, unless its container was erased or ended in a merge. */
async function checkReferences(ehr: EhrDoc, references: References, found: Findings): Promise<void> {
  const { contributions, containers, present, hasHistory } = references;
  const strangers = new Map<string, string>();
  for (const [contributionUid, uids] of contributions) {
    for (const uid of uids) {
      const versionedObjectUid = rootOfUid(uid);
      if (!containers.has(versionedObjectUid)) strangers.set(versionedObjectUid, contributionUid);
      else if (!present.has(uid))
        found.add('contributions', contributionUid, `it lists ${uid}, which does not exist`);
    }
  }
  if (hasHistory) return;
  for (const [versionedObjectUid, owner] of await ownersOf([...strangers.keys()])) {
    // What a merge ended stays with the tombstone, so that nobody uses its id again.
    if (owner !== ehr._id && (await ehrById(owner))?.state !== 'merged')
      found.add(
        'contributions',
        strangers.get(versionedObjectUid) ?? '',
        `it lists versions of ${versionedObjectUid} of another EHR`,
      );
  }
}

async function checkTags(
  ehr: EhrDoc,
  containers: ReadonlyMap<string, VersionedObjectDoc>,
  found: Findings,
): Promise<void> {
  for await (const tag of itemTagsOf(ehr._id)) {
    found.count('item_tags', 1);
    const container = containers.get(tag.target);
    // Of an EHR that was merged into this one: it says who may see both.
    if (container === undefined && isAccessTag(tag)) continue;
    if (container?.type !== tag.target_type)
      found.add('item_tags', tag._id, 'its target does not exist in the EHR');
    else if ((tag.target_version ?? 0) > container.latest_version)
      found.add('item_tags', tag._id, 'the version it is about does not exist');
    else if (container.has_item_tags !== true)
      found.add('item_tags', tag._id, 'its target is not marked as tagged, so GET does not show it');
  }
}
