// `npm run record -- http://127.0.0.1:8080 4711`: uploads the template, records three readings of a patient, lists them.
import { readFileSync } from 'node:fs';
import { Cdr, CdrError } from '@everchart/client';
import { patients, readings, record } from './readings.js';

const [
  url = 'http://127.0.0.1:8080',
  id = '4711',
  opt = '../../test/fixtures/openehr/opt/ehrbase_blood_pressure_simple.de.v0.opt',
] = process.argv.slice(2);
const cdr = new Cdr({ url });

await cdr.templates.upload(readFileSync(opt, 'utf8')).catch((error: unknown) => {
  // It is there already.
  if (!(error instanceof CdrError && error.code === 'conflict')) throw error;
});
const subject = { id, namespace: 'example' };
const ehr = (await cdr.ehr.find(subject)) ?? (await cdr.ehr.create({ subject }));
for (const [day, systolic, diastolic] of [
  [1, 142, 91],
  [2, 138, 88],
  [3, 131, 84],
] as const)
  await record(ehr, {
    systolic,
    diastolic,
    position: 'at1001',
    time: `2026-03-0${day}T08:00:00Z`,
    by: 'Ada Moe',
  });

console.log((await patients(cdr)).map(({ patient }) => patient).join(', '));
for (const { time, systolic, diastolic } of await readings(cdr, ehr.id))
  console.log(`${time} ${systolic}/${diastolic}`);
