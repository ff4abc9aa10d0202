import { at, isObject, textAt } from '../api/json.js';
import type { Json, JsonObject } from '../api/types.js';

/** Whose record it is, as its EHR_STATUS says. */
interface Patient {
  /** Empty: nobody is named. */
  readonly subject: string;
  readonly namespace: string;
  /** ELEMENTs with a value in the status, such as name, birth date and sex. */
  readonly elements: readonly JsonObject[];
}

/** Reads whose record it is. */
export function patientOf(status: Json | undefined): Patient {
  return {
    subject: textAt(status, 'subject', 'external_ref', 'id', 'value'),
    namespace: textAt(status, 'subject', 'external_ref', 'namespace'),
    elements: elementsIn(at(status, 'other_details')),
  };
}

/** The ELEMENTs with a value in anything. */
export function elementsIn(value: Json | undefined): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(elementsIn);
  if (!isObject(value)) return [];
  if (textAt(value, '_type') === 'ELEMENT') return value['value'] === undefined ? [] : [value];
  return Object.values(value).flatMap(elementsIn);
}
