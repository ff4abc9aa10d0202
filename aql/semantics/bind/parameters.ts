import { CdrError } from '../../../openehr/base/errors.js';
import { isJsonObject, type JsonValue } from '../../../openehr/base/json.js';
import { nearestWord } from '../../../openehr/base/text.js';
import type { Literal, Parameter, Position, ParsedQuery } from '../../syntax/ast.js';
import type { Domain } from '../scope-types.js';
import { domainsOf } from '../typing.js';
import { counted, step } from '../../../openehr/base/work.js';

/** Unused parameters that one answer names, and how much of each it repeats. */
const MAX_NAMED = 10;
const MAX_NAME_LENGTH = 100;

/**
 * The values of a request's query parameters. `json`: from a POST body, types kept. `text`: from a query
 * string, texts (a repeated one is an array of texts) that are typed by what they are compared with
 * (docs/spec/aql.md#parameters).
 */
export interface QueryParameters {
  readonly source: 'json' | 'text';
  readonly values: ReadonlyMap<string, JsonValue>;
}

/** Parameters of a request by name; one leading `$` of a name is dropped. Later entries win. */
export function queryParameters(
  source: QueryParameters['source'],
  entries: Iterable<readonly [string, JsonValue]>,
): QueryParameters {
  const values = new Map<string, JsonValue>();
  for (const [name, value] of entries) {
    step();
    values.set(name.startsWith('$') ? name.slice(1) : name, value);
  }
  return { source, values };
}

/**
 * The parameter `$ehr_id` of a query that has one takes the EHR that the request is fixed to.
 * @throws invalid when it was given another value
 */
export function withEhrId(
  parameters: QueryParameters,
  query: ParsedQuery,
  ehrId: string | null,
): QueryParameters {
  if (ehrId === null || !namesOfParameters(query).has(EHR_ID)) return parameters;
  const given = parameters.values.get(EHR_ID) ?? ehrId;
  if (typeof given !== 'string' || given.toLowerCase() !== ehrId.toLowerCase())
    throw new CdrError('invalid', 'the parameter $ehr_id and the ehr_id of the request are different');
  return { ...parameters, values: new Map([...parameters.values, [EHR_ID, given]]) };
}

const EHR_ID = 'ehr_id';

/** A value for a parameter that the query does not have. */
export interface UnusedParameter {
  readonly name: string;
  /** A sentence with the nearest parameter of the query. */
  readonly message: string;
}

/** Values for parameters that the query does not have, ten at most. */
export function unusedParameters(query: ParsedQuery, { values }: QueryParameters): UnusedParameter[] {
  const used = namesOfParameters(query);
  const unused = counted([...values.keys()])
    .filter((name) => !used.has(name))
    .slice(0, MAX_NAMED);
  return counted(unused).map((name) => {
    const nearest = nearestWord(name, used);
    const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
    return { name, message: `the query has no parameter $${name.slice(0, MAX_NAME_LENGTH)}${hint}` };
  });
}

/** Names of the parameters of a query, without `$`. */
function namesOfParameters(query: ParsedQuery): Set<string> {
  const names = new Set<string>();
  const left: unknown[] = [query];
  while (left.length > 0) {
    step();
    const node = left.pop();
    if (typeof node !== 'object' || node === null) continue;
    if ('kind' in node && node.kind === 'parameter') names.add((node as Parameter).name);
    left.push(...(Object.values(node) as unknown[]));
  }
  return names;
}

/** What a value is compared with: its domains (empty: unknown, then text stays text). */
export type Partner = ReadonlySet<Domain>;

/** A partner of one domain. */
export function partnerOf(...domains: Domain[]): Partner {
  return new Set(domains);
}

/** The partner that values of these classes are. */
export function partnerOfClasses(classes: ReadonlySet<string>): Partner {
  return domainsOf(classes);
}

/**
 * The one value of a parameter as literals: several when a text can be read in several ways.
 * @throws invalid when it is missing, null, an object or an array
 */
export function readingsOf(
  parameter: Parameter,
  parameters: QueryParameters,
  partner: Partner,
): readonly Literal[] {
  const value = givenValueOf(parameter, parameters);
  if (Array.isArray(value))
    throw new CdrError('invalid', `the parameter $${parameter.name} does not support multiple values here`);
  return literalsOf(value, parameter, parameters, partner);
}

/** As `readingsOf`, an array gives the readings of all its values. @throws invalid also when it is empty */
export function allReadingsOf(
  parameter: Parameter,
  parameters: QueryParameters,
  partner: Partner,
): readonly Literal[] {
  const value = givenValueOf(parameter, parameters);
  const values = Array.isArray(value) ? value : [value];
  if (values.length === 0) throw new CdrError('invalid', `the parameter $${parameter.name} is an empty list`);
  return counted(values).flatMap((each) => literalsOf(each, parameter, parameters, partner));
}

/** A parameter that can only be a text. @throws invalid otherwise */
export function stringParameter(parameter: Parameter, parameters: QueryParameters, what: string): string {
  const [literal] = readingsOf(parameter, parameters, partnerOf('text'));
  if (literal?.kind !== 'string')
    throw new CdrError('invalid', `the parameter $${parameter.name} must be ${what}`);
  return literal.value;
}

function givenValueOf(parameter: Parameter, { values }: QueryParameters): JsonValue {
  const value = values.get(parameter.name);
  if (value === undefined || value === null)
    throw new CdrError('invalid', `the query parameter $${parameter.name} has no value`);
  return value;
}

function literalsOf(
  value: JsonValue,
  { name, at }: Parameter,
  { source }: QueryParameters,
  partner: Partner,
): readonly Literal[] {
  if (typeof value === 'boolean') return [{ kind: 'boolean', value, at }];
  if (typeof value === 'number') return [numberLiteral(value, at)];
  if (typeof value === 'string')
    return source === 'text' ? textReadings(value, at, partner) : [{ kind: 'string', value, at }];
  const what = value === null ? 'null' : isJsonObject(value) ? 'an object' : 'a list';
  throw new CdrError('invalid', `a value of the parameter $${name} is ${what}`);
}

function numberLiteral(value: number, at: Position): Literal {
  return { kind: Number.isInteger(value) ? 'integer' : 'real', value: value === 0 ? 0 : value, at };
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const BOOLEAN = /^(?:true|false)$/i;

function textReadings(text: string, at: Position, partner: Partner): readonly Literal[] {
  if (text.length >= 2 && text.startsWith("'") && text.endsWith("'"))
    return [{ kind: 'string', value: text.slice(1, -1), at }];
  const readings: Literal[] = [];
  if (partner.has('number') && NUMBER.test(text) && Number.isFinite(Number(text)))
    readings.push(numberLiteral(Number(text), at));
  if (partner.has('boolean') && BOOLEAN.test(text))
    readings.push({ kind: 'boolean', value: text.toLowerCase() === 'true', at });
  const isTextPossible = counted([...partner]).some((domain) => domain !== 'number' && domain !== 'boolean');
  if (readings.length === 0 || isTextPossible) readings.push({ kind: 'string', value: text, at });
  return readings;
}
