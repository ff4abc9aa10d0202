import type { AqlLeaf, LeafIndex } from '../../aql/index/document.js';
import { groupBy } from '../../openehr/base/maps.js';
import { derivedState } from '../../models/cross-collection/run-pipeline.js';
import type { EhrDoc } from '../../models/ehr.js';
import type { Identity } from '../../models/identity.js';
import {
  ehrIdsWithLeaf,
  ehrsWithIdentity,
  identifiedEhrs,
  identifiedEhrsAfter,
  leavesOfEhr,
  type IdentifiedEhr,
} from '../../models/ehr-identity.js';
import { waitingMergesOfEhrs } from '../../models/merge/request.js';
import { storageSettings } from '../../models/settings.js';
import type { CandidatePath } from './paths.js';
import {
  areDifferentSubjects,
  candidateScore,
  isSameIdentifier,
  MAX_SHARED,
  type CandidateReason,
} from './score.js';

/** Two EHRs that may be of one person. */
export interface MergeCandidate {
  readonly ehrId: string;
  readonly otherEhrId: string;
  readonly score: number;
  readonly reasons: readonly CandidateReason[];
  /** The namespace that knows them as two persons. */
  readonly differentIn: string | null;
  /** The merge of one of them that waits for approval: which, and between whom. */
  readonly pending: readonly { readonly mergeId: string; readonly source: string; readonly target: string }[];
}

/** A value that too many EHRs share. */
type NoEvidence = Pick<CandidateReason, 'code' | 'value' | 'path'>;

/** One page of candidates. */
export interface CandidatePage {
  readonly candidates: readonly MergeCandidate[];
  readonly noEvidence: readonly NoEvidence[];
  readonly examinedEhrs: number;
  /** The next page begins after this EHR; null: this one was the last. */
  readonly next: string | null;
  /** Why some may be missing; empty: none are. */
  readonly incomplete: readonly string[];
}

/** What is searched by. */
export interface CandidateSearch {
  readonly paths: readonly CandidatePath[];
  readonly leafIndex: LeafIndex;
}

/** EHRs that one request looks at, and look-ups in indexes that it makes: what it costs whatever is stored. */
export const EXAMINED_EHRS = 1_000;
const LOOK_UPS = 1_000;
const EHRS_AT_ONCE = 100;

/**
 * Pairs of EHRs, each once, in the order of the lower id; a page ends after the EHR with which it has `fetch` pairs or has cost
 * enough. docs/spec/merge.md#candidates
 */
export async function mergeCandidates(
  search: CandidateSearch,
  { after, fetch }: { readonly after: string; readonly fetch: number },
): Promise<CandidatePage> {
  const finder = new CandidateFinder(search);
  let last = after;
  let examinedEhrs = 0;
  for (;;) {
    const ehrs = await identifiedEhrsAfter(last, EHRS_AT_ONCE);
    for (const ehr of ehrs) {
      if (isCandidate(ehr)) await finder.find(ehr, (other) => other > ehr._id);
      last = ehr._id;
      examinedEhrs += 1;
      if (finder.isSpent || finder.found.length >= fetch || examinedEhrs === EXAMINED_EHRS)
        return finder.page(examinedEhrs, last);
    }
    if (ehrs.length < EHRS_AT_ONCE) return finder.page(examinedEhrs, null);
  }
}

/** All that may be the person of one EHR, the likeliest first; none while it is merged away or being merged. */
export async function candidatesOf(search: CandidateSearch, ehrId: string): Promise<CandidatePage> {
  const finder = new CandidateFinder(search);
  const [ehr] = await identifiedEhrs([ehrId]);
  if (ehr !== undefined && isCandidate(ehr)) await finder.find(ehr, (other) => other !== ehrId);
  return finder.page(1, null);
}

function isCandidate({ state, merging }: Pick<EhrDoc, 'state' | 'merging'>): boolean {
  return state === 'active' && merging === undefined;
}

interface Agreement {
  readonly ehrId: string;
  readonly reason: CandidateReason;
}

class CandidateFinder {
  readonly found: Omit<MergeCandidate, 'pending'>[] = [];
  readonly #search: CandidateSearch;
  readonly #noEvidence = new Map<string, NoEvidence>();
  #lookUps = 0;

  constructor(search: CandidateSearch) {
    this.#search = search;
  }

  get isSpent(): boolean {
    return this.#lookUps >= LOOK_UPS;
  }

  /** Adds the candidates of one EHR among others, the likeliest first. */
  async find(ehr: IdentifiedEhr, isWanted: (ehrId: string) => boolean): Promise<void> {
    const agreements: Agreement[] = [];
    const identities = groupBy(ehr.identities ?? [], ({ key }) => key);
    for (const [key, own] of identities) agreements.push(...(await this.#sameIdentity(ehr, key, own)));
    for (const path of this.#search.paths) agreements.push(...(await this.#sameValues(ehr, path)));
    const byEhr = groupBy(
      agreements.filter(({ ehrId }) => isWanted(ehrId)),
      ({ ehrId }) => ehrId,
    );
    const others = byEhr.size === 0 ? [] : await identifiedEhrs([...byEhr.keys()]);
    const found = others.filter(isCandidate).map((other) => {
      const reasons = (byEhr.get(other._id) ?? []).map(({ reason }) => reason);
      const isAgainst = areDifferentSubjects(ehr.subject, other.subject);
      return {
        ehrId: ehr._id,
        otherEhrId: other._id,
        score: candidateScore(reasons, isAgainst),
        reasons,
        differentIn: isAgainst ? (ehr.subject?.namespace ?? null) : null,
      };
    });
    found.sort((a, b) => b.score - a.score || (a.otherEhrId < b.otherEhrId ? -1 : 1));
    this.found.push(...found);
  }

  async page(examinedEhrs: number, next: string | null): Promise<CandidatePage> {
    const waiting = await waitingMergesOfEhrs(
      this.found.flatMap(({ ehrId, otherEhrId }) => [ehrId, otherEhrId]),
    );
    const candidates = this.found.map((pair) => ({
      ...pair,
      pending: waiting
        .filter(({ source_ehr: source, target_ehr: target }) =>
          [source, target].some((ehrId) => ehrId === pair.ehrId || ehrId === pair.otherEhrId),
        )
        .map((merge) => ({ mergeId: merge._id, source: merge.source_ehr, target: merge.target_ehr })),
    }));
    return {
      candidates,
      noEvidence: [...this.#noEvidence.values()],
      examinedEhrs,
      next,
      incomplete: await incompleteness(this.#search),
    };
  }

  /** `own`: the identities of the EHR with the key; whatever they are, they are one reason. */
  async #sameIdentity(ehr: IdentifiedEhr, key: string, own: readonly Identity[]): Promise<Agreement[]> {
    const [kind, value] = splitKey(key);
    const code = kind === 'subject' ? 'subject_id' : 'identifier';
    this.#lookUps += 1;
    const holders = await ehrsWithIdentity(key, MAX_SHARED + 1);
    if (this.#isShared(holders.length, { code, value })) return [];
    const others = holders.map((holder) => ({
      holder,
      its: (holder.identities ?? []).filter((each) => each.key === key),
    }));
    return others.flatMap(({ holder, its }) => {
      const names = agreedNames(own, its);
      if (names === null || holder._id === ehr._id) return [];
      const namespaces = [ehr.subject?.namespace ?? '', holder.subject?.namespace ?? ''];
      // Of those that fit either of both: the same whoever asks.
      const sharedBy = others.filter((each) => isShared(each.its, own) || isShared(each.its, its)).length;
      const further = code === 'subject_id' ? { namespaces } : names;
      return [{ ehrId: holder._id, reason: { code, value, sharedBy, ...further } }];
    });
  }

  async #sameValues(ehr: IdentifiedEhr, path: CandidatePath): Promise<Agreement[]> {
    const { text, archetypeId, leafKeys } = path;
    this.#lookUps += 1;
    const agreements: Agreement[] = [];
    for (const leaf of await leavesOfEhr(ehr._id, archetypeId, leafKeys)) {
      const value = valueText(leaf);
      if (value === '') continue;
      this.#lookUps += 1;
      const ehrIds = await ehrIdsWithLeaf(leaf);
      if (this.#isShared(ehrIds.length, { code: 'path', value, path: text })) continue;
      for (const ehrId of ehrIds.filter((each) => each !== ehr._id))
        agreements.push({ ehrId, reason: { code: 'path', value, path: text, sharedBy: ehrIds.length } });
    }
    return agreements;
  }

  #isShared(holders: number, value: NoEvidence): boolean {
    if (holders <= MAX_SHARED) return false;
    this.#noEvidence.set(JSON.stringify(value), value);
    return true;
  }
}

function splitKey(key: string): readonly [string, string] {
  const end = key.indexOf(':');
  return [key.slice(0, end), key.slice(end + 1)];
}

/** What the identifiers of two EHRs with one id name both, of those the one that names most; null: none can be the same. */
function agreedNames(
  own: readonly Identity[],
  others: readonly Identity[],
): Pick<CandidateReason, 'issuer' | 'type'> | null {
  const pairs = own.flatMap((one) => others.map((other) => [one, other] as const));
  const named = pairs
    .filter(([one, other]) => isSameIdentifier(one, other))
    .map(([one, other]) => bothName(one, other))
    .toSorted(
      (a, b) => numberOfNames(b) - numberOfNames(a) || (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1),
    );
  return named[0] ?? null;
}

function isShared(one: readonly Identity[], other: readonly Identity[]): boolean {
  return agreedNames(one, other) !== null;
}

function numberOfNames(names: object): number {
  return Object.keys(names).length;
}

function bothName(one: Identity, other: Identity): Pick<CandidateReason, 'issuer' | 'type'> {
  return {
    ...(one.issuer !== undefined && one.issuer === other.issuer && { issuer: one.issuer }),
    ...(one.type !== undefined && one.type === other.type && { type: one.type }),
  };
}

const DAY_MS = 86_400_000;

/** The value of a leaf as a person reads it: dates and times are numbers there (docs/spec/storage.md#leaves). */
function valueText({ k: key, v: value }: AqlLeaf): string {
  if (typeof value === 'number' && key.endsWith('|d'))
    return new Date(value * DAY_MS).toISOString().slice(0, 10);
  if (typeof value === 'number' && key.endsWith('|t')) return new Date(value).toISOString();
  return String(value).trim();
}

async function incompleteness({ paths, leafIndex }: CandidateSearch): Promise<string[]> {
  const reasons: string[] = [];
  if ((await storageSettings())?.identities !== true)
    reasons.push(
      'identifiers of EHRs that an older release wrote are unknown until everchart upgrade has run',
    );
  if (paths.length > 0 && (await derivedState(leafIndex)).leafIndex !== 'all')
    reasons.push('values at paths are not all indexed until everchart reindex has run');
  return reasons;
}
