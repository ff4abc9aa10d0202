/** A query of the demo: what it shows, its text, its parameters. */
export interface DemoQuery {
  readonly title: string;
  readonly aql: string;
  readonly parameters: Readonly<Record<string, string | number>>;
}

const BLOOD_PRESSURE = 'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1';
const READING = 'o/data[at0001]/events[at0002]/data[at0003]';
const SYSTOLIC = `${READING}/items[at0004]/value/magnitude`;
const DIASTOLIC = `${READING}/items[at0005]/value/magnitude`;
const TEMPERATURE = 't/data[at0002]/events[at0003]/data[at0001]/items[at0004]/value/magnitude';

/** The four queries: population, one patient, aggregate, two levels of containment. `ehrId`: whose trend. */
export function demoQueries(ehrId: string): DemoQuery[] {
  return [
    {
      title: 'Population: the highest systolic pressures above 160 mm[Hg]',
      aql: `SELECT e/ehr_id/value AS ehr, c/context/start_time/value AS time,
       ${SYSTOLIC} AS systolic,
       ${DIASTOLIC} AS diastolic
FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${BLOOD_PRESSURE}]
WHERE ${SYSTOLIC} > $limit
ORDER BY systolic DESC, time LIMIT 10`,
      parameters: { limit: 160 },
    },
    {
      title: 'One patient: the trend of the blood pressure',
      aql: `SELECT c/context/start_time/value AS time,
       ${SYSTOLIC} AS systolic,
       ${DIASTOLIC} AS diastolic
FROM EHR e[ehr_id/value=$ehr] CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${BLOOD_PRESSURE}]
ORDER BY time`,
      parameters: { ehr: ehrId },
    },
    {
      title: 'Aggregate: how many readings, and how high',
      aql: `SELECT COUNT(*) AS readings, MIN(${SYSTOLIC}) AS lowest,
       MAX(${SYSTOLIC}) AS highest, AVG(${SYSTOLIC}) AS mean
FROM EHR e CONTAINS COMPOSITION c CONTAINS OBSERVATION o[${BLOOD_PRESSURE}]`,
      parameters: {},
    },
    {
      title: 'Containment through two levels: fever in the section of a screening report',
      aql: `SELECT e/ehr_id/value AS ehr, s/name/value AS section, ${TEMPERATURE} AS temperature
FROM EHR e CONTAINS COMPOSITION c[openEHR-EHR-COMPOSITION.report.v1]
     CONTAINS SECTION s CONTAINS OBSERVATION t[openEHR-EHR-OBSERVATION.body_temperature.v2]
WHERE ${TEMPERATURE} >= 38.5
ORDER BY temperature DESC LIMIT 10`,
      parameters: {},
    },
  ];
}
