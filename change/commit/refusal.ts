import { nearestWord } from '../../openehr/base/text.js';
import { violationAt, violationText, type Violation } from '../../openehr/base/violation.js';
import { CdrError } from '../../openehr/base/errors.js';
import type { EhrDoc } from '../../models/ehr.js';
import type { RootType } from '../../openehr/rm/root-type.js';
import type { VersionedObjectDoc } from '../../models/versioned-object.js';

const RESOURCE = { COMPOSITION: 'composition', EHR_STATUS: 'ehr_status', FOLDER: 'directory' } as const;

/** Path of a version below the standard API. */
export function versionPath(ehrId: string, type: RootType, versionUid: string): string {
  return `/ehr/${ehrId}/${RESOURCE[type]}/${versionUid}`;
}

/** 409 for a write to an EHR that was merged into another one, which `Link` names. */
export function mergedConflict(ehrId: string, mergedInto: string): CdrError {
  return new CdrError('conflict', mergedMessage(ehrId, mergedInto), { mergedInto });
}

/** 404 for an EHR id that is unknown or being deleted. */
export function ehrNotFound(ehrId: string): CdrError {
  return new CdrError('not-found', `EHR with id ${ehrId} does not exist`);
}

/** Text that says where a merged EHR went. */
export function mergedMessage(ehrId: string, finalEhrId: string): string {
  return `EHR ${ehrId} was merged into ${finalEhrId}`;
}

/**
 * What a write to this EHR is refused with, null when it may go on: 404 unknown, 409 merged away.
 * `finalEhrId`: where the merges that began here ended.
 */
export function ehrRefusal(ehrId: string, ehr: EhrDoc | null, finalEhrId: string): CdrError | null {
  if (ehr?.state === 'merged') return mergedConflict(ehrId, finalEhrId);
  if (ehr?.merging !== undefined) return beingMerged(ehrId);
  return ehr?.state === 'active' ? null : ehrNotFound(ehrId);
}

/** 503 for a write to an EHR that is being merged, or taken out of another one, in steps. */
export function beingMerged(ehrId: string): CdrError {
  return new CdrError('unavailable', `EHR ${ehrId} is being merged`, { retryAfterSeconds: 1 });
}

/** 409 for a write to an EHR whose EHR_STATUS says `is_modifiable=false`. */
export function notModifiable(ehrId: string): CdrError {
  return new CdrError('conflict', `EHR with id ${ehrId} does not allow modification`);
}

/** 404 for a container that is unknown, of another type or of another EHR. */
export function objectNotFound(
  ehrId: string,
  type: RootType | 'object',
  versionedObjectUid: string,
): CdrError {
  return new CdrError('not-found', `${type} with id ${versionedObjectUid} does not exist in EHR ${ehrId}`);
}

/** The same error with the latest version of a container. */
export function withLatestVersion(error: CdrError, container: VersionedObjectDoc): CdrError {
  return new CdrError(error.code, error.message, { ...error.details, ...latestOf(container), cause: error });
}

/** What an error says of the latest version of a container. */
export function latestOf({ ehr_id: ehrId, type, latest_version_uid: latestVersionUid }: VersionedObjectDoc): {
  latestVersionUid: string;
  latestVersionPath: string;
} {
  return { latestVersionUid, latestVersionPath: versionPath(ehrId, type, latestVersionUid) };
}

/** 412 or 409 for a version that is not the latest, with the latest one. */
export function staleVersion(
  code: 'precondition-failed' | 'conflict',
  container: VersionedObjectDoc,
): CdrError {
  const latest = latestOf(container);
  return new CdrError(
    code,
    `the latest version is ${latest.latestVersionUid}, another one was named`,
    latest,
  );
}

/** The error with the entry of the CONTRIBUTION it came from in its message. */
export function atEntry(index: number, error: unknown): unknown {
  if (!(error instanceof CdrError)) return error;
  const { violations, ...details } = error.details;
  if (violations === undefined) {
    const problems = details.problems?.map((problem) => inData(index, problem));
    const placed = problems === undefined ? details : { ...details, problems };
    return new CdrError(error.code, `versions[${index}]: ${error.message}`, { ...placed, cause: error });
  }
  const placed = violations.map((violation) =>
    violation.path.startsWith('/versions[')
      ? violation
      : { ...violation, path: `/versions[${index}]/data${violation.path}` },
  );
  return new CdrError(error.code, placed.map(violationText).join(', '), {
    ...details,
    violations: placed,
    cause: error,
  });
}

/** What is said of a key of a simplified form, or of the form itself, is said of the data; of a template of all the request. */
function inData(index: number, problem: Violation): Violation {
  const isOfForm = problem.flatPath !== undefined || problem.code === 'wrong-form';
  return isOfForm && problem.path === '/' ? { ...problem, path: `/versions[${index}]/data` } : problem;
}

/**
 * A template id that is unknown: 404 where the template itself is asked for, 422 where a COMPOSITION names it.
 * `known`: ids, of which the nearest one is suggested.
 */
export function templateNotFound(
  templateId: string,
  code: 'not-found' | 'unprocessable',
  known: readonly string[] = [],
): CdrError {
  const message = `Template with template_id '${templateId}' does not exist`;
  const nearest = nearestWord(templateId, known);
  const problem = violationAt('/archetype_details/template_id/value', message, 'unknown-template');
  const expected = nearest === null ? [] : [nearest];
  const hint = nearest === null ? '' : `; did you mean '${nearest}'?`;
  return new CdrError(code, `${message}${hint}`, { problems: [{ ...problem, expected, found: templateId }] });
}

/** The refusal of a revision that a template does not have: 404 where it is asked for, 422 where content names it. */
export function revisionNotFound(
  templateId: string,
  revision: string,
  code: 'not-found' | 'unprocessable' = 'not-found',
): CdrError {
  return new CdrError(code, `the template ${templateId} has no revision ${revision}`);
}
