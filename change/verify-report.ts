/** One thing that is not as it must be. */
export interface Violation {
  /** Collection of the document. */
  readonly kind: string;
  /** Its id. */
  readonly id: string;
  /** What is wrong; never content. */
  readonly message: string;
}

/** What an integrity check found. Contract, section 13: verify. */
export interface VerifyReport {
  /** Documents looked at, by collection. */
  readonly checked: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
}

/** How far an integrity check is. */
export interface VerifyProgress {
  readonly ehrs: number;
  /** About how many there are. */
  readonly ofEhrs: number;
}

/** Violations that are listed; a broken database may have one per document. */
const LISTED = 10_000;

/** What a check of one part found so far. */
export class Findings {
  readonly checked = new Map<string, number>();
  readonly violations: Violation[] = [];

  /** Counts documents as looked at. */
  count(kind: string, number: number): void {
    this.checked.set(kind, (this.checked.get(kind) ?? 0) + number);
  }

  /** Notes a violation. */
  add(kind: string, id: string, message: string): void {
    this.violations.push({ kind, id, message });
  }

  /** Takes over what another part found. */
  take(other: Findings): void {
    for (const [kind, number] of other.checked) this.count(kind, number);
    const room = LISTED - this.violations.length;
    this.violations.push(...other.violations.slice(0, Math.max(0, room)));
    if (room > 0 && other.violations.length > room) {
      this.add('verify', 'violations', `only the first ${LISTED} violations are listed`);
    }
  }

  /** The report of everything. */
  report(): VerifyReport {
    return { checked: Object.fromEntries(this.checked), violations: this.violations };
  }
}
