import type { JsonValue } from '../base/json.js';
import { violationAt, type Finding, type Violation } from '../base/violation.js';
import type { AcceptedFinding } from './lenient.js';
import { InstancePath } from './instance-path.js';

/** A hostile document may break a rule in each of its million nodes; more violations than this help nobody. */
export const MAX_VIOLATIONS = 1000;

/** The violations of one walk through an object, and where the walk stands. */
export class Violations {
  readonly path: InstancePath;
  readonly #root: JsonValue;
  /** Where unknown attributes are noted that are left out of the object; absent: they are violations. */
  readonly leftOut: AcceptedFinding[] | undefined;
  #list: Violation[] = [];

  /** `root`: the object; `rootPath`: put before every path. */
  constructor(root: JsonValue, rootPath = '', leftOut?: AcceptedFinding[]) {
    this.#root = root;
    this.leftOut = leftOut;
    this.path = new InstancePath(rootPath);
  }

  /** In document order; of very many the first ones and that there are more. */
  get list(): Violation[] {
    return this.#list;
  }

  /** Notes what is wrong at the object where the walk stands, or at an attribute of it. */
  add(finding: Finding, attribute?: string): void {
    if (this.#list.length > MAX_VIOLATIONS) return;
    const path = this.path.text(attribute);
    const named = finding.code === 'unknown-attribute' ? undefined : (attribute ?? finding.attribute);
    const aqlPath = this.path.aqlText(this.#root, named);
    this.note({ path, ...(aqlPath === '' ? {} : { aqlPath }), ...finding });
  }

  /** Notes a violation that has its path already. */
  note(violation: Violation): void {
    if (this.#list.length < MAX_VIOLATIONS) this.#list.push(violation);
    else if (this.#list.length === MAX_VIOLATIONS)
      this.#list.push(
        violationAt('/', `More than ${MAX_VIOLATIONS} violations, the others are not listed`, 'more'),
      );
  }

  /** What a part of the walk finds; it is not noted. */
  apart(walk: () => void): Violation[] {
    const before = this.#list;
    this.#list = [];
    try {
      walk();
      return this.#list;
    } finally {
      this.#list = before;
    }
  }
}
