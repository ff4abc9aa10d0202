import { readFileSync } from 'node:fs';

/** Units in UCUM, and as templates have written them since, by the code of their property in the openEHR terminology. */
const UNITS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(
    JSON.parse(readFileSync(new URL('./property-units.json', import.meta.url), 'utf8')) as Readonly<
      Record<string, readonly string[]>
    >,
  ).map(([property, units]) => [property, new Set(units)]),
);

/** The properties that a unit is of in UCUM are without end: these are those of the table. */
const KNOWN: ReadonlySet<string> = new Set(Array.from(UNITS.values(), (units) => [...units]).flat());

/**
 * Whether a unit may be of a property, both as in the openEHR profile of the archetype model: false only when the table
 * has the unit for other properties and not for this one.
 */
export function unitFits(property: string, unit: string): boolean {
  return UNITS.get(property)?.has(unit) !== false || !KNOWN.has(unit);
}

/** The first unit of a property in the table; null when it has none. */
export function usualUnit(property: string): string | null {
  const [unit = null] = UNITS.get(property) ?? [];
  return unit;
}
