import { isObject, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { attributeText } from './attribute-text.js';
import type { ValueReader } from './value-reader.js';
import { isSaid } from './value-text.js';

/** One line of what holds several values: names from the top, and the value at the end of them. */
export type Fact = readonly [label: string, value: Json];

/**
 * What an object that is no data value says, such as a FEEDER_AUDIT or an ATTESTATION: a line for each value in it, named by
 * the attributes that lead there; an ELEMENT by its own name. Nothing that is recorded is left out.
 */
export function factLines(
  value: Json | undefined,
  reader: ValueReader,
  label: readonly string[] = [],
): Fact[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((each) => factLines(each, reader, label));
  if (!isObject(value) || isSaid(textAt(value, '_type'))) return [[label.join(' › '), value]];
  const own = textAt(value, 'name', 'value');
  const isNamed = own !== '' && 'archetype_node_id' in value;
  return Object.entries(value).flatMap(([name, member]) => {
    if (name === '_type' || (isNamed && STRUCTURAL.has(name))) return [];
    if (isNamed) return factLines(member, reader, [...label.slice(0, -1), own]);
    return factLines(member, reader, [...label, attributeText(name, reader)]);
  });
}

const STRUCTURAL = new Set(['name', 'archetype_node_id']);
