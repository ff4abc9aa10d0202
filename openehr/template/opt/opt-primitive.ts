import type { XmlElement } from '../../base/xml.js';
import type {
  Interval,
  NumberConstraint,
  PrimitiveConstraint,
  StringConstraint,
  TemporalConstraint,
} from './constraint.js';
import {
  booleanOf,
  childText,
  element,
  elements,
  integerOf,
  intervalOf,
  numberOf,
  ownText,
  text,
  unreadable,
  xsiType,
} from './opt-xml.js';

const TEMPORAL_KINDS = new Map<string, TemporalConstraint['kind']>([
  ['C_DATE', 'date'],
  ['C_TIME', 'time'],
  ['C_DATE_TIME', 'date-time'],
  ['C_DURATION', 'duration'],
]);

/** `item` of a C_PRIMITIVE_OBJECT. @throws invalid (docs/spec/formats.md#opt-primitives) */
export function primitiveOf(item: XmlElement | undefined): PrimitiveConstraint {
  if (item === undefined) throw unreadable('C_PRIMITIVE_OBJECT without item');
  const type = xsiType(item);
  switch (type) {
    case 'C_BOOLEAN': {
      const assumed = childText(item, 'assumed_value');
      return {
        kind: 'boolean',
        trueValid: booleanOf(item, 'true_valid', true),
        falseValid: booleanOf(item, 'false_valid', true),
        assumedValue: assumed === '' ? null : booleanOf(item, 'assumed_value', false),
      };
    }
    case 'C_STRING':
      return stringConstraint(item);
    case 'C_INTEGER':
      return numericOf(item, 'integer');
    case 'C_REAL':
      return numericOf(item, 'real');
    default:
      return temporalConstraint(item, type);
  }
}

function stringConstraint(item: XmlElement): StringConstraint {
  const pattern = childText(item, 'pattern');
  return {
    kind: 'string',
    pattern: pattern === '' ? null : ownText(pattern),
    list: elements(item, 'list').map((entry) => ownText(text(entry))),
    listOpen: booleanOf(item, 'list_open', false),
    assumedValue: assumedText(item),
  };
}

function numericOf(item: XmlElement, kind: NumberConstraint['kind']): NumberConstraint {
  const read = kind === 'integer' ? integerOf : numberOf;
  const assumed = assumedText(item);
  const range = element(item, 'range');
  return {
    kind,
    list: elements(item, 'list').map((entry) => read(text(entry), 'list')),
    range: range === undefined ? null : intervalOf(range, read),
    assumedValue: assumed === null ? null : read(assumed, 'assumed_value'),
  };
}

function temporalConstraint(item: XmlElement, type: string): TemporalConstraint {
  const kind = TEMPORAL_KINDS.get(type);
  if (kind === undefined) throw unreadable(`unknown xsi:type ${type === '' ? '(none)' : type} of item`);
  const range = element(item, 'range');
  const pattern = childText(item, 'pattern');
  const validity = childText(item, 'timezone_validity');
  return {
    kind,
    pattern: pattern === '' ? null : ownText(pattern),
    timezoneValidity: validity === '' ? null : integerOf(validity, 'timezone_validity'),
    range: range === undefined ? null : temporalInterval(range),
    assumedValue: assumedText(item),
  };
}

function temporalInterval(range: XmlElement): Interval<string> {
  return intervalOf(range, (value) => ownText(value));
}

function assumedText(item: XmlElement): string | null {
  const value = childText(item, 'assumed_value');
  return value === '' ? null : ownText(value);
}
