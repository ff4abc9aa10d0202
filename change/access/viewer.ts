import { isDeepStrictEqual } from 'node:util';
import { ambient } from '../../database/transaction.js';
import { inSteps } from '../../models/access/in-steps.js';
import { ehrWithStatusUid } from '../../models/cross-collection/ehr-with-status.js';
import { policyVersion } from '../../models/cross-collection/policy-objects.js';
import { withTaggedEhrs } from '../../models/cross-collection/tagged-ehrs.js';
import { MAX_AUDIT_IDS, type AuditSubject } from '../../models/audit.js';
import { ehrById, type EhrDoc } from '../../models/ehr.js';
import { accessTagsOf } from '../../models/access-tag.js';
import { versionHeads, versionsById, type VersionDoc } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import { ehrObject, type AccessTags } from '../../policy/attributes.js';
import { any, FALSE, type Condition, type Permitted } from '../../policy/condition.js';
import type { AccessObject } from '../../policy/object.js';
import type { RulesOfRequest, RuleSource } from '../../policy/policy-set.js';
import type { Action, Subject } from '../../policy/subject.js';

/** Versions that are judged together: each may have megabytes. */
const AT_ONCE = 20;

/** EHRs of which a request keeps the tags. */
const KEPT_TAGS = 1_000;

/** What is permitted, of which EHR (null: all) it was asked, and with EHRs in place of tags. */
interface Narrowed {
  readonly permitted: Permitted;
  readonly ehrId: string | null;
  readonly named: Permitted;
}

/** Who asks for what, under which policies. */
interface Request {
  readonly set: RuleSource;
  readonly subject: Subject;
  /** What the operation does, the first of them foremost: whoever may do one of them sees what it is done to. */
  readonly actions: readonly [Action, ...Action[]];
  /** Of this server. */
  readonly systemId: string;
}

/**
 * For whom a request runs where policies of access are enforced, and what of the records he may see. Whatever gives or changes something of
 * a record asks it; a success that never did is not answered (`src/middleware/viewing.ts`). docs/access.md#enforced
 */
export class Viewer {
  #isAsked = false;
  #hasRefused = false;
  /** Ids of policies. */
  readonly #decided = new Set<string>();
  /** As they are while the request runs: many versions of one EHR are judged. */
  readonly #tags = new Map<string, AccessTags>();
  /** What lists and queries were narrowed by, with the EHRs that were named for it. */
  readonly #narrowed: Narrowed[] = [];

  constructor(private readonly request: Request) {}

  /** Says that a list was narrowed, of which there may be nothing to judge. */
  narrowed(): void {
    this.#isAsked = true;
  }

  /** Whether something that is there is not for him. */
  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  /** Notes that what he asks for is there, and not for him. */
  refused(): void {
    this.#hasRefused = true;
  }

  /** Whether anything was judged. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  /**
   * What queries and lists are narrowed by. `ehrId`: the only EHR that is asked about; null: all.
   * @throws unprocessable where policies ask for a tag that too many EHRs have
   */
  permitted(ehrId: string | null): Promise<Permitted> {
    return this.#withEhrs(this.#rulesOf(this.request.actions[0]).permitted, ehrId);
  }

  /** What the EHRs are that are there for him. @throws as `permitted` */
  async ehrs(): Promise<Condition> {
    const ehr = any(this.request.actions.map((action) => this.#rulesOf(action).permitted.ehr));
    return (await this.#withEhrs({ ehr, version: FALSE }, null)).ehr;
  }

  async #withEhrs(permitted: Permitted, ehrId: string | null): Promise<Permitted> {
    if (!this.request.set.asksTags) return permitted;
    const named = await withTaggedEhrs(permitted, ehrId);
    this.#narrowed.push({ permitted, ehrId, named });
    return named;
  }

  /**
   * Whether tags that were judged by are others by now: what was read meanwhile may have come with a merge out of an EHR that they hide,
   * or gone back into one.
   */
  async hasOtherTags(): Promise<boolean> {
    for (const [ehrId, tags] of this.#tags)
      if (!isDeepStrictEqual(await accessTagsOf(ehrId), tags)) return true;
    for (const { permitted, ehrId, named } of this.#narrowed)
      if (!isDeepStrictEqual(await withTaggedEhrs(permitted, ehrId), named)) return true;
    return false;
  }

  /** Whether policies permit one action. */
  permits(action: Action, object: AccessObject): boolean {
    const { isPermitted, policies } = this.#rulesOf(action).decide(object);
    for (const id of policies) if (this.#decided.size < MAX_AUDIT_IDS) this.#decided.add(id);
    return isPermitted;
  }

  /** What the audit is told of who was judged, and how. */
  get judgement(): AuditSubject {
    const { organisation, purpose } = this.request.subject;
    return {
      ...(organisation !== undefined && { organisation }),
      ...(purpose !== undefined && { purpose }),
      ...(this.#decided.size > 0 && { policies: [...this.#decided].sort() }),
      ...(this.#hasRefused && { hidden: true }),
    };
  }

  /** Whether any policy asks for what only the content of a VERSION says, which may be megabytes to read. */
  get asksContent(): boolean {
    return this.request.set.asksContent;
  }

  /** How a refusal begins: what does not permit something. */
  get refusedBy(): string {
    return this.request.set.refusedBy ?? 'no policy of access';
  }

  /** Whether an EHR is there for him. */
  async seesEhr({ _id: ehrId, subject }: Pick<EhrDoc, '_id' | 'subject'>): Promise<boolean> {
    const tags = await this.tagsOf(ehrId);
    return this.#sees(ehrObject({ ehrId, namespace: subject?.namespace, tags }));
  }

  /** Tags of an EHR, as far as policies ask for any. */
  async tagsOf(ehrId: string): Promise<AccessTags> {
    if (!this.request.set.asksTags) return {};
    const known = this.#tags.get(ehrId);
    if (known !== undefined) return known;
    const tags = await accessTagsOf(ehrId);
    if (this.#tags.size >= KEPT_TAGS) this.#tags.clear();
    this.#tags.set(ehrId, tags);
    return tags;
  }

  /** The same of an id. */
  async seesEhrId(ehrId: string): Promise<boolean> {
    const ehr = await ehrById(ehrId);
    return this.seesEhr(ehr ?? { _id: ehrId });
  }

  /** Whether a VERSION is there for him. `ehrId`: of the EHR that it is in, whatever merges in steps have moved so far. */
  async sees(ehrId: string, version: VersionDoc): Promise<boolean> {
    return this.#sees(await this.objectOf(ehrId, version));
  }

  /** A VERSION as policies see it. */
  async objectOf(ehrId: string, version: VersionDoc): Promise<AccessObject> {
    const { set, systemId } = this.request;
    const tags = await this.tagsOf(ehrId);
    return policyVersion({ ...version, ehr_id: ehrId }, tags, systemId, set.asksContent);
  }

  /** Of the versions of an EHR with these uids those that are there for him. */
  async seenAmong(ehrId: string, versionUids: readonly string[]): Promise<ReadonlySet<string>> {
    const seen = new Set<string>();
    for (const part of inSteps([...new Set(versionUids)], AT_ONCE))
      for (const version of await versionsById(ehrId, part))
        if (await this.sees(ehrId, version)) seen.add(version._id);
    return seen;
  }

  /** Whether the latest version of a container is there for him: a change is made to that. */
  async seesLatest({ ehr_id: ehrId, latest_version_uid: uid }: VersionedObjectDoc): Promise<boolean> {
    return (await this.seenAmong(ehrId, [uid])).size > 0;
  }

  /** Whether the latest EHR_STATUS of an EHR is there for him: lists and searches tell what it says. */
  async seesStatus(ehrId: string): Promise<boolean> {
    const { statusUid } = await ehrWithStatusUid(ehrId);
    return statusUid !== null && (await this.seenAmong(ehrId, [statusUid])).size > 0;
  }

  /** Whether any version of a container is there for him: then the container is. */
  async seesContainer(ehrId: string, versionedObjectUid: string): Promise<boolean> {
    const heads = await versionHeads(ehrId, versionedObjectUid);
    for (const part of inSteps(heads.reverse(), AT_ONCE)) {
      const uids = part.map(({ _id }) => _id);
      if ((await this.seenAmong(ehrId, uids)).size > 0) return true;
    }
    return false;
  }

  #sees(object: AccessObject): boolean {
    const isSeen = this.request.actions.some((action) => this.permits(action, object));
    this.#hasRefused ||= !isSeen;
    return isSeen;
  }

  #rulesOf(action: Action): RulesOfRequest {
    this.#isAsked = true;
    return this.request.set.rulesFor({ subject: this.request.subject, action });
  }
}

declare module '../../database/transaction.js' {
  interface Ambient {
    /** Absent: policies do not restrict the request. */
    readonly viewer?: Viewer;
    /** Judges, and refuses nothing. Absent: nobody observes what policies would hide. */
    readonly observer?: Viewer;
  }
}

/** Where the viewer of the request under way is found: `viewing.getStore()?.viewer`. Without policies nothing more is called. */
export const viewing: {
  getStore(): { readonly viewer?: Viewer; readonly observer?: Viewer } | undefined;
} = ambient;

/** Runs the work of a request while somebody notes what policies would refuse. */
export function withObserver<T>(observer: Viewer, work: () => Promise<T>): Promise<T> {
  return ambient.run({ ...ambient.getStore(), observer }, work);
}

/** Runs the work of a request for somebody. */
export function withViewer<T>(viewer: Viewer, work: () => Promise<T>): Promise<T> {
  return ambient.run({ ...ambient.getStore(), viewer }, work);
}
