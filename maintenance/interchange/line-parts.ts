/* Members of the lines of an interchange file. */
import { CdrError } from '../../openehr/base/errors.js';
import { parseDateTime } from '../../openehr/base/iso8601.js';
import type { JsonObject, JsonValue } from '../../openehr/base/json.js';
import { isUuid, parseEhrId } from '../../openehr/base/object-version-id.js';
import { objectAt, textAt } from '../../openehr/rm/access.js';
import { ROOT_TYPES, type RootType } from '../../openehr/rm/root-type.js';
import { storedDocumentOf, type StoredDocument } from '../../models/access/documents.js';

/** A stored document, which has a text as its id. @throws invalid */
export function documentOf(value: JsonObject): StoredDocument {
  const document = storedDocumentOf(value);
  const id: unknown = document._id;
  if (typeof id !== 'string' || id === '') throw malformed('a document must have an _id');
  return document;
}

/** The time of an audit, to the millisecond. @throws invalid */
export function committedAt(audit: JsonObject): Date {
  return instantOf(textAt(audit, 'time_committed', 'value'), 'time_committed/value');
}

/** A moment, to the millisecond. `path`: of what it is, for the message. @throws invalid */
export function instantOf(text: string | undefined, path: string): Date {
  const time = parseDateTime(text ?? '');
  if (time === null) throw malformed(`${path} must be an ISO 8601 date and time`);
  return new Date(time.lower);
}

/** The moment that a member of a line tells. @throws invalid */
export function timeOf(line: JsonObject, name: string): Date {
  return instantOf(textOf(line, name), name);
}

/** What a VERSION holds. @throws invalid */
export function rootTypeOf(value: JsonValue | undefined): RootType {
  const type = ROOT_TYPES.find((known) => known === value);
  if (type === undefined) throw malformed(`type must be one of ${ROOT_TYPES.join(', ')}`);
  return type;
}

/** An ehr_id, UUIDs in lower case. @throws invalid */
export function ehrIdOf(value: JsonValue | undefined): string {
  const id = typeof value === 'string' ? parseEhrId(value) : null;
  if (id === null) throw malformed('the ehr_id must be a UUID, an ISO OID or an internet id');
  return id;
}

/** A UUID in lower case. @throws invalid */
export function uuidOf(value: JsonValue | undefined, path: string): string {
  if (typeof value !== 'string' || !isUuid(value)) throw malformed(`${path} must be a UUID`);
  return value.toLowerCase();
}

/** A member that is an object. @throws invalid */
export function objectOf(line: JsonObject, name: string): JsonObject {
  return required(objectAt(line, name), name);
}

/** A member that is a text. @throws invalid */
export function textOf(line: JsonObject, name: string): string {
  return required(textAt(line, name), name);
}

/** A member that is a number. @throws invalid */
export function numberOf(line: JsonObject, name: string): number {
  const value = line[name];
  if (typeof value !== 'number') throw malformed(`${name} must be a number`);
  return value;
}

/** What must be there. @throws invalid */
export function required<T>(value: T | undefined, path: string): T {
  if (value === undefined) throw malformed(`${path} is missing`);
  return value;
}

/** The refusal of a line that cannot be read. */
export function malformed(message: string): CdrError {
  return new CdrError('invalid', message);
}
