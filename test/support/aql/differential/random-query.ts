import { ARCHETYPES as A } from '../../hilltop/compositions.js';
import type { Random } from '../../random.js';
import { POOL, RANDOM_EHRS } from './random-data.js';

/** A made-up query. Some are refused (types do not fit): those are thrown away. */
export interface RandomQuery {
  readonly aql: string;
  readonly ehrId: string | null;
  readonly asOf: Date | null;
  readonly subsumption: boolean;
}

interface Variable {
  readonly name: string;
  readonly kind: keyof typeof PATHS;
}

/** Makes one query over data of `randomData`. */
export function randomQuery(random: Random): RandomQuery {
  const maker = new QueryMaker(random);
  return {
    aql: maker.query(),
    ehrId: random.chance(0.1) ? random.pick(RANDOM_EHRS) : null,
    asOf: random.chance(0.15) ? new Date(Date.UTC(2021, 0, 1) + random.whole(0, 30) * 3_600_000) : null,
    subsumption: random.chance(0.1),
  };
}

const LEAVES = [
  'value',
  'value/value',
  'value/magnitude',
  'value/defining_code/code_string',
  'value/defining_code',
  'value/mappings/target/code_string',
  'name/value',
  'null_flavour/value',
  'null_flavour/defining_code/preferred_term',
  '',
];
const NODE = [
  '',
  '[at0001]',
  '[at0002]',
  '[at0004]',
  "[at0004, 'Left']",
  "[name/value='Left']",
  '[at0002 and value/magnitude > 0]',
  "[at0001 or name/value='Right']",
  '[name/value matches {/L.*/}]',
  '[at0002, snomed_ct::25064002]',
  '[at0002, at0100]',
];
const EVENTS = ['', '[at0006]', '[at0007]', "[at0006, 'Left']", "[time/value > '2021-03-01T07:30:00Z']"];
const CONTENT = [
  '',
  `[${A.bloodPressure}]`,
  `[${A.problem}]`,
  `[${A.vitals}]`,
  `[${A.bloodPressure}, 'Left']`,
  "[name/value='Right']",
];
const CLUSTERS = ['', `[${A.device}]`, '[at0009]', `[${A.device}, 'Left']`];

const join = (...parts: readonly (string | readonly string[])[]): string[] =>
  parts.reduce<string[]>(
    (paths, part) =>
      paths.flatMap((path) => (typeof part === 'string' ? [part] : part).map((end) => path + end)),
    [''],
  );

const items = (prefix: string): string[] => [
  ...join(
    `${prefix}/items`,
    NODE,
    LEAVES.map((leaf) => (leaf === '' ? '' : `/${leaf}`)),
  ),
  ...join(
    `${prefix}/items`,
    CLUSTERS,
    '/items',
    ['', '[at0001]', '[at0004]'],
    ['/value/value', '/name/value', ''],
  ),
];

const LOCATABLE = ['/name/value', '/archetype_node_id', '/name', ''];

/** Paths by what a variable is bound to. */
const PATHS = {
  ehr: [
    '/ehr_id/value',
    '/system_id/value',
    '/time_created/value',
    '/time_created',
    '/ehr_status/subject/external_ref/id/value',
    '/ehr_status/other_details/items[at0001]/value/value',
    '/directory/name/value',
    '/compositions/id/value',
    '/folders/id/value',
    '/ehr_status/is_queryable',
  ],
  version: [
    '/uid/value',
    '/commit_audit/time_committed/value',
    '/commit_audit/time_committed',
    '/commit_audit/change_type/defining_code/code_string',
    '/commit_audit/change_type/defining_code/preferred_term',
    '/commit_audit/change_type/value',
    '/lifecycle_state/value',
    '/lifecycle_state/defining_code/preferred_term',
    '/commit_audit/committer/name',
    '/contribution/id/value',
    '/preceding_version_uid/value',
    '/data/name/value',
  ],
  composition: [
    ...LOCATABLE,
    '/uid/value',
    '/context/start_time/value',
    '/context/start_time',
    '/composer/name',
    '/archetype_details/template_id/value',
    '/context/participations/performer/name',
    '/context/participations/performer/identifiers/id',
    "/context/participations[function/value='nurse']/performer/name",
    '/links/type/value',
    "/links[type/value='problem']/meaning/value",
    '/feeder_audit/originating_system_audit/system_id',
    ...items('/context/other_context[at0001]'),
    ...join('/content', CONTENT, [
      '',
      '/name/value',
      '/data',
      '/data/events/time/value',
      '/items/name/value',
      '/data/items/value/value',
    ]),
  ],
  status: [
    ...LOCATABLE,
    '/uid/value',
    '/subject/external_ref/id/value',
    '/is_queryable',
    ...items('/other_details'),
  ],
  folder: [
    ...LOCATABLE,
    '/items/id/value',
    '/folders/name/value',
    '/folders/items/id/value',
    '/details/items/name/value',
  ],
  section: [
    ...LOCATABLE,
    '/items/name/value',
    `/items[${A.bloodPressure}]/data/events/time/value`,
    '/items/items/name/value',
    '/items',
  ],
  observation: [
    ...LOCATABLE,
    ...join('/data[at0001]/events', EVENTS, [
      '/time/value',
      '/time',
      '/name/value',
      '/data',
      '/width/value',
      '/width',
      '/math_function/value',
      '/state/items/value/value',
      '',
    ]),
    ...join(
      '/data[at0001]/events',
      EVENTS,
      '/data[at0003]/items',
      ['[at0004]', '[at0005]', '[at0008]', "[at0008, 'Left']", ''],
      ['/value/magnitude', '/value', '/value/value', '/name/value', '/value/units', ''],
    ),
    ...items('/protocol[at0011]'),
  ],
  evaluation: [...LOCATABLE, ...items('/data[at0001]'), ...items('/data'), '/links/type/value'],
  instruction: [
    ...LOCATABLE,
    '/narrative/value',
    '/activities/name/value',
    ...items('/activities[at0001]/description'),
  ],
  cluster: [...LOCATABLE, ...items('').slice(0, 60)],
  element: [
    '/value',
    '/value/value',
    '/value/magnitude',
    '/name/value',
    '/value/defining_code/code_string',
    '',
    '/value/mappings/target/code_string',
  ],
  event: [
    '/time/value',
    '/time',
    '/name/value',
    '/width/value',
    '/math_function/defining_code/code_string',
    '/data/items[at0004]/value/magnitude',
    '/data/items/value/value',
  ],
  other: [''],
} as const satisfies Record<string, readonly string[]>;

/** Classes of FROM below a composition: name, kind and predicates. */
const CLASSES: readonly (readonly [string, keyof typeof PATHS, readonly string[]])[] = [
  ['SECTION', 'section', ['', `[${A.vitals}]`, `[${A.vitals}, 'Left']`]],
  [
    'OBSERVATION',
    'observation',
    [`[${A.bloodPressure}]`, `[${A.pulse}]`, '', `[${A.bloodPressure}]`, `[${A.bloodPressure}, 'Left']`],
  ],
  ['EVALUATION', 'evaluation', [`[${A.problem}]`, '']],
  ['ADMIN_ENTRY', 'evaluation', [`[${A.allTypes}]`, '']],
  ['INSTRUCTION', 'instruction', [`[${A.order}]`, '']],
  ['CLUSTER', 'cluster', [`[${A.device}]`, '', `[${A.device}, 'Left']`]],
  ['ELEMENT', 'element', ['', "[name/value='Left']"]],
  ['EVENT', 'event', ['']],
  ['POINT_EVENT', 'event', ['']],
  ['ENTRY', 'other', ['']],
  ['CARE_ENTRY', 'other', ['']],
  ['CONTENT_ITEM', 'other', ['']],
  ['ITEM_TREE', 'cluster', ['']],
  ['ITEM', 'other', ['']],
  ['LOCATABLE', 'other', ['']],
  ['ACTIVITY', 'other', ['']],
  ['EVENT_CONTEXT', 'other', ['']],
  ['FEEDER_AUDIT', 'other', ['']],
  ['LINK', 'other', ['']],
  ['PARTICIPATION', 'other', ['']],
  ['HISTORY', 'other', ['']],
];

class QueryMaker {
  private readonly variables: Variable[] = [];
  private readonly aliases: string[] = [];
  private count = 0;

  constructor(private readonly random: Random) {}

  query(): string {
    const { random } = this;
    if (random.chance(0.1)) return this.cohort();
    const from = this.from();
    const grouped = random.chance(0.15);
    const distinct = !grouped && random.chance(0.15);
    const columns = random.list(1, 3, () => this.column(grouped));
    const where = random.chance(0.65) ? ` WHERE ${this.condition(2)}` : '';
    return `SELECT ${distinct ? 'DISTINCT ' : ''}${columns.join(', ')} FROM ${from}${where}${this.order(grouped || distinct)}${this.limit()}`;
  }

  /** Values of one part of FROM, or of the EHR alone, where other parts only have to be there, however often. */
  private cohort(): string {
    const { random } = this;
    const ehr = this.ehr();
    const asked = random.chance(0.6) ? [`(${this.root()})`] : [];
    const others = random.list(2 - asked.length, 2, () =>
      this.hidden(
        () => '',
        () => `(${this.root()})`,
      ),
    );
    const parts = random.chance(0.5) ? [...asked, ...others] : [...others, ...asked];
    const column = random.pick([
      () => this.named(`COUNT(DISTINCT ${this.path()})`),
      () => this.named(`${random.pick(['MIN', 'MAX'])}(${this.path()})`),
      () => `DISTINCT ${this.named(this.path())}`,
      () => `DISTINCT ${this.named(this.path())}, ${this.named(this.path())}`,
    ])();
    const where = random.chance(0.3) ? ` WHERE ${this.condition(1)}` : '';
    return `SELECT ${column} FROM ${ehr} CONTAINS (${parts.join(' AND ')})${where}${this.order(true)}${this.limit()}`;
  }

  // -------------------------------------------------------------- FROM

  private variable(kind: Variable['kind']): string {
    const name = `v${this.count++}`;
    this.variables.push({ name, kind });
    return name;
  }

  private from(): string {
    const { random } = this;
    switch (random.whole(0, 11)) {
      case 0:
        return this.ehr();
      case 1:
        return `${this.ehr()} CONTAINS EHR_STATUS ${this.variable('status')}${random.chance(0.3) ? ` CONTAINS ${this.inner(1)}` : ''}`;
      case 2:
        return this.folders();
      case 3:
        return `${this.ehr()} CONTAINS ${this.version()}`;
      case 4:
        return `${this.ehr()} CONTAINS (${this.root()} ${random.pick(['AND', 'OR'])} ${this.root()})`;
      case 5:
        return this.hidden(
          () => `${this.ehr()} NOT CONTAINS`,
          () => this.root(),
        );
      case 6:
        return this.inner(2);
      case 7:
        return this.root();
      default:
        return `${this.ehr()} CONTAINS ${this.root()}`;
    }
  }

  private ehr(): string {
    const name = this.variable('ehr');
    return this.random.chance(0.15)
      ? `EHR ${name}[ehr_id/value='${this.random.pick(RANDOM_EHRS)}']`
      : `EHR ${name}`;
  }

  private root(): string {
    const { random } = this;
    if (random.chance(0.1)) return `EHR_STATUS ${this.variable('status')}`;
    const predicate = random.pick(['', '', `[${A.encounter}]`, `[${A.encounter}]`, "[name/value='Left']"]);
    const head = `COMPOSITION ${this.variable('composition')}${predicate}`;
    if (random.chance(0.15))
      return this.hidden(
        () => `${head} NOT CONTAINS`,
        () => this.group(1),
      );
    return random.chance(0.75) ? `${head} CONTAINS ${this.group(2)}` : head;
  }

  private group(depth: number): string {
    const { random } = this;
    if (!random.chance(0.25)) return this.inner(depth);
    const operands = random.list(2, 3, () => (random.chance(0.3) ? `(${this.inner(depth)})` : this.leaf()));
    return `(${operands.join(random.pick([' AND ', ' OR ']))})`;
  }

  private inner(depth: number): string {
    const { random } = this;
    const head = this.leaf();
    if (depth === 0 || !random.chance(0.4)) return head;
    if (random.chance(0.2))
      return this.hidden(
        () => `${head} NOT CONTAINS`,
        () => this.group(depth - 1),
      );
    if (head.endsWith(']') && !head.includes('name/value') && random.chance(0.3))
      return `${head} CONTAINS ELEMENT ${this.variable('element')}[${random.pick(['at0001', 'at0004', 'at0002'])}]`;
    return `${head} CONTAINS ${this.group(depth - 1)}`;
  }

  private leaf(): string {
    const [className, kind, predicates] = this.random.pick(CLASSES);
    return `${className} ${this.variable(kind)}${this.random.pick(predicates)}`;
  }

  private version(): string {
    const { random } = this;
    const name = this.variable('version');
    const predicate = random.pick([
      '',
      '[LATEST_VERSION]',
      '[ALL_VERSIONS]',
      "[commit_audit/time_committed < '2021-01-01T09:00:00Z']",
      `[uid/value='cccccccc-0000-4000-8000-000000000000::local.cdr::1']`,
    ]);
    const head = `VERSION ${name}${predicate}`;
    if (random.chance(0.1))
      return this.hidden(
        () => `${head} NOT CONTAINS`,
        () => this.inner(0),
      );
    return `${head} CONTAINS ${random.chance(0.8) ? this.root() : this.group(1)}`;
  }

  private folders(): string {
    const { random } = this;
    const folder = (): string =>
      `FOLDER ${this.variable('folder')}${random.pick(['', "[name/value='Episodes']"])}`;
    const below = [
      (): string => folder(),
      (): string => this.root(),
      (): string => this.inner(1),
      (): string => `${folder()} CONTAINS ${this.inner(1)}`,
      (): string => `(${folder()} ${random.pick(['AND', 'OR'])} ${this.root()})`,
      (): string => `VERSION ${this.variable('version')} CONTAINS ${this.root()}`,
    ];
    if (random.chance(0.3)) return folder();
    if (random.chance(0.15))
      return this.hidden(
        () => `${folder()} NOT CONTAINS`,
        () => random.pick(below)(),
      );
    return `${folder()} CONTAINS ${random.pick(below)()}`;
  }

  /** Variables of the second part have no value outside it. */
  private hidden(head: () => string, below: () => string): string {
    const text = head();
    const known = this.variables.length;
    const inner = below();
    this.variables.length = known;
    return `${text} ${inner}`;
  }

  // -------------------------------------------------------------- SELECT

  private path(): string {
    const { name, kind } = this.random.pick(this.variables);
    return `${name}${this.random.pick<string>(PATHS[kind])}`;
  }

  /** The same prefix again, so that paths share choices. */
  private value(): string {
    const { random } = this;
    if (!random.chance(0.12)) return this.path();
    return random.pick([
      () => `LENGTH(${this.path()})`,
      () => `CONCAT(${this.path()}, '-', ${this.path()})`,
      () => `CONCAT_WS(',', ${this.path()}, ${this.path()})`,
      () => `ABS(${this.path()})`,
      () => `ROUND(${this.path()}, ${random.pick(['0', '1', '-1'])})`,
      () => `SUBSTRING(${this.path()}, ${random.whole(-1, 3)}, ${random.whole(0, 3)})`,
      () => `POSITION('a', ${this.path()})`,
      () => `CONTAINS(${this.path()}, 'e')`,
      () => `MOD(${this.path()}, 2)`,
      () => `CEIL(${this.path()})`,
      () => `FLOOR(${this.path()})`,
    ])();
  }

  private column(grouped: boolean): string {
    const { random } = this;
    if (grouped && random.chance(0.6)) {
      const name = random.pick(['COUNT', 'COUNT', 'MIN', 'MAX', 'SUM', 'AVG']);
      const distinct = name === 'COUNT' && random.chance(0.4) ? 'DISTINCT ' : '';
      return this.named(random.chance(0.2) ? 'COUNT(*)' : `${name}(${distinct}${this.path()})`);
    }
    return this.named(random.chance(0.05) ? random.pick(['1', "'x'", 'true', 'NULL']) : this.value());
  }

  private named(text: string): string {
    const alias = `c${this.aliases.length}`;
    this.aliases.push(alias);
    return `${text} AS ${alias}`;
  }

  private order(selectedOnly: boolean): string {
    const { random } = this;
    if (!random.chance(0.5)) return '';
    const keys = random.list(1, 2, () => {
      const key = selectedOnly || random.chance(0.5) ? random.pick(this.aliases) : this.value();
      return `${key}${random.pick(['', ' ASC', ' DESC'])}`;
    });
    return ` ORDER BY ${keys.join(', ')}`;
  }

  private limit(): string {
    const { random } = this;
    if (!random.chance(0.35)) return '';
    return ` LIMIT ${random.whole(1, 5)}${random.chance(0.5) ? ` OFFSET ${random.whole(0, 4)}` : ''}`;
  }

  // -------------------------------------------------------------- WHERE

  private condition(depth: number): string {
    const { random } = this;
    if (depth > 0 && random.chance(0.4)) {
      const parts = [this.condition(depth - 1), this.condition(depth - 1)];
      return `(${parts.join(random.pick([' AND ', ' OR ']))})`;
    }
    if (random.chance(0.15)) return `NOT ${this.condition(0)}`;
    return this.test();
  }

  private test(): string {
    const { random } = this;
    const operator = random.pick(['=', '!=', '<', '>', '<=', '>=']);
    return random.pick([
      () => `${this.value()} ${operator} ${this.literal()}`,
      () => `${this.path()} ${operator} ${this.literal()}`,
      () => `${this.path()} ${operator} ${this.literal()}`,
      () => `${this.path()} ${operator} ${this.path()}`,
      () => `EXISTS ${this.path()}`,
      () => `NOT EXISTS ${this.path()}`,
      () => `${this.path()} ${random.pick(['=', '!='])} NULL`,
      () =>
        `${this.path()} ${random.pick(['LIKE', 'NOT LIKE'])} ${random.pick(["'L*'", "'?eta*'", "'%'", "'*a*'", "'a\\\\*b'", "'2*'", "'1??'"])}`,
      () =>
        `${this.path()} ${random.pick(['MATCHES', 'NOT MATCHES'])} {${this.literal()}, ${this.literal()}}`,
    ])();
  }

  private literal(): string {
    const { random } = this;
    const text = (value: string): string => `'${value}'`;
    return random.pick([
      () => String(random.whole(-1, 4) * 50),
      () => String(random.whole(-2, 5) / 2),
      () => text(random.pick(POOL.texts)),
      () => text(random.pick(POOL.names)),
      () => text(random.pick(POOL.codes)),
      () => text(random.pick(POOL.times)),
      () => text(random.pick(POOL.dates)),
      () => text(random.pick(POOL.durations)),
      () => text(random.pick(POOL.clockTimes)),
      () => random.pick(['true', 'false']),
      () => text(random.pick([A.encounter, A.bloodPressure, 'Dr A', 't.one', 'snomed_ct::25064002', '249'])),
    ])();
  }
}
