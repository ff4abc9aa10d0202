import { argumentDomain, functionDomain } from '../../../aql/syntax/functions.js';
import type { Domain } from '../../../aql/semantics/scope-types.js';
import { domainsOf, pathType, stepType } from '../../../aql/semantics/typing.js';
import type {
  FunctionCall,
  IdentifiedPath,
  Parameter,
  ParsedQuery,
  Placeholder,
  Position,
  Predicate,
  Test,
  Unbound,
  ValueExpression,
} from '../../../aql/syntax/ast.js';
import { classesOf, testsOf } from '../../../aql/syntax/walk.js';
import type { Catalogue } from './catalogue.js';
import { codedStep, placeOfPath, stepFrom, variablesOf, type Place } from './path-classes.js';

/** One place of a parameter in a query. */
export interface ParameterUse {
  readonly name: string;
  readonly at: Position;
  /**
   * `value` of the domains; `list`: also a list of them; `count`: of LIMIT and OFFSET; `node`: an archetype id or
   * at-code; `version`: a version id.
   */
  readonly kind: 'value' | 'list' | 'count' | 'node' | 'version';
  readonly domains: ReadonlySet<Domain>;
}

const TEXT: ReadonlySet<Domain> = new Set(['text']);
const NUMBER: ReadonlySet<Domain> = new Set(['number']);
const NONE: ReadonlySet<Domain> = new Set();

/** Where the parameters of a query stand and what their values can be, in the order of the text. */
export function parameterUses(query: ParsedQuery, catalogue: Catalogue | null): readonly ParameterUse[] {
  const search = new Search(variablesOf(query.from), catalogue);
  search.query(query);
  return search.found.sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
}

class Search {
  readonly found: ParameterUse[] = [];

  constructor(
    private readonly variables: ReadonlyMap<string, Place>,
    private readonly catalogue: Catalogue | null,
  ) {}

  query({ select, from, where, orderBy, limit }: ParsedQuery): void {
    for (const { expression } of select.columns) this.expression(expression);
    for (const { variable, predicate } of classesOf(from))
      this.predicate(predicate, variable === null ? undefined : this.variables.get(variable));
    for (const test of testsOf(where)) this.test(test);
    for (const { expression } of orderBy) this.expression(expression);
    for (const count of [limit?.limit, limit?.offset])
      if (count?.kind === 'parameter') this.add(count, 'count', NUMBER);
  }

  private expression(expression: ParsedQuery['select']['columns'][number]['expression']): void {
    if (expression.kind !== 'aggregate') this.value(expression, TEXT);
    else if (expression.argument !== null) this.value(expression.argument, TEXT);
  }

  private test(test: Test<Unbound>): void {
    if (test.kind === 'exists') {
      this.path(test.path);
      return;
    }
    this.value(test.left, TEXT);
    if (test.kind === 'comparison') this.compared(test.left, test.right, 'value');
    else if (test.kind === 'like') this.value(test.pattern, TEXT);
    else if (test.set.kind === 'list')
      for (const item of test.set.items) if (item.kind !== 'code') this.compared(test.left, item, 'list');
  }

  private compared(
    left: ValueExpression<Unbound>,
    right: ValueExpression<Unbound>,
    kind: 'value' | 'list',
  ): void {
    if (right.kind !== 'parameter') this.value(right, TEXT);
    else if (left.kind === 'function') this.add(right, kind, new Set([functionDomain(left.name)]));
    else if (left.kind === 'path')
      this.add(right, this.isVersion(left) ? 'version' : kind, this.domains(left));
    else this.add(right, kind, NONE);
  }

  private isVersion(path: IdentifiedPath<Placeholder>): boolean {
    const place = this.variables.get(path.variable);
    if (place === undefined || path.steps.some(({ predicate }) => predicate !== null)) return false;
    const steps = path.steps.map((step) => ({ ...step, predicate: null }));
    return pathType(place.classes, steps)?.identifier === 'version';
  }

  private domains(path: IdentifiedPath<Placeholder>): ReadonlySet<Domain> {
    const start = this.variables.get(path.variable);
    return start === undefined ? NONE : domainsOf(placeOfPath(start, path, this.catalogue).classes);
  }

  private value(value: ValueExpression<Unbound>, domains: ReadonlySet<Domain>): void {
    if (value.kind === 'parameter') this.add(value, 'value', domains);
    else if (value.kind === 'path') this.path(value);
    else if (value.kind === 'function') this.call(value);
    else if (value.kind === 'terminology') value.args.forEach((arg) => this.value(arg, TEXT));
  }

  private call({ name, args }: FunctionCall<Unbound>): void {
    args.forEach((arg, index) => this.value(arg, new Set([argumentDomain(name, index)])));
  }

  private path({ variable, predicate, steps }: IdentifiedPath<Placeholder>): void {
    let place = this.variables.get(variable);
    this.predicate(predicate, place);
    for (const step of steps) {
      place &&= stepFrom(place, codedStep(step), this.catalogue);
      this.predicate(step.predicate, place);
    }
  }

  private predicate(predicate: Predicate<Placeholder> | null, place: Place | undefined): void {
    for (const condition of predicate?.alternatives.flat() ?? []) {
      if (condition.kind === 'node-parameter') this.add(condition.parameter, 'node', TEXT);
      else if (condition.kind === 'node' && condition.name?.kind === 'parameter')
        this.add(condition.name, 'value', TEXT);
      else if (condition.kind === 'predicate-comparison' && condition.operand.kind === 'parameter')
        this.operand(condition.operand, condition.path.steps, place);
    }
  }

  private operand(
    parameter: Parameter,
    steps: readonly { readonly attribute: string }[],
    place: Place | undefined,
  ): void {
    const names = steps.map(({ attribute }) => attribute).join('/');
    let classes = place?.classes ?? new Set<string>();
    for (const { attribute } of steps) classes = stepType(classes, attribute).classes;
    const kind = names === 'archetype_node_id' ? 'node' : names === 'uid/value' ? 'version' : 'value';
    this.add(parameter, kind, domainsOf(classes));
  }

  private add({ name, at }: Parameter, kind: ParameterUse['kind'], domains: ReadonlySet<Domain>): void {
    this.found.push({ name, at, kind, domains });
  }
}

const SAMPLES: Readonly<Record<Domain, string | number | boolean>> = {
  text: 'x',
  number: 1,
  boolean: true,
  instant: '2020-01-01T00:00:00Z',
  date: '2020-01-01',
  time: '00:00:00',
  duration: 'PT1H',
};
const KINDS = {
  count: 1,
  node: 'openEHR-EHR-OBSERVATION.sample.v1',
  version: '00000000-0000-4000-8000-000000000000',
};

/** A value that fits a place, so that a query can be checked before its parameters have values. */
export function sampleOf({ kind, domains }: ParameterUse): string | number | boolean {
  if (kind === 'count' || kind === 'node' || kind === 'version') return KINDS[kind];
  const [domain = 'text'] = domains.has('text') ? TEXT : domains;
  return SAMPLES[domain];
}
