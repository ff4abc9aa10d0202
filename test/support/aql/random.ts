import fc from 'fast-check';
import type { ReferenceData } from '../../../aql/evaluate/data.js';
import { ARCHETYPES as A } from '../hilltop/compositions.js';
import { randomData } from './random-data.js';
import { Random } from '../random.js';

/** A valid query with the data and request it is to be run with. */
export interface RandomCase {
  readonly seed: number;
  readonly aql: string;
  readonly data: ReferenceData;
  readonly ehrId: string | null;
  readonly asOf: Date | null;
  readonly subsumption: boolean;
}

/** What the values at the end of a path are, so that conditions are mostly sensible. */
type Kind = 'number' | 'text' | 'instant' | 'duration' | 'object' | 'uid' | 'any';
type Path = readonly [string, Kind];

interface Variable {
  readonly name: string;
  readonly paths: readonly Path[];
}

const NAMES = ["'Left'", "'Right'", "'Systolic'", "'a_b'", "'100%'", "'Größe'"];
const NODE: readonly Path[] = [
  ['name/value', 'text'],
  ['archetype_node_id', 'text'],
  ['', 'object'],
];
const ITEMS: readonly Path[] = [
  ['items[at0004]/value/magnitude', 'number'],
  ['items[at0005]/value/magnitude', 'number'],
  ["items[at0004, 'Left']/value/magnitude", 'number'],
  ["items[name/value='Right']/value", 'any'],
  ['items/value/magnitude', 'number'],
  ['items/value', 'any'],
  ['items/value/value', 'any'],
  ['items/name/value', 'text'],
  ['items[at0004 and value/magnitude > 90]/name/value', 'text'],
  ['items[name/value matches {/.*t/}]/value/value', 'any'],
  ['items[at0004, snomed_ct::123]/value', 'any'],
  ["items[at0001 or name/value='a_b']/value", 'any'],
  [`items[${A.device}]/items[at0001]/value/value`, 'any'],
  [`items[${A.device}]/name/value`, 'text'],
  [`items[${A.device}, 'Left']/items/value`, 'any'],
  ['items/items/value', 'any'],
  ['items/value/mappings/target/code_string', 'text'],
  ['items/value/defining_code', 'any'],
  ['items/null_flavour/value', 'text'],
  ['items[at0004]/null_flavour/defining_code/code_string', 'text'],
  ['items', 'object'],
];
const below = (prefix: string, paths: readonly Path[]): Path[] =>
  paths.map(([path, kind]) => [path === '' ? prefix : `${prefix}/${path}`, kind]);

const EVENT: readonly Path[] = [
  ['time', 'instant'],
  ['time/value', 'instant'],
  ...below('data[at0003]', ITEMS),
  ...below('data', ITEMS),
  ...NODE,
];
/** Of any event: what only an INTERVAL_EVENT has too. */
const ANY_EVENT: readonly Path[] = [
  ...EVENT,
  ['width', 'duration'],
  ['width/value', 'duration'],
  ['math_function/value', 'text'],
];
const OBSERVATION: readonly Path[] = [
  ...NODE,
  ...below('data[at0001]/events[at0006]', ANY_EVENT),
  ...below('data[at0001]/events[at0006]', ANY_EVENT),
  ...below('data/events', ANY_EVENT),
  ...below('data[at0001]/events[at0007]', ANY_EVENT),
  ['data/origin', 'instant'],
  ...below('protocol[at0011]', ITEMS),
];
const DATA: readonly Path[] = [...NODE, ...below('data[at0001]', ITEMS), ...below('data', ITEMS)];
const COMPOSITION: readonly Path[] = [
  ...NODE,
  ['uid/value', 'uid'],
  ['composer/name', 'text'],
  ['composer', 'object'],
  ['context/start_time', 'instant'],
  ['context/start_time/value', 'instant'],
  ['archetype_details/template_id/value', 'text'],
  ['content/name/value', 'text'],
  ['content', 'object'],
  [`content[${A.bloodPressure}]/name/value`, 'text'],
  [`content[${A.vitals}]/items/name/value`, 'text'],
  [`content[${A.problem}]/data[at0001]/items/value/value`, 'any'],
  ['context/participations/performer/name', 'text'],
  ['context/participations/performer/identifiers/id', 'text'],
  ["context/participations[function/value='nurse']/performer/name", 'text'],
  ['links/type/value', 'text'],
  ["links[type/value='problem']/meaning/value", 'text'],
];
const EHR: readonly Path[] = [
  ['ehr_id/value', 'text'],
  ['system_id/value', 'text'],
  ['time_created', 'instant'],
  ['ehr_status/uid/value', 'uid'],
  ['ehr_status/other_details/items/value', 'any'],
  ['directory/name/value', 'text'],
  ['directory/folders/name/value', 'text'],
  ['compositions/id/value', 'text'],
  ['folders/id/value', 'text'],
  ['', 'object'],
];
const VERSION: readonly Path[] = [
  ['uid/value', 'uid'],
  ['commit_audit/time_committed/value', 'instant'],
  ['commit_audit/change_type/defining_code/code_string', 'text'],
  ['lifecycle_state/value', 'text'],
  ['contribution/id/value', 'text'],
  ['preceding_version_uid/value', 'text'],
  ['', 'object'],
];
const FOLDER: readonly Path[] = [
  ...NODE,
  ['items/id/value', 'text'],
  ['folders/name/value', 'text'],
  ['folders/items/id/value', 'text'],
];

/** A class of FROM with what may stand in its brackets. */
interface ClassChoice {
  readonly name: string;
  readonly predicates: readonly string[];
  readonly paths: readonly Path[];
  /** Classes of a lower level stand above those of a higher one. */
  readonly level: number;
  /** Whether at-codes may stand below. */
  readonly archetyped?: boolean;
}

const CLASSES: readonly ClassChoice[] = [
  {
    name: 'OBSERVATION',
    level: 2,
    predicates: [`[${A.bloodPressure}]`, `[${A.bloodPressure}]`, `[${A.pulse}]`],
    paths: OBSERVATION,
    archetyped: true,
  },
  {
    name: 'OBSERVATION',
    level: 2,
    predicates: ['', "[name/value='Left']", `[${A.bloodPressure}, 'Left']`],
    paths: OBSERVATION,
  },
  {
    name: 'SECTION',
    level: 1,
    predicates: ['', '', `[${A.vitals}]`],
    paths: [...NODE, ['items/name/value', 'text']],
  },
  { name: 'EVALUATION', level: 2, predicates: ['', `[${A.problem}]`], paths: DATA },
  { name: 'ADMIN_ENTRY', level: 2, predicates: ['', `[${A.allTypes}]`], paths: DATA },
  {
    name: 'CLUSTER',
    level: 6,
    predicates: [`[${A.device}]`, `[${A.device}]`],
    paths: [...NODE, ...ITEMS],
    archetyped: true,
  },
  { name: 'CLUSTER', level: 6, predicates: ['', "[name/value='Left']"], paths: [...NODE, ...ITEMS] },
  {
    name: 'ELEMENT',
    level: 7,
    predicates: ['', '', "[name/value='Right']", '[value/magnitude > 100]'],
    paths: [...NODE, ['value', 'any'], ['value/magnitude', 'number'], ['value/value', 'any']],
  },
  { name: 'POINT_EVENT', level: 4, predicates: [''], paths: EVENT },
  { name: 'EVENT', level: 4, predicates: ['', "[time/value > '2021-01-20']"], paths: ANY_EVENT },
  { name: 'HISTORY', level: 3, predicates: [''], paths: [...NODE, ['events/time/value', 'instant']] },
  { name: 'ITEM_TREE', level: 5, predicates: [''], paths: [...NODE, ...ITEMS] },
  { name: 'CARE_ENTRY', level: 2, predicates: [''], paths: NODE },
  { name: 'CONTENT_ITEM', level: 1, predicates: ['', "[name/value='a_b']"], paths: NODE },
  {
    name: 'ITEM',
    level: 6,
    predicates: [''],
    paths: [...NODE, ['value', 'any'], ['items/name/value', 'text']],
  },
  {
    name: 'PARTICIPATION',
    level: 8,
    predicates: ['', "[function/value='nurse']"],
    paths: [
      ['performer/name', 'text'],
      ['function/value', 'text'],
      ['performer/identifiers/id', 'text'],
    ],
  },
  {
    name: 'LINK',
    level: 8,
    predicates: [''],
    paths: [
      ['type/value', 'text'],
      ['meaning/value', 'text'],
    ],
  },
  {
    name: 'EVENT_CONTEXT',
    level: 0,
    predicates: [''],
    paths: [
      ['start_time', 'instant'],
      ['participations/performer/name', 'text'],
    ],
  },
];
const LOCAL_CLASSES: readonly ClassChoice[] = [
  {
    name: 'ELEMENT',
    level: 7,
    predicates: ['[at0004]', '[at0005]', "[at0004, 'Left']"],
    paths: [...NODE, ['value', 'any'], ['value/magnitude', 'number']],
  },
  { name: 'CLUSTER', level: 6, predicates: ['[at0004]', '[at0009]'], paths: [...NODE, ...ITEMS] },
  { name: 'POINT_EVENT', level: 4, predicates: ['[at0006]'], paths: EVENT },
];

class QueryMaker {
  private readonly variables: Variable[] = [];
  private count = 0;

  constructor(private readonly random: Random) {}

  query(): string {
    const from = this.from();
    if (this.variables.length === 0) return `SELECT 1 FROM ${from}`;
    const { random } = this;
    const where = random.chance(0.4) ? ` WHERE ${this.condition(2)}` : '';
    const kind = random.next();
    if (kind < 0.2) return this.aggregated(from, where);
    const columns = random.list(1, 4, () => this.columnText());
    const isDistinct = kind < 0.3;
    const keys = isDistinct ? columns : [...columns, ...random.list(0, 1, () => this.path()[0])];
    const sortable = keys.filter((key) => !/^['\d]/.test(key));
    const order = sortable.length > 0 && random.chance(0.5) ? this.order(sortable) : '';
    const top = random.chance(0.05)
      ? `TOP ${random.below(4) + 1} ${random.pick(['', 'FORWARD ', 'BACKWARD '])}`
      : '';
    const limit = top === '' ? this.limit() : '';
    return `SELECT ${isDistinct ? 'DISTINCT ' : ''}${top}${columns.join(', ')} FROM ${from}${where}${order}${limit}`;
  }

  private aggregated(from: string, where: string): string {
    const { random } = this;
    const groups = random.list(0, 2, () => this.path((kind) => kind !== 'object')[0]);
    const aggregates = random.list(1, 3, () => this.aggregate());
    const columns = [...groups, ...aggregates];
    const order = random.chance(0.4) ? this.order(columns) : '';
    return `SELECT ${columns.join(', ')} FROM ${from}${where}${order}${this.limit()}`;
  }

  private aggregate(): string {
    const { random } = this;
    const [any] = this.path();
    const [number] = this.path((kind) => kind === 'number');
    const [text] = this.path((kind) => kind === 'text' || kind === 'instant');
    return random.pick([
      'COUNT(*)',
      `COUNT(${any})`,
      `COUNT(DISTINCT ${any})`,
      `${random.pick(['MIN', 'MAX'])}(${text})`,
      ...this.numeric(number),
    ]);
  }

  /** SUM and the like only where a path with numbers was found. */
  private numeric(path: string): string[] {
    return path.endsWith('magnitude') ? ['MIN', 'MAX', 'SUM', 'AVG'].map((name) => `${name}(${path})`) : [];
  }

  private order(keys: readonly string[]): string {
    const { random } = this;
    const items = random.list(1, 2, () => random.pick(keys) + random.pick(['', ' ASC', ' DESC']));
    return ` ORDER BY ${items.join(', ')}`;
  }

  private limit(): string {
    const { random } = this;
    if (random.chance(0.75)) return '';
    return random.pick([
      ` LIMIT ${random.below(5) + 1}`,
      ` LIMIT ${random.below(5) + 1} OFFSET ${random.below(3)}`,
      ` OFFSET ${random.below(3)}`,
    ]);
  }

  private columnText(): string {
    const { random } = this;
    if (random.chance(0.06)) return random.pick(['1', "'x'"]);
    if (random.chance(0.08)) return this.call();
    return this.path()[0];
  }

  private call(): string {
    const [text] = this.path((kind) => kind === 'text');
    const [number] = this.path((kind) => kind === 'number');
    return this.random.pick([
      `LENGTH(${text})`,
      `CONCAT(${text}, '-', ${text})`,
      `SUBSTRING(${text}, 2, 3)`,
      `POSITION('t', ${text})`,
      `ABS(${number})`,
      `MOD(${number}, 7)`,
      `CONCAT_WS('/', ${text}, ${number})`,
    ]);
  }

  /** A path of a bound variable, of the wanted kind if there is one. */
  private path(isWanted: (kind: Kind) => boolean = () => true): Path {
    const { random } = this;
    const variable = random.pick(this.variables);
    const wanted = variable.paths.filter(([, kind]) => isWanted(kind));
    const [path, kind] = random.pick(wanted.length > 0 ? wanted : variable.paths);
    return [path === '' ? variable.name : `${variable.name}/${path}`, kind];
  }

  private condition(depth: number): string {
    const { random } = this;
    if (depth > 0 && random.chance(0.45)) {
      const operands = random.list(2, 3, () => this.condition(depth - 1));
      return `(${operands.join(random.pick([' AND ', ' OR ']))})`;
    }
    return random.chance(0.2) ? `NOT ${this.test()}` : this.test();
  }

  private test(): string {
    const { random } = this;
    const [path, kind] = this.path((each) => each !== 'object');
    const operator = random.pick(['=', '!=', '<', '<=', '>', '>=']);
    const form = random.next();
    if (form < 0.15) return `EXISTS ${this.path()[0]}`;
    if (form < 0.22) return `${path} ${random.pick(['=', '!='])} NULL`;
    if (form < 0.32 && kind !== 'uid')
      return `${path} ${random.pick(['', 'NOT '])}LIKE ${random.pick(["'*t*'", "'?e*'", "'a_b'", "'1*'", "'*0?'", "'100%'"])}`;
    if (form < 0.42 && kind !== 'uid')
      return `${path} ${random.pick(['', 'NOT '])}MATCHES {${random.list(1, 3, () => this.literal(kind)).join(', ')}}`;
    if (form < 0.5 && kind !== 'uid') return `${path} ${operator} ${this.path((each) => each === kind)[0]}`;
    if (form < 0.55)
      return `LENGTH(${this.path((each) => each === 'text')[0]}) ${operator} ${random.below(8)}`;
    return `${path} ${operator} ${this.literal(kind)}`;
  }

  private literal(kind: Kind): string {
    const { random } = this;
    const object = `'cccccccc-0000-4000-8000-00000000000${1 + random.below(9)}`;
    switch (kind) {
      case 'number':
        return random.pick(['60', '90', '100.5', '120', '130', '-1']);
      case 'instant':
        return random.pick([
          "'2021-01-10'",
          "'2021-01-20T02:00:00Z'",
          "'2021-01'",
          "'20210115T020000+0100'",
          "'9999-12-31'",
        ]);
      case 'duration':
        return random.pick(["'PT1H'", "'PT30M'", "'PT45M'"]);
      case 'uid':
        return random.pick([`${object}'`, `${object}::local.cdr::1'`, `${object}::::2'`]);
      case 'text':
        return random.pick([...NAMES, "'at0004'", "'Dr Wu'", "'problem'"]);
      case 'object':
      case 'any':
        return random.pick([
          ...NAMES,
          '90',
          '2',
          'true',
          "'P1D'",
          "'10:30:00'",
          "'2020-02'",
          "'2021-01-15'",
          "'local::A'",
          "'B'",
        ]);
    }
  }

  private from(): string {
    const { random } = this;
    const form = random.next();
    if (form < 0.08) return this.ehr();
    if (form < 0.16)
      return (
        this.ehr() +
        this.containment(() =>
          this.named(
            'EHR_STATUS',
            '',
            [...NODE, ['uid/value', 'uid'], ['other_details/items/value', 'any']],
            's',
          ),
        )
      );
    if (form < 0.28) return this.folder();
    if (form < 0.34)
      return `(${this.root()}) ${random.pick(['AND', 'OR'])} ${this.named('EHR_STATUS', '', NODE, 's')}`;
    if (form < 0.75) return this.ehr() + this.containment(() => this.root());
    return this.root();
  }

  private ehr(): string {
    const predicates = [
      "[time_created/value > '2020-06']",
      "[ehr_status/other_details/items/name/value = 'Left' or system_id/value = 'other']",
      "[ehr_id/value >= 'eeeeeeee-0000-4000-8000-000000000002']",
      "[directory/name/value != 'Left']",
    ];
    return this.named('EHR', this.random.chance(0.85) ? '' : this.random.pick(predicates), EHR, 'e');
  }

  private containment(inner: () => string): string {
    if (!this.random.chance(0.12)) return ` CONTAINS ${inner()}`;
    // What stands below NOT CONTAINS has no value outside.
    const before = this.variables.length;
    const text = inner();
    this.variables.length = before;
    return ` NOT CONTAINS ${text}`;
  }

  private folder(): string {
    const { random } = this;
    const self = this.named('FOLDER', random.pick(['', '', "[name/value='Left']"]), FOLDER, 'f');
    const form = random.next();
    if (form < 0.25) return self;
    if (form < 0.45) return self + this.containment(() => this.named('FOLDER', '', FOLDER, 'f'));
    return self + this.containment(() => this.root());
  }

  private root(): string {
    const { random } = this;
    if (random.chance(0.2)) return this.content(1, false);
    const isVersion = random.chance(0.2);
    const version = isVersion
      ? `${this.named('VERSION', random.pick(['', '[LATEST_VERSION]', '[ALL_VERSIONS]', "[commit_audit/time_committed > '2021-01-01T05:00:00Z']", "[commit_audit/change_type/value = 'change 251']", "[lifecycle_state/value != 'state 523' and uid/value > 'cccccccc-0000-4000-8000-000000000003::local.cdr::1']"]), VERSION, 'v')} CONTAINS `
      : '';
    const self = this.named(
      'COMPOSITION',
      random.pick(['', '', '', `[${A.encounter}]`, `[${A.encounter}]`, "[name/value='Left']"]),
      COMPOSITION,
      'c',
    );
    return version + self + (random.chance(0.8) ? this.containment(() => this.content(2, false)) : '');
  }

  /** A class below a COMPOSITION, or two joined by AND or OR. */
  private content(depth: number, isLocal: boolean, level = 0): string {
    const { random } = this;
    if (depth > 0 && random.chance(0.3))
      return `(${this.content(depth - 1, isLocal, level)} ${random.pick(['AND', 'OR'])} ${this.content(depth - 1, isLocal, level)})`;
    const choice = this.classBelow(level, isLocal);
    const self = this.named(
      choice.name,
      random.pick(choice.predicates),
      choice.paths,
      choice.name.slice(0, 2).toLowerCase(),
    );
    if (depth === 0 || random.chance(0.6)) return self;
    return `(${self}${this.containment(() => this.content(depth - 1, choice.archetyped === true, choice.level))})`;
  }

  /** Mostly a class that can stand below the level; never only those, impossible ones are legal too. */
  private classBelow(level: number, isLocal: boolean): ClassChoice {
    const { random } = this;
    const all = isLocal && random.chance(0.6) ? LOCAL_CLASSES : CLASSES;
    const possible = all.filter((each) => each.level >= level && each.level < 8);
    return random.pick(possible.length > 0 && random.chance(0.85) ? possible : all);
  }

  private named(className: string, predicate: string, paths: readonly Path[], letter: string): string {
    this.count++;
    const name = `${letter}${this.count}x`;
    this.variables.push({ name, paths });
    return `${className} ${name}${predicate}`;
  }
}

/** The case of a seed; `size` is roughly the number of EHRs. */
export function randomCase(seed: number, size: number): RandomCase {
  return caseOver(randomData(new Random(seed ^ 0x5eed), size), seed);
}

/** Several cases over the same data, for where loading data is slow. */
export function randomCasesOverOneData(seed: number, size: number, count: number): readonly RandomCase[] {
  const data = randomData(new Random(seed ^ 0x5eed), size);
  return Array.from({ length: count }, (_, index) => caseOver(data, seed * 1000 + index));
}

function caseOver(data: ReferenceData, seed: number): RandomCase {
  const random = new Random(seed);
  const aql = new QueryMaker(random).query();
  const isFixed = random.chance(0.1);
  return {
    seed,
    aql,
    data,
    ehrId: isFixed ? (data.ehrs[0]?.ehrId ?? null) : null,
    asOf: random.chance(0.12) ? new Date(Date.UTC(2021, 0, 1, 1 + random.below(12))) : null,
    subsumption: random.chance(0.1),
  };
}

/** Random cases for properties: a failing one shrinks to fewer EHRs. */
export const randomCases: fc.Arbitrary<RandomCase> = fc
  .tuple(
    fc.integer({ min: 0, max: 0x7fffffff }).map((seed) => ({ seed })),
    fc.integer({ min: 1, max: 4 }),
  )
  .map(([{ seed }, size]) => randomCase(seed, size));
