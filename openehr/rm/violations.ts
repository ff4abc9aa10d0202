import { type JsonValue, isJsonObject } from '../base/json.js';
import { violationAt, type Finding, type Violation } from '../base/violation.js';
import type { AcceptedFinding } from './lenient.js';
import { required } from '../base/required.js';

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

/** What an archetype id or at-code is made of: nothing else is put into a path that AQL reads. */
const NODE_ID = /^[A-Za-z0-9_.:-]{1,256}$/;
const ATTRIBUTE = /^[a-z_]{1,64}$/;

/**
 * Where a walk through an RM object stands. It only keeps names and indexes while the walk goes down and up;
 * the text is made when a violation needs it.
 */
export class InstancePath {
  /** Levels below the root. */
  depth = 0;
  readonly #names: string[] = [];
  readonly #indexes: number[] = [];

  readonly #root: string;

  /** `root`: put before every path, such as `/versions[0]/data`. */
  constructor(root = '') {
    this.#root = root;
  }

  /** Goes down into an attribute, or with an index into one value of a list. */
  enter(name: string, index = -1): void {
    this.#names[this.depth] = name;
    this.#indexes[this.depth] = index;
    this.depth += 1;
  }

  /** Goes up one level. */
  leave(): void {
    this.depth -= 1;
  }

  /** `/content[0]/data/events[1]`, `/` at the root; with the attribute name below it when one is given. */
  text(attribute?: string): string {
    let text = this.#root;
    for (let level = 0; level < this.depth; level += 1) {
      const index = this.#indexes[level] ?? -1;
      const name = required(this.#names[level], 'name of the level');
      text += index < 0 ? `/${name}` : `/${name}[${index}]`;
    }
    if (attribute !== undefined) text += `/${attribute}`;
    return text === '' ? '/' : text;
  }

  /**
   * The same path with the archetype ids and at-codes of the objects on the way, and without what stands before the
   * root: `/content[openEHR-EHR-OBSERVATION.x.v1]/data[at0001]`; '' at the root.
   */
  aqlText(root: JsonValue, attribute?: string): string {
    let text = '';
    let value: JsonValue | undefined = root;
    for (let level = 0; level < this.depth; level += 1) {
      const name = required(this.#names[level], 'name of the level');
      const index = this.#indexes[level] ?? -1;
      const member: JsonValue | undefined = isJsonObject(value) ? value[name] : undefined;
      value = index >= 0 && Array.isArray(member) ? member[index] : member;
      const nodeId = isJsonObject(value) ? value.archetype_node_id : undefined;
      text += typeof nodeId === 'string' && NODE_ID.test(nodeId) ? `/${name}[${nodeId}]` : `/${name}`;
    }
    return attribute !== undefined && ATTRIBUTE.test(attribute) ? `${text}/${attribute}` : text;
  }
}
