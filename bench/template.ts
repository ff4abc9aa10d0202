import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../openehr/base/json.js';
import { readRm } from '../openehr/rm/read.js';
import { validateRm } from '../openehr/rm/invariants/validate.js';
import { compileTemplate, parseOpt } from '../openehr/template/compile.js';
import { exampleComposition } from '../openehr/template/example/example.js';
import { validateAgainstTemplate } from '../openehr/template/validate.js';
import { measure, milliseconds, type Timing } from './measure.js';

const TEMPLATES = ['Corona_Anamnese', 'ehrbase_blood_pressure_simple.de.v0'];
const OPTIONS = { checkExtraNodes: true, checkContainerCardinality: false };
const RUNS = 2000;
const COMPILE_RUNS = 30;

/** Compiling the largest public template, and validating compositions in the steps of a commit; a line for each. */
export async function benchTemplate(print: (line: string) => void): Promise<void> {
  await benchCompile(print);
  for (const name of TEMPLATES) await benchValidation(name, print);
}

async function benchCompile(print: (line: string) => void): Promise<void> {
  const text = fixture(`opt/${TEMPLATES[0] ?? ''}.opt`);
  const bytes = Buffer.byteLength(text);
  const start = performance.now();
  const template = compileTemplate(text);
  print(`compileTemplate, first call of the process: ${milliseconds(performance.now() - start)} ms`);
  print(line(await measure('parseOpt', COMPILE_RUNS, () => parseOpt(text)), bytes));
  print(line(await measure('compileTemplate', COMPILE_RUNS, () => compileTemplate(text)), bytes));
  const complete = { detailLevel: 'complete', type: 'input' } as const;
  print(
    line(
      await measure('exampleComposition', COMPILE_RUNS, () => exampleComposition(template, complete)),
      bytes,
    ),
  );
}

async function benchValidation(name: string, print: (line: string) => void): Promise<void> {
  const template = compileTemplate(fixture(`opt/${name}.opt`));
  const text = fixture(`composition/${name}.json`);
  const bytes = Buffer.byteLength(text);
  const source = JSON.parse(text) as JsonObject;
  const { object } = readRm(source, 'COMPOSITION');
  if (object === null) throw new Error(`${name} cannot be read`);
  const validate = (): number => {
    const reading = readRm(source, 'COMPOSITION');
    if (reading.object === null) return reading.violations.length;
    return (
      validateRm(reading.object).length + validateAgainstTemplate(reading.object, template, OPTIONS).length
    );
  };
  if (validate() > 0) throw new Error(`${name} is not valid`);
  const alone = () => validateAgainstTemplate(object, template, OPTIONS);
  print(line(await measure(`validateAgainstTemplate ${name}`, RUNS, alone), bytes));
  print(line(await measure(`readRm + validateRm + validateAgainstTemplate ${name}`, RUNS, validate), bytes));
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
  await benchTemplate((text) => process.stdout.write(`${text}\n`));
