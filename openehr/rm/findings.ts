import { InstancePath } from './instance-path.js';

/** A hostile document may break a rule in each of its million nodes; more findings than this help nobody. */
export const MAX_FINDINGS = 1000;

/** The findings of one walk through an object, and where the walk stands. */
export class Findings {
  readonly path: InstancePath;
  #list: string[] = [];

  /** `rootPath`: put before every path. */
  constructor(rootPath = '') {
    this.path = new InstancePath(rootPath);
  }

  /** Each `<instance path>: <text>`, in document order; of very many the first ones and that there are more. */
  get list(): string[] {
    return this.#list;
  }

  /** Notes a finding at the object where the walk stands, or at an attribute of it. */
  add(text: string, attribute?: string): void {
    if (this.#list.length <= MAX_FINDINGS) this.note(`${this.path.text(attribute)}: ${text}`);
  }

  /** Notes a finding that has its path already. */
  note(finding: string): void {
    if (this.#list.length < MAX_FINDINGS) this.#list.push(finding);
    else if (this.#list.length === MAX_FINDINGS)
      this.#list.push(`/: More than ${MAX_FINDINGS} violations, the others are not listed`);
  }

  /** What a part of the walk finds; it is not noted. */
  apart(walk: () => void): string[] {
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
