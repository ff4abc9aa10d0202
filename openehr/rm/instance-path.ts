import { isJsonObject, type JsonValue } from '../base/json.js';

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
      text += index < 0 ? `/${this.#names[level] ?? ''}` : `/${this.#names[level] ?? ''}[${index}]`;
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
      const name = this.#names[level] ?? '';
      const index = this.#indexes[level] ?? -1;
      const member: JsonValue | undefined = isJsonObject(value) ? value[name] : undefined;
      value = index >= 0 && Array.isArray(member) ? member[index] : member;
      const nodeId = isJsonObject(value) ? value.archetype_node_id : undefined;
      text += typeof nodeId === 'string' && NODE_ID.test(nodeId) ? `/${name}[${nodeId}]` : `/${name}`;
    }
    return attribute !== undefined && ATTRIBUTE.test(attribute) ? `${text}/${attribute}` : text;
  }
}
