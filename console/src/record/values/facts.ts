import { isObject, textAt } from '../../api/json.js';
import type { Json } from '../../api/types.js';
import { isSaid } from './value-text.js';

/** One line of what holds several values: names from the top, and the value at the end of them. */
export type Fact = readonly [label: string, value: Json];

/**
 * What an object that is no data value says, such as a FEEDER_AUDIT or an ATTESTATION: a line for each value in it, named by
 * the attributes that lead there; an ELEMENT by its own name. Nothing that is recorded is left out.
 */
export function factLines(value: Json | undefined, label: readonly string[] = []): Fact[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((each) => factLines(each, label));
  if (!isObject(value) || isSaid(textAt(value, '_type'))) return [[label.join(' › '), value]];
  const own = textAt(value, 'name', 'value');
  const isNamed = own !== '' && 'archetype_node_id' in value;
  return Object.entries(value).flatMap(([name, member]) => {
    if (name === '_type' || (isNamed && STRUCTURAL.has(name))) return [];
    if (isNamed) return factLines(member, [...label.slice(0, -1), own]);
    return factLines(member, [...label, attributeText(name)]);
  });
}

/** An attribute of the reference model as words: `originating_system_audit` is `originating system audit`. */
export function attributeText(name: string): string {
  return name.replaceAll('_', ' ');
}

const STRUCTURAL = new Set(['name', 'archetype_node_id']);
