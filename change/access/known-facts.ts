import { isDeepStrictEqual } from 'node:util';
import { accessTagsOf } from '../../models/access-tag.js';
import { marksOfEhr, withMarkedEhrs, type HeldMark } from '../../models/cross-collection/marked-ehrs.js';
import { withTaggedEhrs } from '../../models/cross-collection/tagged-ehrs.js';
import type { AccessTags } from '../../policy/attributes.js';
import type { Permitted } from '../../policy/condition.js';
import { marksFor } from '../../policy/marks.js';
import type { RuleSource } from '../../policy/policy-set.js';

/** EHRs of which a request keeps the tags and the marks. */
const KEPT_EHRS = 1_000;

/** What is permitted, of which EHRs (null: all) it was asked, and with EHRs in place of tags and marks. */
interface Narrowed {
  readonly permitted: Permitted;
  readonly ehrIds: readonly string[] | null;
  readonly options: NarrowOptions;
  readonly named: Permitted;
}

/** How EHRs are named. */
interface NarrowOptions {
  /** false: not those that have marks by merges, where these and others are too many. */
  readonly byMerges?: boolean;
}

/** Tags and marks of EHRs as they are while a request runs, as far as policies ask for any: many versions of one EHR are judged. */
export class KnownFacts {
  readonly #tags = new Map<string, AccessTags>();
  /** That hold for who asks. */
  readonly #marks = new Map<string, readonly HeldMark[]>();
  /** What lists and queries were narrowed by. */
  readonly #narrowed: Narrowed[] = [];

  /** `organisation`: of who asks. */
  constructor(
    private readonly set: Pick<RuleSource, 'asksTags' | 'asksMarks'>,
    private readonly organisation: string | undefined,
  ) {}

  /** Tags of an EHR. */
  async tagsOf(ehrId: string): Promise<AccessTags> {
    return this.set.asksTags ? kept(this.#tags, ehrId, accessTagsOf) : {};
  }

  /** Marks of an EHR. */
  async marksOf(ehrId: string): Promise<readonly HeldMark[]> {
    return this.set.asksMarks ? kept(this.#marks, ehrId, (id) => this.#marksNow(id)) : [];
  }

  /** Marks of an EHR, if they were asked for. */
  knownMarks(ehrId: string): readonly HeldMark[] {
    return this.#marks.get(ehrId) ?? [];
  }

  /** Forgets what an EHR had. */
  forget(ehrId: string): void {
    this.#marks.delete(ehrId);
  }

  /**
   * What lists and queries are narrowed by. `ehrIds`: the only EHRs that are asked about; null: all, where it still asks for tags and marks
   * of which there are too many to name what has them. @throws as `withMarkedEhrs`
   */
  async narrowed(
    permitted: Permitted,
    ehrIds: readonly string[] | null,
    options: NarrowOptions = {},
  ): Promise<Permitted> {
    if (!this.set.asksTags && !this.set.asksMarks) return permitted;
    const named = await this.named(permitted, ehrIds, options);
    this.#narrowed.push({ permitted, ehrIds, options, named });
    return named;
  }

  /** The same for nothing that is answered. */
  async named(
    permitted: Permitted,
    ehrIds: readonly string[] | null,
    { byMerges = true }: NarrowOptions = {},
  ): Promise<Permitted> {
    const tagged = this.set.asksTags ? await withTaggedEhrs(permitted, ehrIds) : permitted;
    if (!this.set.asksMarks) return tagged;
    return withMarkedEhrs(tagged, { ehrIds, organisation: this.organisation, byMerges });
  }

  /** Whether any of it is otherwise by now. */
  async areOthers(): Promise<boolean> {
    for (const [ehrId, tags] of this.#tags)
      if (!isDeepStrictEqual(await accessTagsOf(ehrId), tags)) return true;
    for (const [ehrId, marks] of this.#marks)
      if (!isDeepStrictEqual(await this.#marksNow(ehrId), marks)) return true;
    for (const { permitted, ehrIds, options, named } of this.#narrowed)
      if (!isDeepStrictEqual(await this.named(permitted, ehrIds, options), named)) return true;
    return false;
  }

  async #marksNow(ehrId: string): Promise<readonly HeldMark[]> {
    return marksFor(await marksOfEhr(ehrId), this.organisation);
  }
}

async function kept<T>(
  known: Map<string, T>,
  ehrId: string,
  read: (ehrId: string) => Promise<T>,
): Promise<T> {
  const before = known.get(ehrId);
  if (before !== undefined) return before;
  const facts = await read(ehrId);
  if (known.size >= KEPT_EHRS) known.clear();
  known.set(ehrId, facts);
  return facts;
}
