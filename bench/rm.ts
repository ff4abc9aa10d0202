import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../openehr/base/json.js';
import { readRm } from '../openehr/rm/read.js';
import { validateRm } from '../openehr/rm/invariants/validate.js';
import { measure, milliseconds, type Timing } from './measure.js';

const FILES = ['Corona_Anamnese.json', 'ehrbase_blood_pressure_simple.de.v0.json'];
const RUNS = 2000;

/** Reading and validating of compositions by the reference model; a line for each size and step. */
export async function benchRm(print: (line: string) => void): Promise<void> {
  for (const file of FILES) {
    const path = new URL(`../test/fixtures/openehr/composition/${file}`, import.meta.url);
    const source = JSON.parse(readFileSync(path, 'utf8')) as JsonObject;
    const bytes = Buffer.byteLength(JSON.stringify(source));
    const { object } = readRm(source, 'COMPOSITION');
    if (object === null) throw new Error(`${file} cannot be read`);
    print(line(await measure(`readRm ${file}`, RUNS, () => readRm(source, 'COMPOSITION')), bytes));
    print(line(await measure(`validateRm ${file}`, RUNS, () => validateRm(object)), bytes));
  }
}

function line(timing: Timing, bytes: number): string {
  const megabytesPerSecond = bytes / 1e6 / (timing.medianMs / 1000);
  const times = `median ${milliseconds(timing.medianMs)} ms, p95 ${milliseconds(timing.p95Ms)} ms`;
  return `${timing.name} (${bytes} bytes): ${times}, ${megabytesPerSecond.toFixed(0)} MB/s`;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await benchRm((text) => process.stdout.write(`${text}\n`));
