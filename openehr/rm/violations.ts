import { InstancePath } from './instance-path.js';

/** A hostile document may break a rule in each of its million nodes; more violations than this help nobody. */
export const MAX_VIOLATIONS = 1000;

/** The violations of one walk through an object, and where the walk stands. */
export class Violations {
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

  /** Notes a violation at the object where the walk stands, or at an attribute of it. */
  add(text: string, attribute?: string): void {
    if (this.#list.length <= MAX_VIOLATIONS) this.note(`${this.path.text(attribute)}: ${text}`);
  }

  /** Notes a violation that has its path already. */
  note(violation: string): void {
    if (this.#list.length < MAX_VIOLATIONS) this.#list.push(violation);
    else if (this.#list.length === MAX_VIOLATIONS)
      this.#list.push(`/: More than ${MAX_VIOLATIONS} violations, the others are not listed`);
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
