import { NO_MERGES, type MovingMerges } from '../../index/moved-owners.js';
import type { PlanGuards } from '../../plan/logical-plan.js';
import type { Permitted } from '../../../policy/condition.js';
import { asksCommitter, ehrIdMatch, ehrMatch, JOINED_VERSION, versionMatch } from './permitted-match.js';

/** What policies permit, as the matches of documents that a pass adds to a plan. */
export function guardsOf(
  { ehr, version }: Permitted,
  {
    systemId,
    asOf,
    merges,
    hasCommitters = false,
  }: {
    readonly systemId: string;
    readonly asOf: Date | null;
    readonly merges?: MovingMerges;
    /** Whether every document names its committer: then no VERSION is joined for him. */
    readonly hasCommitters?: boolean;
  },
): PlanGuards {
  const context = { systemId, targets: (merges ?? NO_MERGES).targets, hasCommitters };
  const match = versionMatch(version, context);
  const isJoined = !hasCommitters && asksCommitter(version);
  return {
    asOf,
    matches: isJoined || Object.keys(match).length === 0 ? [] : [match],
    joined: isJoined ? { as: JOINED_VERSION, match } : null,
    ehr: ehrMatch(ehr),
    ehrOfDocument: ehrIdMatch(ehr, context),
  };
}
