import { attributesOf, concreteClasses, isLocatable } from '../../../openehr/rm/model/classes.js';
import {
  argumentDomain,
  FUNCTION_NAMES,
  functionArity,
  isFunctionName,
} from '../../../aql/syntax/functions.js';
import type { Random } from '../random.js';

/** Classes of FROM below a COMPOSITION, among them those that may be much else. */
const CONTENT = [
  ...['SECTION', 'OBSERVATION', 'EVALUATION', 'CLUSTER', 'ELEMENT', 'EVENT', 'ITEM_TREE', 'HISTORY'],
  ...['LOCATABLE', 'CONTENT_ITEM', 'ENTRY', 'CARE_ENTRY', 'ITEM'],
];
/** Below a FOLDER anything can be found. */
const ANYTHING = [...CONTENT, 'FOLDER', 'COMPOSITION', 'EHR_STATUS'];
const ARCHETYPES = ['openEHR-EHR-OBSERVATION.x.v1', 'openEHR-EHR-CLUSTER.x.v1', 'openEHR-EHR-SECTION.x.v2'];
const IDS = [...ARCHETYPES, 'at0001', 'at0002', 'at0003.1', 'id5'];
const TEXTS = [
  "''",
  "'a'",
  "'2021-03-01T08:00:00Z'",
  "'P1Y'",
  "'a::b::1'",
  "'%_%?*'",
  "'\\u0000'",
  '1',
  '-1.5e300',
  'true',
];
const PATTERNS = ['.*', '(a|b)*c', '[a-z]{1,50}', '(x+){1,9}', '\\\\d+'];
const LIKES = ["'*'", "'?*?*?*?*'", "'a*b*c*d*e'", "'\\\\*'"];

/**
 * A query of random shape, as large as the limits let it be in one or two respects and often beyond: it need not make sense,
 * but mostly its paths exist in the reference model, so that all of the compiler sees it. `ehrId`: some queries are of this EHR.
 */
export function hostileQuery(random: Random, ehrId?: string): string {
  return new Hostile(random).query(ehrId);
}

/** Whether a query answers or counts whole objects, which the database does not compare. */
export function asksForObjects(q: string): boolean {
  return /(?:SELECT|DISTINCT|,|\() v\d+[,) ]/.test(q.replaceAll('(', '( '));
}

class Hostile {
  readonly #aliases: { name: string; classes: readonly string[] }[] = [];
  /** What there is a lot of. */
  readonly #large: ReadonlySet<string>;
  readonly #root: string;
  #budget = 50_000;

  constructor(private readonly random: Random) {
    const kinds = [
      'classes',
      'columns',
      'conditions',
      'steps',
      'predicates',
      'order',
      'args',
      'list',
      'depth',
    ];
    this.#root = random.pick(['COMPOSITION', 'COMPOSITION', 'COMPOSITION', 'FOLDER', 'LOCATABLE']);
    this.#large = new Set(random.list(1, 3, () => random.pick(kinds)));
  }

  query(ehrId?: string): string {
    const { random } = this;
    const ehr = ehrId !== undefined && random.chance(0.3) ? `EHR e[ehr_id/value='${ehrId}']` : 'EHR e';
    const from = this.#from(this.#many('classes', 3, 50));
    const select = this.#list(this.#many('columns', 3, 200), () => this.#column()).join(', ');
    const where = random.chance(0.8) ? ` WHERE ${this.#condition(this.#many('conditions', 4, 500), 0)}` : '';
    const isDistinct = random.chance(0.2);
    const order =
      !isDistinct && random.chance(0.4)
        ? ` ORDER BY ${this.#list(this.#many('order', 2, 32), () => this.#value()).join(', ')}`
        : '';
    const limit = random.chance(0.3) ? ` LIMIT ${random.pick([1, 10, 1_000_000])}` : '';
    return `SELECT ${isDistinct ? 'DISTINCT ' : ''}${select} FROM ${ehr} CONTAINS ${from}${where}${order}${limit}`;
  }

  /** 1 to `few`, or, where there is a lot of it, up to `most`. */
  #many(kind: string, few: number, most: number): number {
    return this.#large.has(kind) ? this.random.whole(Math.ceil(most / 4), most) : this.random.whole(1, few);
  }

  /** Up to `count` texts, as long as the query does not become too long. */
  #list(count: number, make: () => string): string[] {
    const made: string[] = [];
    while (made.length === 0 || (made.length < count && this.#budget > 0)) {
      const text = make();
      this.#budget -= text.length + 5;
      made.push(text);
    }
    return made;
  }

  #from(count: number): string {
    const { random } = this;
    const isVersion = count > 1 && this.#aliases.length === 0 && random.chance(0.2);
    const text = isVersion ? this.#version() : this.#class();
    if (count <= 1) return text;
    if (isVersion) return `${text} CONTAINS ${this.#from(count - 1)}`;
    const below = random.chance(0.03) ? 'NOT CONTAINS' : 'CONTAINS';
    const shape = random.below(3);
    if (shape === 0) return `${text} ${below} ${this.#from(count - 1)}`;
    const parts = random.whole(2, 4);
    const each = Math.max(1, Math.floor((count - 1) / parts));
    const word = shape === 1 ? ' AND ' : ' OR ';
    return `${text} ${below} (${this.#list(Math.min(parts, count - 1), () => this.#from(each)).join(word)})`;
  }

  #version(): string {
    const alias = `v${this.#aliases.length}`;
    this.#aliases.push({ name: alias, classes: [] });
    return `VERSION ${alias}${this.random.pick(['', '[LATEST_VERSION]', '[ALL_VERSIONS]'])}`;
  }

  #class(): string {
    const { random } = this;
    const name =
      this.#aliases.length === 0
        ? this.#root
        : random.pick(this.#root === 'COMPOSITION' ? CONTENT : ANYTHING);
    const alias = `v${this.#aliases.length}`;
    this.#aliases.push({ name: alias, classes: concreteClasses(name) });
    return `${name} ${alias}${random.chance(0.4) ? this.#predicate(random.chance(0.95) ? ARCHETYPES : IDS) : ''}`;
  }

  #predicate(ids = IDS): string {
    const { random } = this;
    const count = this.#many('predicates', 2, 40);
    const one = (): string => {
      const id = random.pick(ids);
      switch (random.below(6)) {
        case 0:
          return `${id}, 'name'`;
        case 1:
          return `${id} and name/value=${random.pick(TEXTS)}`;
        case 2:
          return `name/value matches {/${random.pick(PATTERNS)}/}`;
        case 3:
          return `name/value > ${random.pick(TEXTS)}`;
        case 4:
          return `feeder_audit/originating_system_item_ids/id = ${random.pick(TEXTS)}`;
        default:
          return id;
      }
    };
    return `[${this.#list(count, one).join(' or ')}]`;
  }

  /** A path through what the reference model has, from one of the aliases. */
  #path(): string {
    const { random } = this;
    const { name, classes } = random.pick(this.#aliases);
    if (classes.length === 0)
      return `${name}/${random.pick(['uid/value', 'commit_audit/time_committed/value', 'commit_audit/committer/name'])}`;
    let at: readonly string[] = classes;
    let path = name;
    const steps = this.#many('steps', 5, 60);
    for (let step = 0; step < steps; step += 1) {
      const attributes = at.flatMap((each) => [...attributesOf(each)]);
      if (attributes.length === 0) break;
      const below = attributes.filter(([, { type }]) => concreteClasses(type).some(isLocatable));
      const [attribute, { type }] = random.pick(below.length > 0 && random.chance(0.8) ? below : attributes);
      at = concreteClasses(type);
      path += `/${attribute}${at.some(isLocatable) && random.chance(0.4) ? this.#predicate() : ''}`;
      this.#budget -= 10;
      if (this.#budget < 0) break;
    }
    return path;
  }

  #value(depth = 0): string {
    const { random } = this;
    const isCall = this.#large.has('depth') ? random.chance(0.95) : random.chance(0.15);
    if (!isCall || depth > 45) return this.#path();
    const name = random.pick(FUNCTION_NAMES.filter(isFunctionName));
    const [least, most] = functionArity(name);
    if (most === 0) return `${name}()`;
    const count = random.whole(least, Math.min(most, this.#large.has('args') ? 60 : least + 1));
    const [first = '', ...rest] = this.#list(count, () => '');
    const values = [first, ...rest].map((_, index) => {
      if (index === 0) return this.#value(depth + 1);
      return argumentDomain(name, index) === 'number' ? String(random.whole(0, 9)) : this.#operand();
    });
    return `${name}(${values.join(', ')})`;
  }

  /** What may stand where no path has to. */
  #operand(): string {
    return this.random.chance(0.4) ? this.random.pick(TEXTS) : this.#value();
  }

  #column(): string {
    const { random } = this;
    if (random.chance(0.08)) return this.#object();
    if (!random.chance(0.05)) return this.#value();
    const name = random.pick(['COUNT', 'MIN', 'MAX', 'SUM', 'AVG']);
    return `${name}(${name === 'COUNT' && random.chance(0.3) ? 'DISTINCT ' : ''}${this.#path()})`;
  }

  /** A whole object, or how many there are. */
  #object(): string {
    const { random } = this;
    const { name } = random.pick(this.#aliases);
    return random.pick([name, name, `COUNT(${name})`, `COUNT(DISTINCT ${name})`, 'COUNT(*)']);
  }

  #condition(count: number, depth: number): string {
    const { random } = this;
    if (count <= 1) return this.#test();
    if (depth < 45 && random.chance(0.1)) return `NOT (${this.#condition(count - 1, depth + 1)})`;
    const parts = random.chance(0.5) ? count : random.whole(2, 5);
    const each = Math.max(1, Math.floor(count / parts));
    const word = random.chance(0.5) ? ' AND ' : ' OR ';
    return `(${this.#list(parts, () => this.#condition(depth < 40 ? each : 1, depth + 1)).join(word)})`;
  }

  #test(): string {
    const { random } = this;
    switch (random.below(5)) {
      case 0:
        return `EXISTS ${this.#path()}`;
      case 1:
        return `${this.#value()} LIKE ${random.pick(LIKES)}`;
      case 2: {
        const items = this.#list(this.#many('list', 3, 2_000), () => `'${random.below(100_000)}'`);
        return `${this.#value()} MATCHES {${items.join(', ')}}`;
      }
      default:
        return `${this.#value()} ${random.pick(['=', '!=', '<', '<=', '>', '>='])} ${this.#operand()}`;
    }
  }
}
