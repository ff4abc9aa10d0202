import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { JsonObject, JsonValue } from '../openehr/base/json.js';
import { jsonObjectOf } from '../openehr/base/json.js';
import { revisionNotFound, templateNotFound } from '../change/commit/refusal.js';
import type { ChangeSettings } from '../change/commit/context.js';
import { judgedByContent } from '../change/composition/judged-by.js';
import { revisionInUse } from '../models/definition/revision-in-use.js';
import { templateInUse, type TemplateInUse } from '../models/definition/template.js';
import { earlierSummaries } from '../models/definition/template-revision.js';
import { WALK_BEGIN } from '../models/template-upgrade.js';
import { countedCause, MOST_CAUSES, MOST_EXAMPLES } from './template-causes.js';
import { judgeBy, type JudgedContent, type UpgradeCause, type UpgradeWork } from './template-judge.js';
import { latestOf, walkTemplate, type LatestComposition } from './template-walk.js';

/** What an upgrade is asked for. */
export interface UpgradeRequest {
  readonly templateId: string;
  /** Number or digest of the revision whose data are upgraded; null: the one before the newest. */
  readonly from: string | null;
  readonly rules: JsonValue;
  readonly rewrite: boolean;
}

interface ShownCause extends UpgradeCause {
  readonly count: number;
  readonly examples: readonly string[];
}

/** What an upgrade would do. Counts are of COMPOSITIONs. */
interface UpgradePlan {
  readonly hash: string;
  readonly from: string;
  readonly to: string;
  readonly valid: number;
  readonly mappable: number;
  readonly invalid: number;
  /** Of the valid and mappable ones: a terminology server has to be asked. */
  readonly unproven: number;
  /** Those that are of the newest revision already, or of another one. */
  readonly others: number;
  readonly causes: readonly ShownCause[];
  readonly examples: readonly {
    readonly uid: string;
    readonly before: JsonObject;
    readonly after: JsonObject;
  }[];
}

/** Finds the revisions of an upgrade. @throws not-found */
export async function upgradeWork({ templateId, from, rules }: UpgradeRequest): Promise<UpgradeWork> {
  const after = await templateInUse(templateId);
  if (after === null) throw templateNotFound(templateId, 'not-found');
  const named = from ?? (await earlierSummaries(after.storedId)).at(-1)?.name;
  const before = named === undefined ? null : await revisionInUse(templateId, named);
  if (before === null) throw revisionNotFound(templateId, named ?? 'before the newest');
  return { before, after, rules };
}

/**
 * What an upgrade would do with the data that are there now; changes nothing. Others go on: it waits for them between any two
 * steps. @throws not-found; invalid as `judgeBy`
 */
export async function planUpgrade(
  settings: ChangeSettings,
  request: UpgradeRequest,
  signal: AbortSignal,
): Promise<UpgradePlan> {
  const work = await upgradeWork(request);
  const judge = judgeBy(work, settings);
  const counting = new Counting();
  for await (const { containers } of walkTemplate(work.after.storedId, WALK_BEGIN)) {
    signal.throwIfAborted();
    const isOf = belongingTo(work.before);
    for (const latest of await latestOf(containers)) {
      counting.add(latest, (await isOf(latest)) ? judge(latest.version) : null);
      await setImmediate();
    }
  }
  return {
    ...counting.result(),
    hash: await planHash(request, work),
    from: work.before.name,
    to: work.after.name,
  };
}

/** Tells whether COMPOSITIONs of a step are of a revision: what revisions there are is looked at once at most. */
export function belongingTo(revision: TemplateInUse): (latest: LatestComposition) => Promise<boolean> {
  let byContent: ReturnType<typeof judgedByContent> | undefined;
  return async ({ version }) => {
    const { template_digest: digest } = version;
    if (digest !== undefined) return digest === revision.digest;
    byContent ??= judgedByContent(revision.storedId);
    return (await (await byContent)(version))?.digest === revision.digest;
  };
}

/** What of the data a plan holds for: other rules, revisions or VERSIONs have another hash. */
export async function planHash(
  { rules, rewrite }: UpgradeRequest,
  { before, after }: UpgradeWork,
): Promise<string> {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([after.storedId, before.digest, after.digest, rules, rewrite]));
  for await (const { containers } of walkTemplate(after.storedId, WALK_BEGIN))
    for (const { latest_version_uid: uid } of containers) hash.update(uid);
  return hash.digest('hex');
}

class Counting {
  readonly #counts = { valid: 0, mappable: 0, invalid: 0, unproven: 0, others: 0 };
  readonly #causes = new Map<string, { cause: UpgradeCause; count: number; examples: string[] }>();
  readonly #examples: UpgradePlan['examples'][number][] = [];

  add({ version }: LatestComposition, judged: JudgedContent | null): void {
    if (judged === null) {
      this.#counts.others += 1;
      return;
    }
    this.#counts[judged.kind] += 1;
    if (judged.kind === 'invalid') {
      for (const cause of judged.causes) this.#note(cause, version._id);
      return;
    }
    if (judged.isUnproven) this.#counts.unproven += 1;
    if (judged.kind === 'mappable' && this.#examples.length < MOST_EXAMPLES)
      this.#examples.push({
        uid: version._id,
        before: jsonObjectOf(version.data ?? '{}'),
        after: judged.content,
      });
  }

  #note(cause: UpgradeCause, uid: string): void {
    const { key, path, message } = countedCause(cause);
    const known = this.#causes.get(key) ?? { cause: { path, message }, count: 0, examples: [] };
    known.count += 1;
    if (known.examples.length < MOST_EXAMPLES && known.examples.at(-1) !== uid) known.examples.push(uid);
    if (this.#causes.size < MOST_CAUSES || this.#causes.has(key)) this.#causes.set(key, known);
  }

  result(): Omit<UpgradePlan, 'hash' | 'from' | 'to'> {
    const causes = [...this.#causes.values()]
      .sort((one, other) => other.count - one.count)
      .map(({ cause, count, examples }) => ({ ...cause, count, examples }));
    return { ...this.#counts, causes, examples: this.#examples };
  }
}
