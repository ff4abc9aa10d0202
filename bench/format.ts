import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../openehr/base/json.js';
import { parseJson, stringifyCanonical } from '../openehr/format/canonical-json.js';
import { fromXml, toXml } from '../openehr/format/canonical-xml.js';
import { readFlat } from '../openehr/format/flat/read.js';
import { writeFlat } from '../openehr/format/flat/write.js';
import { flatToStructured, structuredToFlat } from '../openehr/format/composition/structured.js';
import { readRm } from '../openehr/rm/read.js';
import { compileTemplate } from '../openehr/template/compile.js';
import { measure, milliseconds, type Timing } from './measure.js';

const TEMPLATES = ['Corona_Anamnese', 'ehrbase_blood_pressure_simple.de.v0'];
const RUNS = 1500;
const NOW = new Date('2024-05-05T05:05:05Z');

interface Conversion {
  readonly name: string;
  /** Size of what is converted, UTF-8. */
  readonly bytes: number;
  readonly work: () => unknown;
}

/** Every conversion of a COMPOSITION between its forms, from and to text; a line for each. */
export async function benchFormat(print: (line: string) => void): Promise<void> {
  for (const template of TEMPLATES)
    for (const { name, bytes, work } of conversionsOf(template))
      print(line(await measure(`${name} ${template}`, RUNS, work), bytes));
}

function conversionsOf(name: string): readonly Conversion[] {
  const template = compileTemplate(fixture(`opt/${name}.opt`));
  const json = fixture(`composition/${name}.json`);
  const { object } = readRm(parseJson(json), 'COMPOSITION');
  if (object === null) throw new Error(`${name} cannot be read`);
  const xml = toXml(object, 'composition');
  const flat = writeFlat(object, template);
  const structured = flatToStructured(flat);
  const options = { now: NOW };
  const size = (text: string): number => Buffer.byteLength(text);
  const [jsonBytes, flatBytes] = [size(json), size(JSON.stringify(flat))];
  const structuredText = JSON.stringify(structured);
  return [
    { name: 'JSON.parse (for comparison)', bytes: jsonBytes, work: () => JSON.parse(json) as JsonObject },
    { name: 'JSON text → canonical (parseJson)', bytes: jsonBytes, work: () => parseJson(json) },
    { name: 'canonical → JSON text', bytes: jsonBytes, work: () => stringifyCanonical(object) },
    { name: 'canonical → XML text', bytes: jsonBytes, work: () => toXml(object, 'composition') },
    { name: 'XML text → canonical', bytes: size(xml), work: () => fromXml(xml, 'COMPOSITION') },
    { name: 'FLAT → canonical', bytes: flatBytes, work: () => readFlat(flat, template, options) },
    { name: 'canonical → FLAT', bytes: jsonBytes, work: () => writeFlat(object, template) },
    {
      name: 'STRUCTURED → canonical',
      bytes: size(structuredText),
      work: () => readFlat(structuredToFlat(structured), template, options),
    },
    {
      name: 'canonical → STRUCTURED',
      bytes: jsonBytes,
      work: () => flatToStructured(writeFlat(object, template)),
    },
  ];
}

function fixture(path: string): string {
  return readFileSync(new URL(`../test/fixtures/openehr/${path}`, import.meta.url), 'utf8');
}

function line(timing: Timing, bytes: number): string {
  const megabytesPerSecond = bytes / 1e6 / (timing.medianMs / 1000);
  const times = `median ${milliseconds(timing.medianMs)} ms, p95 ${milliseconds(timing.p95Ms)} ms`;
  return `${timing.name} (${bytes} bytes): ${times}, ${megabytesPerSecond.toFixed(0)} MB/s`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await benchFormat((text) => process.stdout.write(`${text}\n`));
