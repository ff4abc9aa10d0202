import type { Page } from '../aql/result/paging.js';
import type { Clock } from '../aql/semantics/present-time.js';
import type { ReferenceData } from '../aql/evaluate/data.js';
import { evaluateQuery } from '../aql/evaluate/evaluate.js';
import type { RawRow } from '../aql/result/result-set.js';
import type { Scope } from '../aql/semantics/scope/types.js';
import { CdrError } from '../openehr/base/errors.js';
import type { JsonObject, JsonValue } from '../openehr/base/json.js';
import { contentsOfEhrs, type EhrContents, type RunLimits } from '../models/access/run-pipeline.js';

/** Versions that one query may load for the evaluator. */
export const MAX_VERSIONS = 20_000;

/** What of the request changes the rows. */
export interface Evaluation {
  readonly scope: Scope;
  readonly page: Page;
  readonly systemId: string;
  readonly subsumption: boolean;
  readonly asOf: Date | null;
  readonly ehrId: string | null;
  readonly clock: Clock;
  readonly limits: RunLimits;
}

/**
 * Evaluates a query over the EHRs that its pipeline found: for the few constructs that compare whole objects.
 * @throws unprocessable when the EHRs hold too much for that
 */
export async function evaluateCandidates(
  found: AsyncIterable<RawRow>,
  evaluation: Evaluation,
): Promise<readonly (readonly JsonValue[])[]> {
  const ehrIds = new Set<string>();
  for await (const { row } of found) for (const id of row) if (typeof id === 'string') ehrIds.add(id);
  const contents = await contentsOfEhrs([...ehrIds], MAX_VERSIONS, evaluation.limits);
  if (contents === null)
    throw new CdrError(
      'unprocessable',
      'grouping by whole objects of so many EHRs is too much: name one EHR, or select primitive values',
    );
  const { scope, page, systemId, subsumption, asOf, ehrId, clock } = evaluation;
  const options = { systemId, subsumption, asOf, ehrId, page };
  const time = { now: clock.now, zoneOffsetMinutes: clock.offsetMinutes };
  return evaluateQuery(scope, referenceData(contents), { ...options, ...time }).rows;
}

function referenceData({ ehrs, versions }: EhrContents): ReferenceData {
  return {
    ehrs: ehrs.map((ehr) => ({
      ehrId: ehr._id,
      systemId: ehr.system_id,
      timeCreated: ehr.time_created,
      isQueryable: ehr.is_queryable,
    })),
    versions: versions.map((version) => ({
      uid: version._id,
      ehrId: version.ehr_id,
      type: version.type,
      timeCommitted: version.time_committed,
      commitAudit: version.commit_audit,
      lifecycleState: version.lifecycle_state,
      contributionUid: version.contribution_uid,
      precedingVersionUid: version.preceding_version_uid ?? null,
      ...(version.signature === undefined ? {} : { signature: version.signature }),
      data: version.data === null ? null : (JSON.parse(version.data) as JsonObject),
    })),
  };
}
