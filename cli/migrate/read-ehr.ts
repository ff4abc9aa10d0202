import type { JsonObject } from '../../openehr/base/json.js';
import { rootOfUid } from '../../openehr/base/object-version-id.js';
import { objectAt, objectsAt, textAt } from '../../openehr/rm/access.js';
import { CHANGE_TYPE, LIFECYCLE, lifecycleTerm } from '../../change/commit/codes.js';
import type { OldServer } from './old-server.js';
import {
  completed,
  contributionReference,
  idsIn,
  madeUpContribution,
  numberIn,
  type OldVersion,
} from './old-version.js';
import { readOldTags, type OldTags } from './old-tags.js';
import { OF_DIRECTORIES, readOldDirectories } from './read-directory.js';

/** An EHR as the old server shows it. */
export interface OldEhr {
  readonly ehrId: string;
  readonly ehr: JsonObject;
  /** EHR_STATUSes first, then directories; of each object from the first one on. */
  readonly versions: readonly OldVersion[];
  /** CONTRIBUTIONs by uid. */
  readonly contributions: ReadonlyMap<string, JsonObject>;
  /** The directory as it is now; null: there is none. */
  readonly directory: JsonObject | null;
  /** Whether `versions` has all versions of directories. */
  readonly hasDirectories: boolean;
  /** Versions of directories of which only the time is told. */
  readonly withoutCommitter: number;
  readonly tags: OldTags;
  /** What it named and did not show, one line each. */
  readonly missing: readonly string[];
  /** Whether the old server lists all CONTRIBUTIONs, so that nothing that was deleted can be hidden. */
  readonly isListed: boolean;
  /** Whether it was changed each time that it was read, so that what was read does not hang together. */
  readonly isChanging: boolean;
}

/** How often an EHR is read that is changed meanwhile. */
const READS = 5;

/**
 * Reads all of an EHR that ITS-REST shows; null: it is not there any more. `known`: object ids of COMPOSITIONs that are looked for too, for nothing may list
 * one that was deleted. @throws AnswerError
 */
export async function readOldEhr(
  server: OldServer,
  ehrId: string,
  known: readonly string[] = [],
): Promise<OldEhr | null> {
  let before = '';
  for (let reads = 1; ; reads += 1) {
    // Who does not know the parameter passes it over.
    const ehr = await server.object(`/ehr/${ehrId}?include=compositions,contributions`);
    if (ehr === null) return null;
    const reader = new EhrReader(server, ehrId);
    const old = await reader.read(ehr, known);
    const later = reader.later(old).toSorted().join(' ');
    // What no history tells of at the second time either, this server hides.
    const isWhole = later === '' || later === before;
    if (isWhole || reads === READS) return { ...old, isChanging: !isWhole };
    before = later;
  }
}

/** A deletion that is in a history and cannot be read. */
interface Deletion {
  readonly uid: string;
  readonly type: 'COMPOSITION' | 'EHR_STATUS';
  readonly item: JsonObject;
  /** Uid of the version before. */
  readonly before: string;
}

class EhrReader {
  readonly #server: OldServer;
  readonly #ehrId: string;
  readonly #versions: OldVersion[] = [];
  readonly #containers = new Set<string>();
  /** Uids that the history of each object tells of, by its id. */
  readonly #told = new Map<string, ReadonlySet<string>>();
  /** null: it was named and is not there. */
  readonly #contributions = new Map<string, JsonObject | null>();
  readonly #deletions: Deletion[] = [];
  /** Uids of CONTRIBUTIONs of deletions that had to be made up. */
  readonly #madeUpUids = new Set<string>();
  readonly #missing: string[] = [];

  constructor(server: OldServer, ehrId: string) {
    this.#server = server;
    this.#ehrId = ehrId;
  }

  async read(ehr: JsonObject, known: readonly string[]): Promise<Omit<OldEhr, 'isChanging'>> {
    await this.#container('EHR_STATUS', 'versioned_ehr_status');
    const live = `SELECT c/uid/value AS uid FROM EHR e[ehr_id/value='${this.#ehrId}'] CONTAINS COMPOSITION c ORDER BY c/uid/value`;
    for (const uid of idsIn(ehr, 'compositions')) await this.#composition(rootOfUid(uid));
    for await (const uid of this.#server.firstCells(live)) await this.#composition(rootOfUid(uid));
    for (const id of known) await this.#composition(id, true);
    await this.#deletedCompositions(idsIn(ehr, 'contributions'));
    this.#madeDeletions();
    const contributions = new Map(
      [...this.#contributions].flatMap(([uid, found]): [string, JsonObject][] =>
        found === null ? [] : [[uid, found]],
      ),
    );
    const read = { ehrId: this.#ehrId, ehr, contributions };
    const { now, versions, madeUp } = await readOldDirectories(this.#server, read);
    const isStatus = ({ type }: OldVersion): boolean => type === 'EHR_STATUS';
    return {
      ehrId: this.#ehrId,
      ehr,
      versions: [
        ...this.#versions.filter(isStatus),
        ...(versions ?? []),
        ...this.#versions.filter((one) => !isStatus(one)),
      ],
      contributions: new Map([...contributions, ...madeUp]),
      directory: now,
      hasDirectories: versions !== null,
      withoutCommitter: madeUp.size,
      tags: await readOldTags(this.#server, this.#ehrId, this.#versions),
      missing: this.#missing,
      isListed: Array.isArray(ehr.contributions),
    };
  }

  /**
   * What came while this was read: versions that a CONTRIBUTION names and the history of their object, which was read before, did not; and CONTRIBUTIONs that
   * had to be made up though the server lists them.
   */
  later({ ehr, contributions }: Pick<OldEhr, 'ehr' | 'contributions'>): string[] {
    const named = [...contributions.values()].flatMap((contribution) => idsIn(contribution, 'versions'));
    const versions = named.filter((uid) => this.#told.get(rootOfUid(uid))?.has(uid) === false);
    const listed = Array.isArray(ehr.contributions) ? [...contributions.keys()] : [];
    const isMadeUp = (uid: string): boolean => !this.#contributions.has(uid) || this.#madeUpUids.has(uid);
    return [...versions, ...listed.filter(isMadeUp)];
  }

  /** Queries do not find what is deleted: CONTRIBUTIONs name it. `listed`: those that the EHR names. */
  async #deletedCompositions(listed: readonly string[]): Promise<void> {
    for (let open = this.#named(listed); open.length > 0; open = this.#named(listed))
      for (const uid of open) {
        const found = await this.#server.object(`/ehr/${this.#ehrId}/contribution/${uid}`);
        this.#contributions.set(uid, found);
        if (found === null) this.#missing.push(`CONTRIBUTION ${uid} of EHR ${this.#ehrId}`);
        for (const reference of found === null ? [] : objectsAt(found, 'versions')) {
          const versionUid = textAt(reference, 'id', 'value') ?? '';
          if (reference.type === 'EHR_STATUS' || OF_DIRECTORIES.includes(reference.type)) continue;
          await this.#composition(rootOfUid(versionUid));
        }
      }
  }

  /** CONTRIBUTIONs that are named and were not asked for. */
  #named(listed: readonly string[]): string[] {
    const uids = this.#versions.flatMap(
      ({ version }) => textAt(version, 'contribution', 'id', 'value') ?? [],
    );
    return [...new Set([...listed, ...uids])].filter((uid) => !this.#contributions.has(uid));
  }

  /** `mayBeAbsent`: it is not the old server that names it. */
  async #composition(versionedObjectUid: string, mayBeAbsent = false): Promise<void> {
    if (versionedObjectUid === '' || this.#containers.has(versionedObjectUid)) return;
    this.#containers.add(versionedObjectUid);
    await this.#container('COMPOSITION', `versioned_composition/${versionedObjectUid}`, mayBeAbsent);
  }

  async #container(type: 'COMPOSITION' | 'EHR_STATUS', path: string, mayBeAbsent = false): Promise<void> {
    const own = `/ehr/${this.#ehrId}/${path}`;
    const history = await this.#server.object(`${own}/revision_history`);
    if (history === null) {
      if (!mayBeAbsent) this.#missing.push(`the history of ${path} of EHR ${this.#ehrId}`);
      return;
    }
    const items = objectsAt(history, 'items').toSorted(
      (one, other) => numberIn(uidOf(one)) - numberIn(uidOf(other)),
    );
    const told = new Set(items.map(uidOf));
    for (const uid of told) this.#told.set(rootOfUid(uid), told);
    let before: string | null = null;
    for (const item of items) {
      const uid = uidOf(item);
      const found = await this.#server.version(`${own}/version/${encodeURIComponent(uid)}`);
      if (found === null) {
        const isDeletion = item === items.at(-1) && before !== null && isOfDeletion(item);
        if (isDeletion) this.#deletions.push({ uid, type, item, before: before ?? '' });
        // Those that follow would have nothing to follow.
        else this.#missing.push(`VERSION ${uid} of EHR ${this.#ehrId}, and what follows it`);
        return;
      }
      const { version, revision } = found;
      this.#versions.push({ uid, type, version: completed(version, uid, before), revision });
      before = uid;
    }
  }

  /** A deletion that only the history tells of is made of that, and of the CONTRIBUTION that lists it, or of one that is made up. */
  #madeDeletions(): void {
    for (const { uid, type, item, before } of this.#deletions) {
      const audit = objectsAt(item, 'audits')[0] ?? {};
      const [told] = [...this.#contributions].find(([, found]) => lists(found, uid)) ?? [];
      const contributionUid = told ?? this.#madeUp({ uid, type }, audit);
      const version = {
        contribution: contributionReference(contributionUid),
        commit_audit: audit,
        lifecycle_state: lifecycleTerm(LIFECYCLE.deleted),
      };
      this.#versions.push({ uid, type, version: completed(version, uid, before), revision: null });
    }
  }

  #madeUp(version: Pick<OldVersion, 'uid' | 'type'>, audit: JsonObject): string {
    const contribution = madeUpContribution(version, audit);
    const uid = textAt(contribution, 'uid', 'value') ?? '';
    this.#contributions.set(uid, contribution);
    this.#madeUpUids.add(uid);
    return uid;
  }
}

/** The uid of an item of a history. */
const uidOf = (item: JsonObject): string => textAt(item, 'version_id', 'value') ?? '';

function isOfDeletion(item: JsonObject): boolean {
  const type = objectAt(objectsAt(item, 'audits')[0], 'change_type');
  return (
    textAt(type, 'defining_code', 'code_string') === CHANGE_TYPE.deleted ||
    textAt(type, 'value') === 'deleted'
  );
}

function lists(contribution: JsonObject | null, uid: string): boolean {
  return contribution !== null && idsIn(contribution, 'versions').includes(uid);
}
