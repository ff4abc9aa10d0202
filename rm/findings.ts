import { InstancePath } from './instance-path.js';

/** A hostile document may break a rule in each of its million nodes; more findings than this help nobody. */
export const MAX_FINDINGS = 1000;

/** The findings of one walk through an object, and where the walk stands. */
export class Findings {
  readonly path: InstancePath;
  /** Each `<instance path>: <text>`, in document order. */
  readonly list: string[] = [];

  /** `rootPath`: put before every path. */
  constructor(rootPath = '') {
    this.path = new InstancePath(rootPath);
  }

  /** Notes a finding at the object where the walk stands, or at an attribute of it. */
  add(text: string, attribute?: string): void {
    if (this.list.length < MAX_FINDINGS) this.list.push(`${this.path.text(attribute)}: ${text}`);
    else if (this.list.length === MAX_FINDINGS)
      this.list.push(`/: More than ${MAX_FINDINGS} violations, the others are not listed`);
  }
}
