import type { Subject } from '../../models/ehr.js';
import type { Identity } from '../../models/identity.js';

/** Why two EHRs may be of one person: a value in which they agree. */
export interface CandidateReason {
  readonly code: 'subject_id' | 'identifier' | 'path';
  readonly value: string;
  /** EHRs that have the value, these two among them. */
  readonly sharedBy: number;
  /** Of `subject_id`: those of both. */
  readonly namespaces?: readonly string[];
  readonly issuer?: string;
  readonly type?: string;
  /** Of `path`: as configured. */
  readonly path?: string;
}

/** A value that more EHRs have in common is no evidence. */
export const MAX_SHARED = 10;

/** How likely one value that only two EHRs have makes it that they are of one person. */
const WEIGHTS = { subject_id: 0.6, identifier: 0.5, path: 0.4 } as const;
/** Of an identifier of which both also name the same issuer or type. */
const NAMED_IDENTIFIER = 0.8;
/** What is left of a score where one namespace gives both EHRs different subjects. */
const DIFFERENT_SUBJECTS = 0.5;

/**
 * 0 to 1, two digits: reasons count as independent of each other, each divided by how many other EHRs share its value. Two
 * subjects of one namespace are two persons there, which halves the score. docs/spec/merge.md#candidates
 */
export function candidateScore(reasons: readonly CandidateReason[], isAgainst: boolean): number {
  const doubt = reasons.reduce((product, reason) => product * (1 - weightOf(reason)), 1);
  return Math.round((1 - doubt) * (isAgainst ? DIFFERENT_SUBJECTS : 1) * 100) / 100;
}

function weightOf(reason: CandidateReason): number {
  const isNamed = reason.code === 'identifier' && (reason.issuer ?? reason.type) !== undefined;
  return (isNamed ? NAMED_IDENTIFIER : WEIGHTS[reason.code]) / Math.max(1, reason.sharedBy - 1);
}

/** Whether two identifiers with the same id can be the same: what both name is equal. */
export function isSameIdentifier(one: Identity, other: Identity): boolean {
  return (['issuer', 'assigner', 'type'] as const).every(
    (name) => one[name] === undefined || other[name] === undefined || one[name] === other[name],
  );
}

/** Whether one namespace knows both as different persons. */
export function areDifferentSubjects(one: Subject | undefined, other: Subject | undefined): boolean {
  return one !== undefined && one.namespace === other?.namespace && one.id !== other.id;
}
