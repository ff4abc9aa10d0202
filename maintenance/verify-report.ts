import type { CollectionName } from '../models/access/layout.js';
import { listOf } from '../models/cross-collection/seal-hash.js';
import { idText } from '../models/cross-collection/seal-record.js';
import type { VersionDoc } from '../models/version.js';
import type { AcceptedFinding } from '../openehr/rm/lenient.js';
import type { SealState } from './seal.js';

/** What a violation is about: a document of a collection, or what the seals and the check itself found. */
export type ViolationKind =
  CollectionName | 'changed' | 'missing' | 'inserted' | 'chain-broken' | 'erased' | 'verify';

/** One thing that is not as it must be, or that was erased. */
export interface Violation {
  readonly kind: ViolationKind;
  /** Its id. */
  readonly id: string;
  /** What is wrong; never content. */
  readonly message: string;
}

/** What lenient validation accepted in a VERSION: no violation. */
export interface AcceptedInVersion extends AcceptedFinding {
  /** Its uid. */
  readonly id: string;
}

/** What may be as somebody chose it, which an older release did not record: no violation. */
export interface Unrecorded {
  /** Its id. */
  readonly id: string;
  /** What it is, and what it would be by the rule. */
  readonly message: string;
}

/** What an integrity check found. docs/spec/rest.md#verify */
export interface VerifyReport {
  /** Documents looked at, by collection. */
  readonly checked: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
  /** Sealed records that were removed by an erasure, a merge or an unmerge: no violations. */
  readonly erased: readonly Violation[];
  readonly unrecorded: readonly Unrecorded[];
  readonly accepted: readonly AcceptedInVersion[];
  /** VERSIONs in which lenient validation accepted something; not all of them need be listed in `accepted`. */
  readonly acceptedVersions: number;
  /** The newest block of seals after the check; null while nothing was ever sealed. */
  readonly seal: SealState | null;
}

/** How far an integrity check is. */
export interface VerifyProgress {
  readonly ehrs: number;
  /** About how many there are. */
  readonly ofEhrs: number;
}

/** Violations that are listed; a broken database may have one per document. */
const LISTED = 10_000;
/** Characters shown of what was left out of a VERSION; the VERSION itself shows all. */
const SHOWN_LENGTH = 200;

/** What a check of one part found so far. */
export class Findings {
  readonly checked = new Map<CollectionName, number>();
  readonly violations: Violation[] = [];
  readonly erased: Violation[] = [];
  readonly unrecorded: Unrecorded[] = [];
  readonly accepted: AcceptedInVersion[] = [];
  acceptedVersions = 0;

  /** Notes what an older release may have been told to do. */
  addUnrecorded(id: string, message: string): void {
    if (this.unrecorded.length < LISTED) this.unrecorded.push({ id, message });
  }

  /** Counts documents as looked at. */
  count(kind: CollectionName, number: number): void {
    this.checked.set(kind, (this.checked.get(kind) ?? 0) + number);
  }

  /** Notes a violation; of those that will not be listed only that there are more. */
  add(kind: ViolationKind, id: string, message: string): void {
    if (this.violations.length <= LISTED) this.violations.push({ kind, id: idText(id), message });
  }

  /** Takes back the violations that are not to be kept. */
  keepOnly(isKept: (one: Violation) => boolean): void {
    this.violations.splice(0, Infinity, ...this.violations.filter(isKept));
  }

  /** Notes a sealed record that was removed as it should be. */
  addErased(id: string, message: string): void {
    if (this.erased.length < LISTED) this.erased.push({ kind: 'erased', id, message });
  }

  /** Notes what lenient validation accepted in a VERSION. */
  addAccepted({ _id: id, validation_findings: findings }: VersionDoc): void {
    const listed = listOf(findings);
    if (listed.length === 0) return;
    this.acceptedVersions += 1;
    for (const { dropped, ...finding } of listed.slice(0, Math.max(0, LISTED - this.accepted.length)))
      this.accepted.push({ id, ...finding, ...(dropped !== undefined && { dropped: shown(dropped) }) });
  }

  /** Takes over what another part found. */
  take(other: Findings): void {
    for (const [kind, number] of other.checked) this.count(kind, number);
    for (const { id, message } of other.erased) this.addErased(id, message);
    for (const { id, message } of other.unrecorded) this.addUnrecorded(id, message);
    this.accepted.push(...other.accepted.slice(0, Math.max(0, LISTED - this.accepted.length)));
    this.acceptedVersions += other.acceptedVersions;
    const room = LISTED - this.violations.length;
    this.violations.push(...other.violations.slice(0, Math.max(0, room)));
    if (room > 0 && other.violations.length > room) {
      this.add('verify', 'violations', `only the first ${LISTED} violations are listed`);
    }
  }

  /** The report of everything. */
  report(seal: SealState | null): VerifyReport {
    const { violations, erased, unrecorded, accepted, acceptedVersions } = this;
    const checked = Object.fromEntries(this.checked);
    return { checked, violations, erased, unrecorded, accepted, acceptedVersions, seal };
  }
}

function shown({ name, value }: AcceptedFinding['dropped'] & object): AcceptedFinding['dropped'] & object {
  const short = value.length > SHOWN_LENGTH ? `${value.slice(0, SHOWN_LENGTH)}...` : value;
  return { name, value: short };
}
