import { FIELD } from '../../index/document.js';
import { NO_MERGES, type MovingMerges } from '../../index/moved-owners.js';
import type { Stage } from '../../index/stage.js';
import type { Guard, PlanGuards } from '../../plan/logical-plan.js';
import { lookup, type LookupStep } from '../../plan/steps.js';
import { withoutBeside, type Condition, type Permitted } from '../../../policy/condition.js';
import { markJoin, tagJoin } from './beside-match.js';
import {
  asksCommitter,
  asksMarks,
  ehrIdMatch,
  ehrMatch,
  JOINED_VERSION,
  tagKeys,
  versionMatch,
} from './permitted-match.js';

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
  // One join of tags has those that both ask for.
  const keys = [...new Set([...tagKeys(ehr), ...tagKeys(version)])].sort();
  const joinsOf = (condition: Condition, ehrField: string): LookupStep[] => [
    ...(tagKeys(condition).length > 0 ? [tagJoin(ehrField, keys)] : []),
    ...(asksMarks(condition) ? [markJoin(ehrField)] : []),
  ];
  const needsVersion = !hasCommitters && asksCommitter(version);
  const ofDocument = (condition: Condition): Stage | null => ehrIdMatch(condition, context);
  const isOfDocument = ofDocument(ehr) !== null;
  return {
    asOf,
    version: guardOf(version, {
      match: (condition) => versionMatch(condition, context),
      joins: [...(needsVersion ? [VERSION_JOIN] : []), ...joinsOf(version, FIELD.ehrId)],
      isFound: !needsVersion,
    }),
    ehr: guardOf(ehr, {
      match: (condition) => ehrMatch(condition, systemId),
      joins: joinsOf(ehr, '_id'),
      isFound: true,
    }),
    ehrOfDocument: isOfDocument
      ? guardOf(ehr, {
          match: (condition) => ofDocument(condition) ?? {},
          joins: joinsOf(ehr, FIELD.ehrId),
          isFound: true,
        })
      : null,
  };
}

/** The VERSION of a query index document, for who committed it. */
const VERSION_JOIN: LookupStep = {
  ...lookup({ as: JOINED_VERSION, from: 'versions', localField: '_id', foreignField: '_id' }, []),
  kept: ['commit_audit'],
};

/** `isFound`: whether documents say what is asked beside tags and marks, so that those that cannot be permitted are not joined to anything. */
function guardOf(
  condition: Condition,
  {
    match,
    joins,
    isFound,
  }: {
    readonly match: (condition: Condition) => Stage;
    readonly joins: readonly LookupStep[];
    readonly isFound: boolean;
  },
): Guard {
  if (joins.length === 0) return { matches: asking(match(condition)), joins, joined: [] };
  const matches = isFound ? asking(match(withoutBeside(condition))) : [];
  return { matches, joins, joined: asking(match(condition)) };
}

function asking(match: Stage): Stage[] {
  return Object.keys(match).length === 0 ? [] : [match];
}
