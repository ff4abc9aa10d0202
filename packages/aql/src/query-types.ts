import { attributesOf, isPrimitive } from '../../../openehr/rm/model/classes.js';
import { functionDomain } from '../../../aql/syntax/functions.js';
import type { Alias, Column, Domain, Scope } from '../../../aql/semantics/scope-types.js';
import type { Aggregate, Condition, FunctionCall, IdentifiedPath } from '../../../aql/syntax/ast.js';
import { renderValue } from '../../../aql/syntax/render.js';
import { conjunctsOf } from '../../../aql/syntax/walk.js';
import type { Catalogue } from './catalogue.js';
import { checkQuery, type CheckOptions, type Diagnostic } from './check.js';
import { codedStep, placeOfClass, placeOfPath, stepFrom, type Place } from './path-classes.js';
import type { ParameterUse } from './parameters.js';

/** What a value can be: words of TypeScript and names of classes of the reference model. */
export interface ValueType {
  readonly types: readonly string[];
  readonly isNullable: boolean;
}

/** The types of a query. */
export interface QueryTypes {
  readonly diagnostics: readonly Diagnostic[];
  readonly columns: readonly ({ readonly name: string } & ValueType)[];
  /** `isList`: also a list of them, in MATCHES. */
  readonly parameters: readonly {
    readonly name: string;
    readonly types: readonly string[];
    readonly isList: boolean;
  }[];
}

/** The types of rows and parameters of a query, with what is wrong with it; no types when there are errors. */
export function queryTypes(
  text: string,
  catalogue: Catalogue | null,
  options: CheckOptions = {},
): QueryTypes {
  const { diagnostics, scope, parameters } = checkQuery(text, catalogue, options);
  if (scope === null) return { diagnostics, columns: [], parameters: [] };
  const given = new Set<string>();
  for (const condition of conjunctsOf(scope.query.where)) addGiven(condition, given);
  const columns = scope.columns.map((column) => ({
    name: column.name,
    ...columnType(column, scope, { catalogue, given }),
  }));
  return { diagnostics, columns, parameters: parameterTypes(parameters) };
}

interface Known {
  readonly catalogue: Catalogue | null;
  /** Paths that WHERE lets be no null. */
  readonly given: ReadonlySet<string>;
}

const LITERALS: Readonly<Record<string, ValueType>> = {
  string: { types: ['string'], isNullable: false },
  integer: { types: ['number'], isNullable: false },
  real: { types: ['number'], isNullable: false },
  boolean: { types: ['boolean'], isNullable: false },
};
const NULL: ValueType = { types: [], isNullable: true };

function columnType({ expression }: Column, scope: Scope, known: Known): ValueType {
  if (expression.kind === 'path') return pathType(expression, scope, known);
  if (expression.kind === 'function') return functionType(expression);
  if (expression.kind === 'aggregate') return aggregateType(expression, scope, known);
  return LITERALS[expression.kind] ?? NULL;
}

function aggregateType({ name, argument }: Aggregate, scope: Scope, known: Known): ValueType {
  if (name === 'COUNT') return { types: ['number'], isNullable: false };
  if (argument === null || name === 'SUM' || name === 'AVG') return { types: ['number'], isNullable: true };
  const { types } = argument.kind === 'path' ? pathType(argument, scope, known) : functionType(argument);
  return { types, isNullable: true };
}

function functionType(call: FunctionCall): ValueType {
  const types = [TYPES[functionDomain(call.name)]];
  // Arguments of another kind than the function takes give null too.
  return { types, isNullable: call.args.length > 0 };
}

function pathType(path: IdentifiedPath, scope: Scope, { catalogue, given }: Known): ValueType {
  const { alias } = scope.useOf(path);
  const start = startOf(alias);
  const end = placeOfPath(start, path, catalogue);
  const types = new Set([...end.classes].map(typeOf));
  const isGiven = given.has(renderValue(path)) || isAlwaysThere(alias, start, path);
  return { types: [...types].sort(), isNullable: !isGiven };
}

function startOf(alias: Alias): Place {
  const [only, ...others] = alias.predicate?.alternatives ?? [];
  const ids =
    others.length > 0 ? [] : (only ?? []).flatMap((each) => (each.kind === 'node' ? [each.id] : []));
  return placeOfClass(alias.className, ids.find(({ isArchetypeId }) => isArchetypeId)?.value ?? null);
}

/** Whether the reference model demands every attribute of a path, without a predicate that may fail. */
function isAlwaysThere(alias: Alias, start: Place, { predicate, steps }: IdentifiedPath): boolean {
  if (alias.optional || alias.negated || alias.kind === 'version' || predicate !== null) return false;
  let place = start;
  for (const step of steps) {
    const { attribute } = step;
    const isDemanded = [...place.classes].every(
      (name) => attributesOf(name).get(attribute)?.required === true,
    );
    if (!isDemanded || step.predicate !== null) return false;
    place = stepFrom(place, codedStep(step), null);
  }
  return true;
}

/** Paths of a condition that is true of no null. */
function addGiven(condition: Condition, given: Set<string>): void {
  if (condition.kind === 'exists') given.add(renderValue(condition.path));
  else if (condition.kind === 'comparison') {
    const { left, right, operator } = condition;
    const isNull = right.kind === 'null';
    if (left.kind === 'path' && operator !== (isNull ? '=' : '!=')) given.add(renderValue(left));
  } else if (condition.kind === 'like' || condition.kind === 'matches') {
    if (!condition.negated && condition.left.kind === 'path') given.add(renderValue(condition.left));
  }
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  Boolean: 'boolean',
  Integer: 'number',
  Integer64: 'number',
  Real: 'number',
};

function typeOf(name: string): string {
  return isPrimitive(name) ? (PRIMITIVES[name] ?? 'string') : name;
}

const TYPES: Readonly<Record<Domain, string>> = {
  number: 'number',
  boolean: 'boolean',
  text: 'string',
  instant: 'string',
  date: 'string',
  time: 'string',
  duration: 'string',
};

function parameterTypes(uses: readonly ParameterUse[]): QueryTypes['parameters'] {
  const byName = new Map<string, ParameterUse[]>();
  for (const use of uses) byName.set(use.name, [...(byName.get(use.name) ?? []), use]);
  return [...byName].map(([name, own]) => {
    const [first, ...others] = own.map(typesOfUse);
    // Types of places that contradict each other are all allowed: the server says what does not fit.
    const common = (first ?? []).filter((type) => others.every((each) => each.includes(type)));
    const types = common.length > 0 ? common : [...new Set(own.flatMap(typesOfUse))];
    return { name, types, isList: own.every(({ kind }) => kind === 'list') };
  });
}

function typesOfUse({ domains }: ParameterUse): readonly string[] {
  if (domains.size === 0) return ['string', 'number', 'boolean'];
  const types = new Set([...domains].map((domain) => TYPES[domain]));
  if (domains.has('instant')) types.add('Date');
  return [...types].sort();
}
