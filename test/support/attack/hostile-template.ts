import {
  codedText,
  element,
  evaluation,
  multiple,
  named,
  node,
  primitive,
  template,
} from '../openehr/opt-builder.js';
import type { Random } from '../random.js';

const PATTERNS = [
  ...['[ab]{1,30}', '(a|b)*c', '(?:[ab]*a){900}c', '(x+x+)+y', '[a-z]{1,900}', '\\d{4}-\\d{2}'],
  ...['\\p{L}+', '.*.*.*.*=', 'P(\\d+Y)?(\\d+M)?'],
];
const WRONG_PATTERNS = ['(', '[z-a]', '(((a?){30}){30}){30}', '(?=a)b'];
const TYPES = [
  'DV_TEXT',
  'DV_COUNT',
  'DV_QUANTITY',
  'DV_DURATION',
  'DV_INTERVAL<DV_COUNT>',
  'DV_MULTIMEDIA',
  'X',
];
const KINDS = ['elements', 'references', 'patterns', 'names', 'texts', 'depth', 'codes', 'broken'] as const;

/**
 * An operational template of random shape, as large as the limits let it be in one or two respects and often beyond; some
 * are no templates at all.
 */
export function hostileTemplate(random: Random, id: string): string {
  return new Hostile(random).template(id);
}

class Hostile {
  readonly #large: ReadonlySet<(typeof KINDS)[number]>;

  /** Some of its constraints cannot be read. */
  readonly #isWrong: boolean;

  constructor(private readonly random: Random) {
    this.#isWrong = random.chance(0.1);
    this.#large = new Set(random.list(0, 2, () => random.pick(KINDS)));
  }

  template(id: string): string {
    const { random } = this;
    const items = [
      ...random.list(1, this.#many('elements', 5, 5_200), () => this.#element()),
      ...(random.chance(0.3) || this.#large.has('references') ? this.#references() : []),
      this.#nested(this.#many('depth', 3, 300)),
    ].join('');
    const text = 'x'.repeat(this.#many('texts', 20, 100_000));
    const codes = Array.from({ length: this.#many('codes', 3, 3_000) }, (_, index) => `at${2000 + index}`);
    const coded = element('at0005', codedText('local', codes));
    const known = random.chance(0.8) ? codes : codes.slice(1);
    const texts = Object.fromEntries(known.map((code) => [code, `Code ${code}`]));
    const named = { at0002: text, at0003: 'Group', at0004: 'Same', at0005: 'Coded', ...texts };
    const opt = template(evaluation(items + coded, named), { id });
    return this.#large.has('broken') ? this.#broken(opt) : opt;
  }

  /** 1 to `few`, or, where there is a lot of it, up to `most`. */
  #many(kind: (typeof KINDS)[number], few: number, most: number): number {
    return this.#large.has(kind) ? this.random.whole(Math.ceil(most / 8), most) : this.random.whole(1, few);
  }

  #element(): string {
    const { random } = this;
    const most = this.#isWrong && random.chance(0.1) ? '3..2' : random.pick(['0..1', '1..*']);
    if (!this.#large.has('patterns') && random.chance(0.9))
      return element(
        'at0002',
        random.chance(0.5) ? '' : node(random.pick(TYPES)),
        random.pick(['0..*', most]),
      );
    const patterns = this.#isWrong && random.chance(0.1) ? WRONG_PATTERNS : PATTERNS;
    const pattern = `<pattern>${random.pick(patterns)}</pattern>`;
    return element(
      'at0002',
      node('DV_TEXT', { inside: primitive('value', 'STRING', 'C_STRING', pattern) }),
      '0..*',
    );
  }

  /** A group, and references to it, which multiply what is in it. */
  #references(): string[] {
    const { random } = this;
    const names = random.list(0, this.#many('names', 2, 200), (index) => `Name ${index}`);
    const inside = multiple('items', element('at0002', '').repeat(this.#many('references', 5, 200)));
    const group = node('CLUSTER', {
      id: 'at0003',
      inside: (names.length > 0 ? named(...names) : '') + inside,
    });
    const path = random.pick(['/data[at0001]/items[at0003]', '/data[at0001]', '/nowhere', '']);
    const reference = node('CLUSTER', {
      xsiType: 'ARCHETYPE_INTERNAL_REF',
      inside: `<target_path>${path}</target_path>`,
      id: 'at0004',
    });
    return [group, reference.repeat(random.whole(1, 60))];
  }

  #nested(depth: number): string {
    let inside = element('at0002', node('DV_TEXT'));
    for (let level = 0; level < depth; level += 1)
      inside = node('CLUSTER', { id: 'at0003', inside: multiple('items', inside) });
    return inside;
  }

  #broken(opt: string): string {
    const { random } = this;
    const at = random.below(opt.length);
    const put = random.pick([
      '',
      '<',
      '<!DOCTYPE a [<!ENTITY b "c">]>',
      '&b;',
      '<a>'.repeat(5_000),
      '<x a="1" '.repeat(5_000),
    ]);
    return opt.slice(0, at) + put + (random.chance(0.5) ? opt.slice(at) : '');
  }
}
