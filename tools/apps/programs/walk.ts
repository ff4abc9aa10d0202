// In Node.js and Deno: what the first hour of somebody with packages and a template needs.
import { aql, Cdr, CdrError } from '@everchart/client';
import { isRm } from '@everchart/rm';
import {
  ehrbaseBloodPressureSimpleDeV0 as bloodPressure,
  Position,
  readEhrbaseBloodPressureSimpleDeV0 as readBloodPressure,
  TEMPLATE_ID,
} from './gen/ehrbase-blood-pressure-simple-de-v0.ts';

const cdr = new Cdr({ url: 'http://127.0.0.1:8080' });
const ehr = await cdr.ehr.create();
const reading = (systolic: number) =>
  bloodPressure({ territory: 'GB', composer_name: 'Ada Moe' })
    .systolic({ magnitude: systolic })
    .diastolic({ magnitude: 95 })
    .position(Position.sitting)
    .build();
const { id, uid } = await ehr.compositions.commit(reading(151));
const stored = await ehr.compositions.get(id);
const [entry] = readBloodPressure(stored?.content ?? {}).blood_pressure_training_sample;
const { rows } = await cdr.query(
  aql`SELECT c/uid/value AS uid FROM EHR e[ehr_id/value=${ehr.id}] CONTAINS COMPOSITION c LIMIT ${5}`,
);
let refused = 0;
try {
  await ehr.compositions.commit(reading(1_200));
} catch (error) {
  if (!(error instanceof CdrError)) throw error;
  refused = error.status;
}
console.log(
  'walk',
  isRm(stored?.content, 'COMPOSITION'),
  entry?.systolic?.magnitude,
  entry?.position.code,
  rows[0]?.['uid'] === uid,
  refused,
  TEMPLATE_ID,
);
