import { isDeepStrictEqual } from 'node:util';
import { ambient } from '../../database/transaction.js';
import { inSteps } from '../../models/access/in-steps.js';
import { movingMerges } from '../../models/access/merge-job.js';
import { ehrWithStatusUid, type EhrWithStatus } from '../../models/cross-collection/ehr-with-status.js';
import { opensMore } from '../../models/cross-collection/opened-versions.js';
import { policyVersion } from '../../models/cross-collection/policy-objects.js';
import type { HeldMark } from '../../models/cross-collection/marked-ehrs.js';
import { MAX_AUDIT_IDS, type AuditSubject } from '../../models/audit.js';
import { ehrById, type EhrDoc } from '../../models/ehr.js';
import { ehrNow } from '../../models/ehr-now.js';
import { versionHeads, versionsById, versionsWithoutContent, type VersionDoc } from '../../models/version.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';
import { CdrError } from '../../openehr/base/errors.js';
import { ehrObject, type AccessTags } from '../../policy/attributes.js';
import { any, type Permitted } from '../../policy/condition.js';
import { asksContentOf, isOn, marked } from '../../policy/marks.js';
import { EMERGENCY_PURPOSES } from '../../policy/purposes.js';
import type { MovingMerges } from '../../aql/index/moved-owners.js';
import { attributeOf, type AccessObject } from '../../policy/object.js';
import type { RulesOfRequest, RuleSource } from '../../policy/policy-set.js';
import type { Action, Subject } from '../../policy/subject.js';
import { KnownFacts } from './known-facts.js';
import { seenEhrs, type SeenEhrs } from './seen-ehrs.js';

/** Versions that are judged together: each may have megabytes. */
const AT_ONCE = 20;

/** An id that nothing has. */
const NOTHING = '00000000-0000-0000-0000-000000000000';

/** The mark that is named, and of which a write is told. */
const RESTRICTION = 'restriction_of_processing';

/** Who asks for what, under which policies. */
export interface ViewRequest {
  readonly set: RuleSource;
  readonly subject: Subject;
  /** What the operation does, the first of them foremost: whoever may do one of them sees what it is done to. */
  readonly actions: readonly [Action, ...Action[]];
  /** Of this server. */
  readonly systemId: string;
  /** Why he says that it is an emergency; absent: he does not. */
  readonly emergencyReason?: string;
  /** Whether he could say so. */
  readonly mayBreakGlass?: boolean;
  /** Of what only reads: what was asked for before it was known who asks. */
  readonly ahead?: ReadAhead;
}

/** What was read while it was found out what restricts the request. Each is used once: what is looked for again is read again. */
export interface ReadAhead {
  /** Of the path. */
  readonly ehrId: string;
  readonly ehr?: Promise<EhrDoc | null>;
  readonly withStatus?: Promise<EhrWithStatus>;
  readonly version?: {
    readonly uid: string;
    readonly read: Promise<VersionDoc | null>;
    /** Merges in steps under way before it was asked for. */
    readonly merges: MovingMerges;
  };
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
  readonly #facts: KnownFacts;
  readonly #restricting = new Map<string, HeldMark>();
  #isWithheld = false;
  #ahead: ReadAhead;

  constructor(private readonly request: ViewRequest) {
    this.#ahead = request.ahead ?? { ehrId: NOTHING };
    this.#facts = new KnownFacts(request.set, request.subject.organisation);
  }

  /**
   * Whether an EHR is there for him by its id alone, which is all that is asked of EHRs: then nothing that a merge changes decides. false: it
   * is to be read.
   */
  seesByIdAlone(ehrId: string): boolean {
    if (this.request.set.asksEhr) return false;
    const ehr = ehrObject({ ehrId, namespace: undefined, tags: {} });
    return this.request.actions.some((action) => this.permits(action, ehr));
  }

  /** An EHR as it is since the request began, once, and then as it is now; null: it is to be read by whoever asks, maybe in a transaction. */
  readEhr(ehrId: string): Promise<EhrDoc | null> | null {
    if (this.request.ahead === undefined) return null;
    const { ehr, ...rest } = this.#ahead;
    this.#ahead = rest;
    return rest.ehrId === ehrId && ehr !== undefined ? ehr : ehrNow(ehrId);
  }

  /** The same of an EHR with the uid of its EHR_STATUS; null: it is to be read by whoever asks. */
  readEhrWithStatus(ehrId: string): Promise<EhrWithStatus> | null {
    const { withStatus, ...rest } = this.#ahead;
    this.#ahead = rest;
    return rest.ehrId === ehrId ? (withStatus ?? null) : null;
  }

  /** The same of a version, of whatever EHR and type; null: it is to be read by whoever asks. */
  readVersion(ehrId: string, versionUid: string): Promise<VersionDoc | null> | null {
    const { version, ...rest } = this.#ahead;
    this.#ahead = rest;
    // Where more is asked of the EHR than its id it is judged before anything in it is read.
    if (rest.ehrId !== ehrId || version?.uid !== versionUid || this.request.set.asksEhr) return null;
    // Read beside other merges it may be of an EHR that it is not in for them.
    return version.merges === movingMerges() ? version.read : null;
  }

  /* What is not there is looked for as what is hidden is: time is not to tell which it was. docs/performance.md#access */

  /** Of an EHR that is not there what is read of one that is. */
  async asIfThere(ehrId: string): Promise<void> {
    await this.#facts.tagsOf(ehrId);
    await this.#facts.marksOf(ehrId);
  }

  /** An EHR that nobody has named, where it would be read next. */
  async lookForEhr(): Promise<void> {
    await ehrById(NOTHING);
    await this.asIfThere(NOTHING);
  }

  /** A version that nobody has named. */
  async lookForVersion(ehrId: string): Promise<void> {
    await versionsToJudge(ehrId, [NOTHING], await this.asksContentOf(ehrId));
  }

  /** Says that a list was narrowed, of which there may be nothing to judge. */
  narrowed(): void {
    this.#isAsked = true;
  }

  /** Whether something that is there is not for him. */
  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  /** Notes that what he asks for is there, and not for him. */
  refused(object?: AccessObject): void {
    this.#hasRefused = true;
    if (object !== undefined) this.#noteWithheld(object);
  }

  /** Whether anything was judged. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  /**
   * What queries are narrowed by, and of how many patients each count has to be where counts alone are answered. `ehrId`: the only EHR that is asked about; null: all, where it may ask for tags and marks, and of which an
   * emergency opens none.
   * @throws unprocessable as `withMarkedEhrs`
   */
  async narrowing(
    ehrId: string | null,
  ): Promise<{ readonly permitted: Permitted; readonly leastPatients?: number }> {
    const ehrIds = ehrId === null ? null : [ehrId];
    const inEmergency = ehrId !== null && this.isEmergency;
    const { permitted, leastPatients } = this.#rulesOf(this.request.actions[0], inEmergency);
    const named = await this.#facts.narrowed(permitted, ehrIds);
    this.#isWithheld ||= await this.#isLessNarrowed(named, ehrId);
    return { permitted: named, ...(leastPatients !== null && { leastPatients }) };
  }

  /** The EHRs that are there for him, in an emergency as ever: that is for one. `isNamed`: as for `seenEhrs`. */
  ehrs(isNamed: boolean): Promise<SeenEhrs> {
    return this.#ehrs(isNamed, false);
  }

  /** What they are where one patient is looked for by a name that is his. */
  namedEhrs(isNamed: boolean): Promise<SeenEhrs> {
    return this.#ehrs(isNamed, this.isEmergency);
  }

  #ehrs(isNamed: boolean, inEmergency: boolean): Promise<SeenEhrs> {
    const ehr = any(this.request.actions.map((action) => this.#rulesOf(action, inEmergency).permitted.ehr));
    return seenEhrs(this.#facts, ehr, isNamed);
  }

  /** What they would be in an emergency; null: he could not say that it is one, or has. */
  async ehrsInEmergency(isNamed: boolean): Promise<SeenEhrs | null> {
    if (this.request.mayBreakGlass !== true) return null;
    const rules = this.request.actions.flatMap((action) => this.#rulesInEmergency(action));
    return seenEhrs(this.#facts, any(rules.map(({ permitted }) => permitted.ehr)), isNamed);
  }

  /** Whether a query would find more in an emergency that he could state; one about all EHRs, whether it would be narrowed by less. */
  async #isLessNarrowed(named: Permitted, ehrId: string | null): Promise<boolean> {
    if (this.request.mayBreakGlass !== true) return false;
    const { systemId } = this.request;
    for (const { permitted } of this.#rulesInEmergency(this.request.actions[0])) {
      const then = await this.#facts.named(permitted, ehrId === null ? null : [ehrId]);
      if (isDeepStrictEqual(then, named)) continue;
      if (ehrId === null || (await opensMore({ ehrId, systemId, now: named, then }))) return true;
    }
    return false;
  }

  /** Notes that something was left out that he would be given in an emergency. */
  withheld(): void {
    this.#isWithheld = true;
  }

  /** Whether something was. */
  get isWithheld(): boolean {
    return this.#isWithheld;
  }

  /** Restrictions of processing that alone stood against something, with what is said of them. */
  get restrictions(): readonly HeldMark['doc'][] {
    return [...this.#restricting.values()].map(({ doc }) => doc);
  }

  /**
   * Whether tags or marks that were judged by are others by now: what was read meanwhile may have come with a merge out of an EHR that they hide,
   * or gone back into one.
   */
  hasOtherFacts(): Promise<boolean> {
    return this.#facts.areOthers();
  }

  /** Whether policies permit one action. */
  permits(action: Action, object: AccessObject): boolean {
    const { isPermitted, policies, marks, isBarredByMarks } = this.#rulesOf(action).decide(object);
    if (isBarredByMarks && marks.includes(RESTRICTION)) this.#noteRestrictions(object);
    for (const id of [...policies, ...marks.map((kind) => `mark:${kind}`)])
      if (this.#decided.size < MAX_AUDIT_IDS) this.#decided.add(id);
    return isPermitted;
  }

  /** What the audit is told of who was judged, and how. */
  get judgement(): AuditSubject {
    const { organisation, purpose } = this.request.subject;
    const { emergencyReason: reason } = this.request;
    return {
      ...(organisation !== undefined && { organisation }),
      ...(purpose !== undefined && { purpose }),
      ...(reason !== undefined && { reason }),
      ...(this.#decided.size > 0 && { policies: [...this.#decided].sort() }),
      ...(this.#hasRefused && { hidden: true }),
    };
  }

  /** Whether a policy, or a mark of an EHR, asks for what only the content of a VERSION says, which may be megabytes to read. */
  async asksContentOf(ehrId: string): Promise<boolean> {
    return (
      this.request.set.asksContent || (await this.#facts.marksOf(ehrId)).some((mark) => asksContentOf(mark))
    );
  }

  /** Forgets what marks an EHR had: what is written is judged by those that it has. */
  renew(ehrId: string): void {
    this.#facts.forget(ehrId);
  }

  /** @throws unavailable where an EHR got its first mark after the request began: it was judged without any */
  requireMinding({ marks_seq: seq }: Pick<EhrDoc, 'marks_seq'>): void {
    if (seq === undefined || this.request.set.mindsMarks) return;
    const message = 'marks were set while this was judged: send it again';
    throw new CdrError('unavailable', message, { retryAfterSeconds: 1 });
  }

  /** The same object with the marks that are on it for him. */
  async withMarks(ehrId: string, object: AccessObject): Promise<AccessObject> {
    return this.request.set.asksMarks ? marked(object, await this.#facts.marksOf(ehrId)) : object;
  }

  /** How a refusal begins: what does not permit something. */
  get refusedBy(): string {
    return this.request.set.refusedBy ?? 'no policy of access';
  }

  /** Whether an EHR is there for him. */
  async seesEhr({ _id: ehrId, subject }: Pick<EhrDoc, '_id' | 'subject'>): Promise<boolean> {
    const tags = await this.tagsOf(ehrId);
    const ehr = ehrObject({ ehrId, namespace: subject?.namespace, tags });
    return this.#sees(await this.withMarks(ehrId, ehr));
  }

  /** Tags of an EHR, as far as policies ask for any. */
  tagsOf(ehrId: string): Promise<AccessTags> {
    return this.#facts.tagsOf(ehrId);
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
    return this.#objectOf(ehrId, version, await this.asksContentOf(ehrId));
  }

  async #objectOf(ehrId: string, version: VersionDoc, readsContent: boolean): Promise<AccessObject> {
    const tags = await this.tagsOf(ehrId);
    const { systemId } = this.request;
    const object = await policyVersion({ ...version, ehr_id: ehrId }, tags, systemId, readsContent);
    return this.withMarks(ehrId, object);
  }

  /** Of the versions of an EHR with these uids those that are there for him. */
  seenAmong(ehrId: string, versionUids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#among(ehrId, versionUids, this.request.actions);
  }

  /** Of them those that he may read, whatever else the operation does. */
  readableAmong(ehrId: string, versionUids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#among(ehrId, versionUids, ['read']);
  }

  async #among(
    ehrId: string,
    versionUids: readonly string[],
    actions: readonly Action[],
  ): Promise<ReadonlySet<string>> {
    const seen = new Set<string>();
    const readsContent = await this.asksContentOf(ehrId);
    for (const part of inSteps([...new Set(versionUids)], AT_ONCE))
      for (const version of await versionsToJudge(ehrId, part, readsContent))
        if (this.#sees(await this.#objectOf(ehrId, version, readsContent), actions)) seen.add(version._id);
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

  #sees(object: AccessObject, actions: readonly Action[] = this.request.actions): boolean {
    const isSeen = actions.some((action) => this.permits(action, object));
    this.#hasRefused ||= !isSeen;
    if (!isSeen) this.#noteWithheld(object, actions);
    return isSeen;
  }

  /** Of something that is not there for him: whether it would be, had he broken the glass. */
  #noteWithheld(object: AccessObject, actions: readonly Action[] = this.request.actions): void {
    const { mayBreakGlass } = this.request;
    if (mayBreakGlass !== true || this.#isWithheld) return;
    const rules = actions.flatMap((action) => this.#rulesInEmergency(action));
    this.#isWithheld = rules.some((each) => each.decide(object).isPermitted);
  }

  #noteRestrictions(object: AccessObject): void {
    for (const mark of this.#facts.knownMarks(String(attributeOf(object, 'ehr_id'))))
      if (mark.kind === RESTRICTION && isOn(mark, object)) this.#restricting.set(mark.doc._id, mark);
  }

  /** Whether he says that it is an emergency. */
  get isEmergency(): boolean {
    return this.request.emergencyReason !== undefined;
  }

  #rulesOf(action: Action, inEmergency = this.isEmergency): RulesOfRequest {
    this.#isAsked = true;
    const { set, subject } = this.request;
    return set.rulesFor({ subject, action, ...(inEmergency && { isEmergency: true }) });
  }

  /** What would hold for him in an emergency, by each purpose that states one. */
  #rulesInEmergency(action: Action): readonly RulesOfRequest[] {
    this.#isAsked = true;
    const { set, subject } = this.request;
    return EMERGENCY_PURPOSES.map((purpose) =>
      set.rulesFor({ subject: { ...subject, purpose }, action, isEmergency: true }),
    );
  }
}

/** Versions as far as they are judged by them: content may be megabytes. */
function versionsToJudge(
  ehrId: string,
  versionUids: readonly string[],
  readsContent: boolean,
): Promise<VersionDoc[]> {
  return readsContent ? versionsById(ehrId, versionUids) : versionsWithoutContent(ehrId, versionUids);
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
