import { isJsonObject, type JsonValue } from '../../openehr/base/json.js';
import { counted, resultBytes, step } from '../../openehr/base/work.js';
import { required } from '../../openehr/base/required.js';

/** JSON text with sorted keys: equal for equal values, whatever the order of their attributes. */
export function canonicalText(value: JsonValue): string {
  step();
  if (Array.isArray(value)) return `[${counted(value).map(canonicalText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = counted(Object.keys(value).sort()).map(
    (key) => `${JSON.stringify(key)}:${canonicalText(value[key] ?? null)}`,
  );
  return `{${entries.join(',')}}`;
}

/** Numbers of values: equal ones have the same, and each object is read once (interning). */
export class Identities {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];
  readonly #objects = new WeakMap<object, number>();

  /** @throws CdrError of a budget of the pass that is used up */
  of(value: JsonValue): number {
    if (typeof value !== 'object' || value === null) return this.#ofText(canonicalText(value));
    let number = this.#objects.get(value);
    if (number === undefined) this.#objects.set(value, (number = this.#ofText(canonicalText(value))));
    return number;
  }

  /** Equal for lists of equal values only. @throws as `of` */
  ofAll(values: readonly JsonValue[]): string {
    return counted(values)
      .map((value) => this.of(value))
      .join(' ');
  }

  /** The canonical text of a value. @throws as `of` */
  textOf(value: JsonValue): string {
    return required(this.#texts[this.of(value)], 'text of this number');
  }

  #ofText(text: string): number {
    resultBytes(text.length);
    let number = this.#numbers.get(text);
    if (number !== undefined) return number;
    number = this.#texts.push(text) - 1;
    this.#numbers.set(text, number);
    return number;
  }
}
