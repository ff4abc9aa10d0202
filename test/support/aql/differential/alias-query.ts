import type { AliasStep, PathAlias } from '../../../../openehr/template/upgrade/path-alias.js';
import { ARCHETYPES as A } from '../../hilltop/compositions.js';
import type { Random } from '../../random.js';
import { POOL } from './random-data.js';
import type { RandomQuery } from './random-query.js';

/** Objects of FROM by their archetype; null: the COMPOSITION, at which all paths may begin. */
const CLASSES: readonly (readonly [variable: string, className: string, archetype: string | null])[] = [
  ['c', 'COMPOSITION', null],
  ['o', 'OBSERVATION', A.bloodPressure],
  ['u', 'OBSERVATION', A.pulse],
  ['p', 'EVALUATION', A.problem],
  ['a', 'ADMIN_ENTRY', A.allTypes],
];

const TAILS = [
  '',
  '/value',
  '/value/value',
  '/value/magnitude',
  '/value/magnitude',
  '/name/value',
  '/value/defining_code/code_string',
  '/null_flavour/value',
];
const CONDITIONS = [
  '',
  '',
  '',
  " and name/value='Left'",
  ' and value/magnitude > 0',
  " and name/value='Right'",
];

/** Makes a query that reads what aliases have moved, beside other things. */
export function aliasQuery(random: Random, aliases: readonly PathAlias[]): RandomQuery {
  const maker = new AliasQueryMaker(random, aliases);
  const asOf = random.chance(0.1) ? new Date(Date.UTC(2021, 0, 1) + random.whole(0, 30) * 3_600_000) : null;
  return { aql: maker.query(), ehrId: null, asOf, subsumption: random.chance(0.05) };
}

class AliasQueryMaker {
  /** Variables of FROM that have a value, with their archetypes. */
  private readonly bound = new Map<string, string | null>();

  constructor(
    private readonly random: Random,
    private readonly aliases: readonly PathAlias[],
  ) {}

  query(): string {
    const { random } = this;
    const from = this.from();
    const isGrouped = random.chance(0.2);
    const columns = random.list(1, 3, () =>
      isGrouped && random.chance(0.6) ? this.aggregate() : this.path(),
    );
    const isDistinct = !isGrouped && random.chance(0.15);
    const where = random.chance(0.6) ? ` WHERE ${this.condition(2)}` : '';
    const sorted = isGrouped || isDistinct ? columns[0] : this.path();
    const order = random.chance(0.4) ? ` ORDER BY ${sorted}${random.pick([' DESC', ''])}` : '';
    const limit = random.chance(0.15) ? ` LIMIT ${random.whole(1, 5)}` : '';
    return `SELECT ${isDistinct ? 'DISTINCT ' : ''}${columns.join(', ')} FROM EHR e CONTAINS ${from}${where}${order}${limit}`;
  }

  private from(): string {
    const { random } = this;
    const composition = `COMPOSITION c${random.pick(['', '', `[${A.encounter}]`])}`;
    this.bound.set('c', null);
    switch (random.whole(0, 5)) {
      case 0:
        return composition;
      case 1:
        return `${composition} NOT CONTAINS ${this.object(false)}`;
      case 2:
        return `${composition} CONTAINS (${this.object(true)} OR ${this.object(true)})`;
      default:
        return `${composition} CONTAINS ${this.object(true)}`;
    }
  }

  private object(isBound: boolean): string {
    const { random } = this;
    const free = CLASSES.filter(([variable]) => !this.bound.has(variable));
    const [variable, className, archetype] = random.pick(free);
    const inner = random.chance(0.15) ? ` CONTAINS ELEMENT[${random.pick(['at0001', 'at0002'])}]` : '';
    const name = random.chance(0.1) ? ", 'Left'" : '';
    if (!isBound) return `${className}[${archetype ?? ''}${name}]${inner}`;
    this.bound.set(variable, archetype);
    return `${className} ${variable}[${archetype ?? ''}${name}]${inner}`;
  }

  private aggregate(): string {
    const path = this.path();
    return this.random.pick([
      `COUNT(${path})`,
      `COUNT(DISTINCT ${path})`,
      `MIN(${path})`,
      `MAX(${path})`,
      `SUM(${path})`,
    ]);
  }

  /** A path of an alias, from one of the variables that it leads through. */
  private path(): string {
    const { random } = this;
    const alias = random.pick(this.aliases);
    const steps = random.pick([alias.from, alias.to]);
    const [variable, archetype] = random.pick(this.through(steps));
    const index = archetype === null ? -1 : steps.findIndex(({ nodeId }) => nodeId === archetype);
    const own = steps.slice(index + 1);
    const written = own.map((step, at) => this.step(step, at === own.length - 1)).join('');
    return `${variable}${written}${random.pick(TAILS)}`;
  }

  private through(steps: readonly AliasStep[]): (readonly [string, string | null])[] {
    return [...this.bound].filter(
      ([, archetype]) => archetype === null || steps.some(({ nodeId }) => nodeId === archetype),
    );
  }

  private step({ attribute, nodeId }: AliasStep, isLast: boolean): string {
    const { random } = this;
    if (nodeId === null || random.chance(0.04)) return `/${attribute}`;
    if (random.chance(0.03)) return `/${attribute}[name/value='Left']`;
    return `/${attribute}[${nodeId}${isLast ? random.pick(CONDITIONS) : ''}]`;
  }

  private condition(depth: number): string {
    const { random } = this;
    const path = this.path();
    if (depth > 0 && random.chance(0.3))
      return `(${this.condition(depth - 1)} ${random.pick(['AND', 'OR'])} ${this.condition(depth - 1)})`;
    if (depth > 0 && random.chance(0.15)) return `NOT ${this.condition(depth - 1)}`;
    switch (random.whole(0, 7)) {
      case 0:
        return `EXISTS ${path}`;
      case 1:
        return `${path} ${random.pick(['=', '!='])} NULL`;
      case 2:
        return `${path} LIKE '${random.pick(['*a*', '?lpha', '1*'])}'`;
      case 3:
        return `${path} matches {'${random.pick(POOL.texts)}', ${random.whole(0, 3)}}`;
      case 4:
        return `${path} = '${random.pick([...POOL.texts, ...POOL.codes])}'`;
      case 5:
        return `${path} < ${this.path()}`;
      default:
        return `${path} ${random.pick(['=', '>', '<=', '!='])} ${random.pick([0, 1, 50, 100, 150])}`;
    }
  }
}
