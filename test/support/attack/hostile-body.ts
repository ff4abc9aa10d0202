import { toXml } from '../../../openehr/format/canonical-xml.js';
import type { JsonObject } from '../../../openehr/base/json.js';
import type { Random } from '../random.js';
import type { Json } from '../resources.js';

/** A request with a body. */
export interface HostileBody {
  readonly method: 'POST' | 'PUT';
  /** Below `/rest/openehr/v1/`. */
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

const KINDS = ['items', 'text', 'depth', 'width', 'numbers', 'keys'] as const;
const TEXTS = [
  '',
  'a',
  'ab'.repeat(100),
  '\u0000',
  '😀'.repeat(50),
  '<a&b>',
  '2021-02-30T25:61:61Z',
  'at0001',
  '{{1}}',
];
const FORMS = ['JSON', 'JSON', 'JSON', 'XML', 'FLAT', 'STRUCTURED'] as const;
const TYPES = {
  JSON: 'application/json',
  XML: 'application/xml',
  FLAT: 'application/openehr.wt.flat+json',
  STRUCTURED: 'application/openehr.wt.structured+json',
};

/**
 * A body of random shape, as large as the limits let it be in one or two respects and often beyond: mostly a COMPOSITION by
 * the template of `example`, in any form, sent to where one is expected or to where another object is.
 */
export function hostileBody(random: Random, ehrId: string, example: Json): HostileBody {
  return new Hostile(random, example).request(ehrId);
}

class Hostile {
  readonly #large: ReadonlySet<(typeof KINDS)[number]>;

  constructor(
    private readonly random: Random,
    private readonly example: Json,
  ) {
    this.#large = new Set(random.list(0, 2, () => random.pick(KINDS)));
  }

  request(ehrId: string): HostileBody {
    const { random } = this;
    if (random.chance(0.7)) {
      const form = random.pick(FORMS);
      const query = random.pick([
        '',
        `?templateId=${this.example.archetype_details.template_id.value}`,
        '?templateId=none',
      ]);
      return {
        method: 'POST',
        path: `ehr/${ehrId}/composition${query}`,
        type: TYPES[form],
        text: this.#text(form),
      };
    }
    const [method, path, body] = random.pick<readonly ['POST' | 'PUT', string, unknown]>([
      ['POST', `ehr/${ehrId}/contribution`, this.#contribution()],
      ['POST', 'ehr', this.#thing(0)],
      ['PUT', `ehr/${ehrId}/ehr_status`, this.#thing(0)],
      ['POST', `ehr/${ehrId}/directory`, this.#folder(this.#many('depth', 3, 140))],
      ['PUT', `definition/query/hostile::q/1.0.0`, { q: this.#long() }],
      ['POST', 'query/aql', { q: 'SELECT e/ehr_id/value FROM EHR e', query_parameters: this.#thing(0) }],
    ]);
    return { method, path, type: TYPES.JSON, text: JSON.stringify(body) };
  }

  /** 1 to `few`, or, where there is a lot of it, up to `most`. */
  #many(kind: (typeof KINDS)[number], few: number, most: number): number {
    return this.#large.has(kind) ? this.random.whole(Math.ceil(most / 8), most) : this.random.whole(1, few);
  }

  #long(): string {
    return this.#large.has('text') ? 'ab'.repeat(this.random.whole(1_000, 500_000)) : this.random.pick(TEXTS);
  }

  #text(form: (typeof FORMS)[number]): string {
    const count = this.#many('keys', 5, 40_000);
    const keys = Array.from({ length: count }, (_, index) => `test/test:0/long:${index}`);
    if (form === 'FLAT')
      return JSON.stringify(Object.fromEntries(keys.map((key) => [key, this.random.pick(TEXTS)])));
    if (form === 'STRUCTURED')
      return JSON.stringify({ test: { test: [{ long: keys.map(() => [this.random.pick(TEXTS)]) }] } });
    const composition = this.#composition();
    if (form === 'JSON') return JSON.stringify(composition);
    // What XML has no word for is left out.
    const writable = JSON.stringify(composition).replaceAll('\\u0000', '');
    return toXml(JSON.parse(writable) as JsonObject, 'composition');
  }

  #contribution(): Json {
    const version = {
      _type: 'ORIGINAL_VERSION',
      commit_audit: { change_type: { value: 'creation' } },
      lifecycle_state: { value: 'complete' },
      data: this.#composition(),
    };
    return { versions: Array<Json>(this.#many('width', 3, 60)).fill(version), audit: this.#thing(3) };
  }

  #composition(): Json {
    const { random } = this;
    const composition = structuredClone(this.example);
    const text = this.#long();
    composition.content[0].data.items = random.list(1, this.#many('items', 5, 8_000), (index) => ({
      _type: 'ELEMENT',
      name: { _type: 'DV_TEXT', value: index % 2 === 0 ? 'Long' : 'Short' },
      archetype_node_id: index % 2 === 0 ? 'at0002' : 'at0003',
      value: { _type: 'DV_TEXT', value: index === 0 ? text : random.pick(TEXTS) },
    }));
    if (random.chance(0.3) || this.#large.has('depth'))
      composition.content[0].data.items.push(this.#cluster());
    if (random.chance(0.3))
      composition[random.pick(['context', 'feeder', 'name', 'links', '_type', 'content'])] = this.#thing(0);
    return composition;
  }

  #cluster(): Json {
    let inside: Json = { _type: 'ELEMENT', archetype_node_id: 'at0002' };
    const depth = this.#many('depth', 3, 160);
    for (let level = 0; level < depth; level += 1)
      inside = {
        _type: 'CLUSTER',
        name: { _type: 'DV_TEXT', value: 'c' },
        archetype_node_id: 'at0009',
        items: [inside],
      };
    return inside;
  }

  #folder(depth: number): Json {
    const folder: Json = {
      _type: 'FOLDER',
      name: { _type: 'DV_TEXT', value: this.#long() },
      archetype_node_id: 'at0001',
    };
    if (depth > 0) folder.folders = [this.#folder(depth - 1)];
    return folder;
  }

  /** Anything at all. */
  #thing(depth: number): unknown {
    const { random } = this;
    if (depth > 4) return this.#long();
    switch (random.below(5)) {
      case 0:
        return Array.from({ length: this.#many('width', 3, 400) }, () => this.#scalar());
      case 1:
      case 2:
        return Object.fromEntries(
          random.list(1, 4, (index) => [
            random.pick(['_type', 'value', '__proto__x', `k${index}`]),
            this.#thing(depth + 1),
          ]),
        );
      default:
        return this.#scalar();
    }
  }

  #scalar(): unknown {
    const { random } = this;
    return random.pick([
      null,
      true,
      random.pick(TEXTS),
      this.#large.has('numbers') ? 10 ** 300 : random.below(100),
    ]);
  }
}
