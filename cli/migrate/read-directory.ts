import { formatUtc, parseDateTime } from '../../openehr/base/iso8601.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { rootOfUid, uidParts } from '../../openehr/base/object-version-id.js';
import { objectAt, objectsAt, textAt } from '../../openehr/rm/access.js';
import { CHANGE_TYPE, changeTypeTerm, LIFECYCLE, lifecycleTerm } from '../../change/commit/codes.js';
import { AnswerError } from '../transfer/api-client.js';
import type { OldServer } from './old-server.js';
import {
  completed,
  contributionReference,
  idsIn,
  madeUpContribution,
  numberIn,
  type OldVersion,
} from './old-version.js';
import { searchTimes } from './search-times.js';

/** The directories of an EHR, as far as the old server tells. */
export interface OldDirectories {
  /** The live one as it is now; null: there is none. */
  readonly now: JsonObject | null;
  /** All versions of all of them; null: they cannot be had. */
  readonly versions: readonly OldVersion[] | null;
  /** CONTRIBUTIONs that were made up for those of which none is told, by uid. */
  readonly madeUp: ReadonlyMap<string, JsonObject>;
}

/** What is known of an EHR before its directories are read. */
interface KnownEhr {
  readonly ehrId: string;
  readonly ehr: JsonObject;
  /** CONTRIBUTIONs that could be read, by uid. */
  readonly contributions: ReadonlyMap<string, JsonObject>;
}

/** Classes that a reference to a version of a directory may name. */
export const OF_DIRECTORIES: readonly unknown[] = ['FOLDER', 'VERSIONED_FOLDER'];
const DAY_MS = 86_400_000;

/**
 * Reads directories version by version. ITS-REST has no history of them: who made a version when is told by its CONTRIBUTION. Of a live one
 * without CONTRIBUTIONs, as EHRbase shows it, the times are searched by `version_at_time`, and its committers stay unknown.
 * @throws AnswerError when the server cannot be asked
 */
export async function readOldDirectories(server: OldServer, known: KnownEhr): Promise<OldDirectories> {
  const path = `/ehr/${known.ehrId}/directory`;
  for (let now = await server.object(path); ;) {
    const read = await versionsOf(server, known, now);
    if (read !== null) return { now, ...read };
    const later = await server.object(path);
    if (uidIn(later) === uidIn(now)) return { now, versions: null, madeUp: new Map() };
    // It was changed while it was read.
    now = later;
  }
}

async function versionsOf(
  server: OldServer,
  known: KnownEhr,
  now: JsonObject | null,
): Promise<(Pick<OldDirectories, 'madeUp'> & { readonly versions: OldVersion[] }) | null> {
  const madeUp = new Map<string, JsonObject>();
  const versions: OldVersion[] = [];
  for (const uids of containersOf(now, known.contributions)) {
    const read = await new DirectoryReader(server, known, madeUp).read(uids, uids.at(-1) === uidIn(now));
    if (read === null) return null;
    versions.push(...read);
  }
  return { versions, madeUp };
}

const uidIn = (folder: JsonObject | null): string => textAt(folder ?? {}, 'uid', 'value') ?? '';

/** Version uids of each directory that is named, from the first. */
function containersOf(now: JsonObject | null, contributions: KnownEhr['contributions']): string[][] {
  const uids = new Map<string, string>();
  const add = (uid: string): void => {
    const key = `${rootOfUid(uid)} ${numberIn(uid)}`;
    if (!uids.has(key)) uids.set(key, uid);
  };
  for (const contribution of contributions.values())
    for (const reference of objectsAt(contribution, 'versions'))
      if (OF_DIRECTORIES.includes(reference.type)) add(textAt(reference, 'id', 'value') ?? '');
  const [root = '', system = ''] = uidParts(uidIn(now));
  for (let number = numberIn(uidIn(now)); number > 0; number -= 1) add(`${root}::${system}::${number}`);
  const containers = new Map<string, string[]>();
  for (const uid of uids.values())
    containers.set(rootOfUid(uid), [...(containers.get(rootOfUid(uid)) ?? []), uid]);
  return [...containers.values()].map((some) => some.sort((one, other) => numberIn(one) - numberIn(other)));
}

/** Reads one directory. */
class DirectoryReader {
  readonly #server: OldServer;
  readonly #known: KnownEhr;
  readonly #madeUp: Map<string, JsonObject>;
  readonly #path: string;
  readonly #told: ReadonlyMap<string, JsonObject>;

  constructor(server: OldServer, known: KnownEhr, madeUp: Map<string, JsonObject>) {
    this.#server = server;
    this.#known = known;
    this.#madeUp = madeUp;
    this.#path = `/ehr/${known.ehrId}/directory`;
    this.#told = new Map(
      [...known.contributions.values()].flatMap((one) =>
        idsIn(one, 'versions').map((uid): [string, JsonObject] => [uid, one]),
      ),
    );
  }

  /** `uids`: of all its versions. null: the old server does not tell enough of it. */
  async read(uids: readonly string[], isLive: boolean): Promise<OldVersion[] | null> {
    const folders: (JsonObject | null)[] = [];
    for (const [index, uid] of uids.entries()) {
      const folder = await this.#folder(uid);
      const mayBeDeleted = index > 0 && index === uids.length - 1 && !isLive;
      if (numberIn(uid) !== index + 1 || (folder === null && !mayBeDeleted)) return null;
      folders.push(folder);
    }
    const changes = uids.map((uid, index) => changeOf(uid, folders[index] === null));
    const audits = await this.#audits(uids, changes, isLive);
    if (audits === null) return null;
    return uids.map((uid, index) => {
      const { contributionUid, audit } = audits[index] ?? { contributionUid: '', audit: {} };
      const folder = folders[index] ?? null;
      const version = {
        contribution: contributionReference(contributionUid),
        commit_audit: audit,
        lifecycle_state: lifecycleTerm(folder === null ? LIFECYCLE.deleted : LIFECYCLE.complete),
        ...(folder !== null && { data: folder }),
      };
      return {
        uid,
        type: 'FOLDER',
        version: completed(version, uid, uids[index - 1] ?? null),
        revision: null,
      };
    });
  }

  /** A version; null: it is not shown, or another one is. */
  async #folder(uid: string): Promise<JsonObject | null> {
    const folder = await this.#asked(`${this.#path}/${encodeURIComponent(uid)}`);
    return folder === null || ![uid, ''].includes(uidIn(folder)) ? null : folder;
  }

  /** Who made each version when; null: that cannot be had. */
  async #audits(
    uids: readonly string[],
    changes: readonly JsonObject[],
    isLive: boolean,
  ): Promise<ToldAudit[] | null> {
    const told = uids.map((uid, index) => this.#toldAudit(uid, changes[index] ?? {}));
    if (told.every((one) => one !== null)) return told;
    const times = isLive ? await this.#times(uids) : null;
    if (times === null) return null;
    return uids.map(
      (uid, index) => told[index] ?? this.#madeUpAudit(uid, changes[index] ?? {}, times[index] ?? 0),
    );
  }

  /** The audit of the CONTRIBUTION that made a version. Of one that made several the change type is not that of each. */
  #toldAudit(uid: string, change: JsonObject): ToldAudit | null {
    const contribution = this.#told.get(uid);
    const audit = contribution === undefined ? undefined : objectAt(contribution, 'audit');
    if (contribution === undefined || audit === undefined) return null;
    const contributionUid = textAt(contribution, 'uid', 'value') ?? '';
    if (idsIn(contribution, 'versions').length === 1) return { contributionUid, audit };
    return { contributionUid, audit: { ...audit, change_type: change } };
  }

  #madeUpAudit(uid: string, change: JsonObject, ms: number): ToldAudit {
    const audit = {
      _type: 'AUDIT_DETAILS',
      system_id: uidParts(uid)[1] ?? '',
      time_committed: { _type: 'DV_DATE_TIME', value: formatUtc(new Date(ms)) },
      change_type: change,
      description: { _type: 'DV_TEXT', value: UNKNOWN },
      committer: { _type: 'PARTY_IDENTIFIED', name: 'unknown' },
    };
    const contribution = madeUpContribution({ uid, type: 'FOLDER' }, audit);
    const contributionUid = textAt(contribution, 'uid', 'value') ?? '';
    this.#madeUp.set(contributionUid, contribution);
    return { contributionUid, audit };
  }

  /** Times of all versions, ms since 1970; null: the old server does not tell what there was at a time. */
  async #times(uids: readonly string[]): Promise<number[] | null> {
    const root = rootOfUid(uids[0] ?? '');
    const countAt = async (ms: number): Promise<number> => {
      const time = encodeURIComponent(new Date(ms).toISOString());
      const uid = uidIn(await this.#asked(`${this.#path}?version_at_time=${time}`));
      return rootOfUid(uid) === root ? numberIn(uid) : 0;
    };
    const before = this.#beginning() - 1;
    // Its clock may be ahead of ours.
    for (const ms of [Date.now(), Date.now() + DAY_MS]) {
      if ((await countAt(ms)) !== uids.length) continue;
      const isTold = (await countAt(before)) === 0;
      const [from, to] = [
        { ms: before, versions: 0 },
        { ms, versions: uids.length },
      ];
      return isTold ? await searchTimes(countAt, from, to) : null;
    }
    return null;
  }

  /** When the EHR was made: its directory is not older. */
  #beginning(): number {
    return parseDateTime(textAt(this.#known.ehr, 'time_created', 'value') ?? '')?.lower ?? 1;
  }

  /** null: it is not there, or the server has no such operation. @throws AnswerError when it cannot be asked */
  async #asked(path: string): Promise<JsonObject | null> {
    try {
      return await this.#server.object(path);
    } catch (error) {
      if (error instanceof AnswerError && WITHOUT.includes(error.status)) return null;
      throw error;
    }
  }
}

/** Which CONTRIBUTION made a version, and the AUDIT_DETAILS of that. */
interface ToldAudit {
  readonly contributionUid: string;
  readonly audit: JsonObject;
}

/** Statuses of a server that does not have what it is asked for. */
const WITHOUT: readonly number[] = [400, 405, 406, 501];

const UNKNOWN =
  'Who made this version, and in which CONTRIBUTION, the server that it was read from does not tell; its time was found by what there was when.';

function changeOf(uid: string, isDeletion: boolean): JsonObject {
  if (isDeletion) return changeTypeTerm(CHANGE_TYPE.deleted);
  return changeTypeTerm(numberIn(uid) === 1 ? CHANGE_TYPE.creation : CHANGE_TYPE.modification);
}
