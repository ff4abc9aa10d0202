import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../openehr/base/json.js';

/** Real templates that the demo uploads, by the base name of their files. */
export const DEMO_TEMPLATES = [
  'ehrbase_blood_pressure_simple.de.v0',
  'Corona_Anamnese',
  'ehrbase_multi_occurrence.de.v1',
] as const;

/** Name of one of the real templates. */
export type DemoTemplate = (typeof DEMO_TEMPLATES)[number];

/** The OPT of a template, XML text. */
export function templateText(name: DemoTemplate): string {
  return dataFile(`${name}.opt`);
}

/** The real canonical composition of a template, without the uid of the system it came from. */
export function realComposition(name: DemoTemplate): JsonObject {
  const composition = JSON.parse(dataFile(`${name}.json`)) as JsonObject;
  delete composition.uid;
  return composition;
}

function dataFile(name: string): string {
  return readFileSync(new URL(`./data/${name}`, import.meta.url), 'utf8');
}
