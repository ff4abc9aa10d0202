import type { Domain } from '../../semantics/scope-types.js';
import { and, member, call, equal, isOneOf, literal, not, or, present } from '../../plan/expression.js';
import type { Expression, Reference } from '../../plan/expression.js';
import { counted } from '../../../openehr/base/work.js';

/** A place in a document where a path of the query ends. */
export interface ValueRef {
  /** The value. */
  readonly raw: Reference;
  /** The object that holds it, null at a variable. */
  readonly parent: Reference | null;
  /** Concrete RM classes and primitive types that can stand there. */
  readonly classes: ReadonlySet<string>;
}

/** One reading of an operand: its value where `guard` holds. The guards of an operand exclude each other. */
export interface DomainValue {
  readonly domain: Domain;
  readonly guard: Expression;
  readonly value: Expression;
  /** Dotted field with the same meaning in a native match, whose operators keep to the literal's type. */
  readonly native: string | null;
  /** `terminology::code` of a CODE_PHRASE. */
  readonly codedValue: Expression | null;
}

/** Domain of the magnitude `_m` by class (docs/spec/aql.md#domains). */
const ORDERED_DOMAIN: Readonly<Record<string, Domain>> = {
  DV_QUANTITY: 'number',
  DV_COUNT: 'number',
  DV_PROPORTION: 'number',
  DV_ORDINAL: 'number',
  DV_SCALE: 'number',
  DV_DURATION: 'duration',
  DV_DATE_TIME: 'instant',
  DV_DATE: 'date',
  DV_TIME: 'time',
};

/** ISO 8601 texts stand for the magnitude of the object that holds them. */
const TEMPORAL_TEXT: Readonly<Record<string, string>> = {
  Iso8601_duration: 'DV_DURATION',
  Iso8601_date_time: 'DV_DATE_TIME',
  Iso8601_date: 'DV_DATE',
  Iso8601_time: 'DV_TIME',
};

const TEMPORAL_CLASSES = Object.values(TEMPORAL_TEXT);
const NUMBERS = ['Integer', 'Integer64', 'Real'];
const TEXTS = ['String', 'Uri', 'Character', 'Base64'];
const TEXT_OBJECTS = ['DV_TEXT', 'DV_CODED_TEXT', 'DV_URI', 'DV_EHR_URI', 'DV_PARSABLE'];

/** All readings of a value, by the classes that can stand there. */
export function domainValues(ref: ValueRef): DomainValue[] {
  return [
    ...primitiveValues(ref),
    ...temporalTexts(ref),
    ...orderedObjects(ref),
    ...textObjects(ref),
    ...codePhrases(ref),
    ...booleanObjects(ref),
  ];
}

function primitiveValues({ raw, parent, classes }: ValueRef): DomainValue[] {
  const values: DomainValue[] = [];
  const simple = (domain: Domain, guard: Expression, native: string | null): DomainValue => ({
    domain,
    guard,
    value: raw,
    native,
    codedValue: null,
  });
  const alone = (kinds: readonly string[]): boolean =>
    counted([...classes]).every((each) => kinds.includes(each));
  const field = nativeField(raw);
  if (hasAny(classes, NUMBERS))
    values.push(simple('number', alone(NUMBERS) ? present(raw) : call('$isNumber', raw), field));
  if (classes.has('Boolean'))
    values.push(simple('boolean', alone(['Boolean']) ? present(raw) : typeIs(raw, 'bool'), field));
  if (hasAny(classes, TEXTS)) {
    const temporal = parent !== null && hasAny(classes, Object.keys(TEMPORAL_TEXT));
    const isText = alone(TEXTS) ? present(raw) : typeIs(raw, 'string');
    const guard = temporal ? and(isText, not(isOneOf(member(parent, '_type'), TEMPORAL_CLASSES))) : isText;
    values.push(simple('text', guard, temporal ? null : field));
  }
  return values;
}

function temporalTexts({ parent, classes }: ValueRef): DomainValue[] {
  if (parent === null) return [];
  const kinds = Object.keys(TEMPORAL_TEXT).filter((each) => classes.has(each));
  const magnitude = member(parent, '_m');
  return counted(kinds).flatMap((kind) => {
    const holder = TEMPORAL_TEXT[kind];
    const domain = holder === undefined ? undefined : ORDERED_DOMAIN[holder];
    if (holder === undefined || domain === undefined) return [];
    const alone = classes.size === 1;
    const guard = alone ? present(magnitude) : equal(member(parent, '_type'), literal(holder));
    return [
      { domain, guard, value: magnitude, native: alone ? nativeField(magnitude) : null, codedValue: null },
    ];
  });
}

function orderedObjects({ raw, classes }: ValueRef): DomainValue[] {
  const byDomain = new Map<Domain, string[]>();
  for (const each of counted(classes)) {
    const domain = ORDERED_DOMAIN[each];
    if (domain !== undefined) byDomain.set(domain, [...(byDomain.get(domain) ?? []), each]);
  }
  return counted([...byDomain]).map(([domain, members]) => {
    const value = member(raw, '_m');
    const alone = members.length === classes.size;
    const guard = alone ? present(value) : and(isOneOf(member(raw, '_type'), members), present(value));
    return { domain, guard, value, native: alone ? nativeField(value) : null, codedValue: null };
  });
}

function textObjects({ raw, classes }: ValueRef): DomainValue[] {
  const members = TEXT_OBJECTS.filter((each) => classes.has(each));
  if (members.length === 0) return [];
  const value = member(raw, 'value');
  const alone = members.length === classes.size;
  const guard = alone ? present(value) : isOneOf(member(raw, '_type'), members);
  return [{ domain: 'text', guard, value, native: alone ? nativeField(value) : null, codedValue: null }];
}

function codePhrases({ raw, classes }: ValueRef): DomainValue[] {
  if (!classes.has('CODE_PHRASE')) return [];
  const guard = classes.size === 1 ? present(raw) : equal(member(raw, '_type'), literal('CODE_PHRASE'));
  const codedValue = call('$concat', [member(raw, 'terminology_id.value'), '::', member(raw, 'code_string')]);
  return [{ domain: 'text', guard, value: member(raw, 'code_string'), native: null, codedValue }];
}

function booleanObjects({ raw, classes }: ValueRef): DomainValue[] {
  if (!classes.has('DV_BOOLEAN')) return [];
  const alone = classes.size === 1;
  const guard = alone ? present(raw) : equal(member(raw, '_type'), literal('DV_BOOLEAN'));
  const value = member(raw, 'value');
  return [{ domain: 'boolean', guard, value, native: alone ? nativeField(value) : null, codedValue: null }];
}

/** The value as text for LIKE and string functions: texts, and the text form of numbers and temporal values. */
export function textForm(ref: ValueRef): Expression {
  const { raw, classes } = ref;
  const primitives = counted([...classes]).filter((each) => !isRmClass(each));
  const asText = or(typeIs(raw, 'string'), call('$isNumber', raw), typeIs(raw, 'bool'));
  if (primitives.length === classes.size)
    return hasAny(classes, [...NUMBERS, 'Boolean'])
      ? call('$cond', [asText, call('$toString', raw), null])
      : raw;
  const inner = call('$switch', {
    branches: [
      { case: equal(member(raw, '_type'), literal('CODE_PHRASE')), then: member(raw, 'code_string') },
      {
        case: isOneOf(member(raw, '_type'), ['DV_QUANTITY', 'DV_COUNT']),
        then: call('$toString', member(raw, 'magnitude')),
      },
      { case: typeIs(member(raw, 'value'), 'string'), then: member(raw, 'value') },
      { case: call('$isNumber', member(raw, 'value')), then: call('$toString', member(raw, 'value')) },
    ],
    default: null,
  });
  return primitives.length === 0 ? inner : call('$cond', [asText, call('$toString', raw), inner]);
}

/** Whether a BSON value has a type. */
export function typeIs(value: Expression, bsonType: 'string' | 'bool' | 'object'): Expression {
  return equal(call('$type', value), bsonType);
}

function isRmClass(name: string): boolean {
  return name === name.toUpperCase();
}

function nativeField(value: Reference): string | null {
  return value.kind === 'field' ? value.path : null;
}

function hasAny(classes: ReadonlySet<string>, names: readonly string[]): boolean {
  return counted(names).some((name) => classes.has(name));
}
