import { at, isObject } from '../../../api/json.js';
import type { Json, ResultSet } from '../../../api/types.js';
import { kindOf, SAMPLE } from './result-columns.js';

/** What can stand on an axis of a chart, or tell its series apart. */
export interface ChartColumn {
  readonly name: string;
  readonly kind: 'number' | 'time' | 'text';
  /** Whether it tells whose a row is. */
  readonly isPatient: boolean;
  /** Its value in a row; null: there is none that can be drawn. */
  readonly value: (row: readonly Json[]) => number | string | null;
}

/**
 * The columns of an answer that can be drawn, data values by their numbers, times and texts. A column of quantities of several
 * units has another one beside it that tells the unit: numbers of different units are no series.
 */
export function chartColumns({ columns, rows }: ResultSet): ChartColumn[] {
  return columns.flatMap(({ name, path = '' }, index): ChartColumn[] => {
    const value: ChartColumn['value'] = (row) => drawn(row[index] ?? null);
    const sample = rows.slice(0, SAMPLE);
    if (sample.every((row) => value(row) === null)) return [];
    const kind = kindOf(sample.map(value));
    const column = {
      name,
      kind: kind === 'object' ? 'text' : kind,
      value,
      isPatient: PATIENT.test(path),
    } as const;
    const unit: ChartColumn['value'] = (row) => unitOf(row[index] ?? null);
    const units = new Set(rows.map(unit).filter((text) => text !== null));
    return units.size > 1
      ? [column, { name: `${name} unit`, kind: 'text', value: unit, isPatient: false }]
      : [column];
  });
}

const PATIENT = /^\w+\/(?:ehr_id(?:\/value)?$|(?:ehr_status\/)?subject\/external_ref\/)/;

/** The number, time or text that a cell is drawn by. */
function drawn(cell: Json): number | string | null {
  if (!isObject(cell)) return typeof cell === 'number' || typeof cell === 'string' ? cell : null;
  const [magnitude, numerator, denominator, value] = MEMBERS.map((name) => at(cell, name));
  if (typeof magnitude === 'number') return magnitude;
  if (typeof numerator === 'number' && typeof denominator === 'number')
    return denominator === 0 ? null : numerator / denominator;
  return typeof value === 'number' || typeof value === 'string' ? value : null;
}

const MEMBERS = ['magnitude', 'numerator', 'denominator', 'value'] as const;

function unitOf(cell: Json): string | null {
  const units = isObject(cell) ? at(cell, 'units') : undefined;
  return typeof units === 'string' ? units : null;
}
