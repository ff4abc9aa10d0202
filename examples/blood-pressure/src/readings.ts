// What the script and the page share: everything that knows openEHR.
import type { Cdr, Ehr, VersionInfo } from '@everchart/client';
import {
  ehrbaseBloodPressureSimpleDeV0,
  Position,
  type EhrbaseBloodPressureSimpleDeV0Parts as Parts,
} from './gen/ehrbase-blood-pressure-simple-de-v0.js';

/** What a form asks for: the types come from the template. */
export interface Reading {
  readonly systolic: number;
  readonly diastolic: number;
  readonly position: NonNullable<Parts['position']>['code'];
  /** ISO 8601. */
  readonly time: string;
  readonly by: string;
}

/** A point of the chart. A reading may lack one of the two. */
export interface Point {
  readonly time: string;
  readonly systolic: number | null;
  readonly diastolic: number | null;
}

/** Every choice of the template: code and label. */
export const POSITIONS = Position.options();

export interface Patient {
  readonly ehr: string;
  readonly patient: string | null;
}

/** Those of the first hundred EHRs that name a patient. */
export async function patients(cdr: Cdr): Promise<readonly Patient[]> {
  const { rows } = await cdr.query<Patient>(
    'SELECT e/ehr_id/value AS ehr, e/ehr_status/subject/external_ref/id/value AS patient FROM EHR e',
    { fetch: 100 },
  );
  return rows.filter(({ patient }) => patient !== null);
}

/** Commits a reading as canonical JSON. */
export function record(ehr: Ehr, { systolic, diastolic, position, time, by }: Reading): Promise<VersionInfo> {
  const composition = ehrbaseBloodPressureSimpleDeV0({
    language: 'en',
    territory: 'GB',
    composer_name: by,
    time,
  })
    .systolic({ magnitude: systolic })
    .diastolic({ magnitude: diastolic })
    .position({ code: position })
    .build();
  return ehr.compositions.commit(composition);
}

const EVENT = 'o/data[at0001]/events[at0002]';

/** The readings of a patient, oldest first. */
export async function readings(cdr: Cdr, ehrId: string): Promise<readonly Point[]> {
  const { rows } = await cdr.query<Point>(
    `SELECT ${EVENT}/time/value AS time,
            ${EVENT}/data[at0003]/items[at0004]/value/magnitude AS systolic,
            ${EVENT}/data[at0003]/items[at0005]/value/magnitude AS diastolic
     FROM EHR e[ehr_id/value=$ehr] CONTAINS OBSERVATION o[openEHR-EHR-OBSERVATION.sample_blood_pressure.v1]
     ORDER BY ${EVENT}/time/value`,
    { parameters: { ehr: ehrId } },
  );
  return rows;
}
