import type { JsonObject } from '../../base/json.js';
import type { Finding } from '../../base/violation.js';
import { nameOf, typeOf } from '../../rm/access.js';
import { expectedText, multiplicityText } from '../opt/constraint-text.js';
import type { Counted } from './matcher.js';
import { counted } from '../../base/work.js';

/** The wrong number of values of an attribute; `counted`: of one node in it, null for the attribute itself. */
export function wrongOccurrences(
  count: number,
  min: number,
  max: number,
  counted: Counted | null = null,
): Finding {
  const text = `Attribute has ${count} occurrences, but must be ${multiplicityText(min, max)}`;
  const bounds = multiplicity(min, max);
  return {
    code: count < min && count === 0 ? 'missing' : 'occurrences',
    message: counted === null ? text : `${text} (${counted.label})`,
    expected: [counted === null ? bounds : { ...bounds, node_id: counted.nodeId }],
    found: count,
  };
}

/** The wrong size of a container as a whole. */
export function wrongCardinality(count: number, min: number, max: number): Finding {
  const message = `Attribute does not match cardinality ${multiplicityText(min, max)} (found: ${count})`;
  return { code: 'cardinality', message, expected: [multiplicity(min, max)], found: count };
}

/** Without `upper` any number. */
function multiplicity(min: number, max: number): JsonObject {
  return { lower: min, ...(max === -1 ? {} : { upper: max }) };
}

/** An object of a class that may not stand there. */
export function wrongType(found: string, asked: readonly string[]): Finding {
  const expected = [...new Set(asked)];
  const message =
    found === 'DV_TEXT' && counted(asked).every((rmType) => rmType === 'DV_CODED_TEXT')
      ? 'Expected a DV_CODED_TEXT but got DV_TEXT'
      : `Object should be type ${expected.join(' or ')}, but was ${found}`;
  return { code: 'wrong-type', message, expected, found };
}

/** An object that the template does not mention. */
export function notInTemplate(value: JsonObject, expected: readonly string[]): Finding {
  const nodeId = typeof value.archetype_node_id === 'string' ? value.archetype_node_id : '';
  const found = `type:${className(typeOf(value))}, nodeId:${nodeId}`;
  const message = `RmObject with ${found},name:${nameOf(value)}; not in template ${expectedText(expected)}`;
  return { code: 'not-in-template', message, expected, found: nodeId };
}

/** `PointEvent` for POINT_EVENT. */
function className(rmType: string): string {
  return rmType.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
