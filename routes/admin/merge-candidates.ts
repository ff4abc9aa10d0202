import type { Context } from 'koa';
import { viewing } from '../../change/access/viewer.js';
import { readableEhr } from '../../change/commit/ehr-access.js';
import type { Settings } from '../../config/settings.js';
import type { JsonObject } from '../../openehr/base/json.js';
import { CdrError } from '../../openehr/base/errors.js';
import { readCandidatePaths } from '../../merge/candidates/paths.js';
import type { CandidateReason } from '../../merge/candidates/score.js';
import {
  candidatesOf,
  mergeCandidates,
  type CandidatePage,
  type CandidateSearch,
  type MergeCandidate,
} from '../../merge/candidates/candidates.js';
import { withoutDistinct } from '../../merge/candidates/distinct.js';
import { auditAbout } from '../http/audit-trail.js';
import type { Operation } from '../http/operation/operation.js';
import { queryParameter, textsOf } from '../http/parameter-values.js';
import { adminForm, adminOperation, writeRecord } from './record.js';

const CANDIDATES = 'MergeCandidatesDto';
/** EHRs that may be of one person: what to look at before a merge. */
export function mergeCandidateOperations(settings: Settings): Operation[] {
  const search: CandidateSearch = {
    paths: readCandidatePaths(settings.mergeCandidatePaths).paths,
    leafIndex: settings.aql.leafIndex,
  };
  return [
    adminOperation({
      id: 'getMergeCandidates',
      discloses: 'read',
      method: 'GET',
      path: '/ehr/merge_candidates',
      summary: 'List EHRs that may be of one person, with scores and reasons',
      parameters: ['candidate_ehr_id', 'candidate_after', 'candidate_fetch'],
      responses: { 200: { description: 'One page', body: { schema: CANDIDATES, types: 'rm' } } },
      errors: [400, 404],
      failure: { root: CANDIDATES, fields: { candidates: [], no_evidence: [] } },
      handle: (ctx) => candidates(ctx, search),
    }),
  ];
}

async function candidates(ctx: Context, search: CandidateSearch): Promise<void> {
  const form = adminForm(ctx);
  const ehrId = queryParameter(ctx, 'candidate_ehr_id');
  const after = queryParameter(ctx, 'candidate_after');
  const fetch = queryParameter(ctx, 'candidate_fetch');
  if (ehrId !== null) {
    auditAbout(ctx, { ehr_id: ehrId });
    if (after !== null || textsOf(ctx, 'fetch').some((given) => given !== ''))
      throw new CdrError(
        'invalid',
        'after and fetch are of the list of all: the candidates of one EHR are one page',
      );
    await readableEhr(ehrId);
  }
  const page = await seenPage(
    await withoutDistinct(
      ehrId === null
        ? await mergeCandidates(search, { after: after ?? '', fetch })
        : await candidatesOf(search, ehrId),
    ),
  );
  const named = page.candidates.flatMap((pair) => [pair.ehrId, pair.otherEhrId]);
  if (named.length > 0) auditAbout(ctx, { ehr_ids: [...new Set(named)] });
  writeRecord(ctx, form, { record: CANDIDATES, fields: pageJson(page) });
}

/** Without pairs of which one is not there for who asks. */
async function seenPage(page: CandidatePage): Promise<CandidatePage> {
  const viewer = viewing.getStore()?.viewer;
  if (viewer === undefined) return page;
  viewer.narrowed();
  const candidates: MergeCandidate[] = [];
  for (const pair of page.candidates)
    if ((await viewer.seesEhrId(pair.ehrId)) && (await viewer.seesEhrId(pair.otherEhrId)))
      candidates.push(pair);
  return { ...page, candidates };
}

function pageJson({
  candidates: found,
  noEvidence,
  examinedEhrs,
  next,
  incomplete,
}: CandidatePage): JsonObject {
  return {
    candidates: found.map(candidateJson),
    no_evidence: noEvidence.map((value) => ({ ...value })),
    examined_ehrs: examinedEhrs,
    ...(next !== null && { next }),
    ...(incomplete.length > 0 && { incomplete: [...incomplete] }),
  };
}

function candidateJson(pair: MergeCandidate): JsonObject {
  const { ehrId, otherEhrId, score, reasons, differentIn, pending } = pair;
  return {
    ehr_id: ehrId,
    other_ehr_id: otherEhrId,
    score,
    reasons: reasons.map(reasonJson),
    ...(differentIn !== null && { against: [{ code: 'different_subjects', namespace: differentIn }] }),
    ...(pending.length > 0 && {
      pending: pending.map(({ mergeId, source, target }) => ({
        merge_id: mergeId,
        source_ehr: source,
        target_ehr: target,
      })),
    }),
  };
}

function reasonJson({ sharedBy, namespaces, ...reason }: CandidateReason): JsonObject {
  return {
    ...reason,
    ...(namespaces !== undefined && { namespaces: [...namespaces] }),
    shared_by: sharedBy,
  };
}
