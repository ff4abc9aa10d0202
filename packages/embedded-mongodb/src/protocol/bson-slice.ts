/**
 * Reading BSON without decoding it: fields are found by walking the top level of a document, and their
 * values stay byte slices, so that nothing (number types, key order) can change on the way through.
 * BSON specification 1.1.
 */

/** Numbers of the BSON types that are looked at. */
export const BSON = {
  double: 1,
  string: 2,
  document: 3,
  array: 4,
  binary: 5,
  undefined: 6,
  objectId: 7,
  boolean: 8,
  date: 9,
  null: 10,
  regex: 11,
  int32: 16,
  timestamp: 17,
  int64: 18,
  decimal128: 19,
} as const;

/** One field of a document: offsets are those within `source`. */
export interface Field {
  readonly source: Buffer;
  readonly name: string;
  readonly type: number;
  /** Offset of the type byte. */
  readonly start: number;
  /** Offset of the value. */
  readonly value: number;
  /** Offset after the value. */
  readonly end: number;
}

/** A document that is no well-formed BSON. */
export class BsonError extends Error {}

const FIXED_SIZE: Readonly<Record<number, number>> = {
  1: 8,
  6: 0,
  7: 12,
  8: 1,
  9: 8,
  10: 0,
  16: 4,
  17: 8,
  18: 8,
  19: 16,
  127: 0,
  255: 0,
};

/** Types that start with a length, and the bytes of their value beside those it counts. */
const PREFIXED_EXTRA: Readonly<Record<number, number>> = {
  2: 4, // string
  5: 5, // binary
  12: 16, // DBPointer
  13: 4, // JavaScript code
  14: 4, // symbol
  15: 0, // code with scope
};

/** Length of the document that starts at `at`, checked against the end of `source`. @throws BsonError */
export function documentLength(source: Buffer, at: number, limit = source.length): number {
  if (at + 5 > limit) throw new BsonError('a document is cut off');
  const length = source.readInt32LE(at);
  if (length < 5 || at + length > limit || source[at + length - 1] !== 0) {
    throw new BsonError(`a document has the wrong length ${length}`);
  }
  return length;
}

/** The fields of `document` (a whole BSON document) in their order. @throws BsonError when it is malformed. */
export function fields(document: Buffer): Field[] {
  const found: Field[] = [];
  const end = documentLength(document, 0) - 1;
  let at = 4;
  while (at < end) {
    const field = readField(document, at, end);
    found.push(field);
    at = field.end;
  }
  return found;
}

/** The first field called `name`. @throws BsonError when the document is malformed before it. */
export function fieldOf(document: Buffer, name: string): Field | undefined {
  const end = documentLength(document, 0) - 1;
  let at = 4;
  while (at < end) {
    const field = readField(document, at, end);
    if (field.name === name) return field;
    at = field.end;
  }
  return undefined;
}

function readField(source: Buffer, start: number, limit: number): Field {
  const nameEnd = source.indexOf(0, start + 1);
  if (nameEnd < 0 || nameEnd >= limit) throw new BsonError('a field name is cut off');
  const type = source[start] ?? 0;
  const value = nameEnd + 1;
  const end = value + valueSize(source, type, value, limit);
  if (end > limit) throw new BsonError('a value is cut off');
  return { source, name: source.toString('utf8', start + 1, nameEnd), type, start, value, end };
}

function valueSize(source: Buffer, type: number, at: number, limit: number): number {
  const fixed = FIXED_SIZE[type];
  if (fixed !== undefined) return fixed;
  if (type === BSON.regex) return regexSize(source, at, limit);
  if (at + 4 > limit) throw new BsonError('a value is cut off');
  const length = source.readInt32LE(at);
  if (length < 0) throw new BsonError('a value has a negative length');
  if (type === BSON.document || type === BSON.array) return documentLength(source, at, limit);
  const extra = PREFIXED_EXTRA[type];
  if (extra === undefined) throw new BsonError(`the type ${type} is unknown`);
  return extra + length;
}

function regexSize(source: Buffer, at: number, limit: number): number {
  const patternEnd = source.indexOf(0, at);
  const optionsEnd = patternEnd < 0 ? -1 : source.indexOf(0, patternEnd + 1);
  if (optionsEnd < 0 || optionsEnd >= limit) throw new BsonError('a regular expression is cut off');
  return optionsEnd + 1 - at;
}

/** The bytes of the value. */
export function valueBytes(field: Field): Buffer {
  return field.source.subarray(field.value, field.end);
}

/** The whole field (type, name, value) as it stands. */
export function fieldBytes(field: Field): Buffer {
  return field.source.subarray(field.start, field.end);
}

/** A document or array value as a document of its own; undefined for any other type. */
export function asDocument(field: Field | undefined): Buffer | undefined {
  if (field === undefined || (field.type !== BSON.document && field.type !== BSON.array)) return undefined;
  return valueBytes(field);
}

/** The documents in an array value; values of other types are left out. */
export function asDocuments(field: Field | undefined): Buffer[] {
  const array = asDocument(field);
  if (array === undefined) return [];
  return fields(array).flatMap((item) => asDocument(item) ?? []);
}

/** A string value; undefined for any other type. */
export function asText(field: Field | undefined): string | undefined {
  if (field?.type !== BSON.string) return undefined;
  return field.source.toString('utf8', field.value + 4, field.end - 1);
}

/** A value of any numeric or boolean type as a number; undefined for any other type. */
export function asNumber(field: Field | undefined): number | undefined {
  switch (field?.type) {
    case BSON.double:
      return field.source.readDoubleLE(field.value);
    case BSON.int32:
      return field.source.readInt32LE(field.value);
    case BSON.int64:
    case BSON.date:
      return Number(field.source.readBigInt64LE(field.value));
    case BSON.boolean:
      return field.source[field.value] ?? 0;
    default:
      return undefined;
  }
}

/** A whole number without loss; undefined for any other type. */
export function asBigInt(field: Field | undefined): bigint | undefined {
  if (field?.type === BSON.int64) return field.source.readBigInt64LE(field.value);
  const number = asNumber(field);
  return number !== undefined && Number.isInteger(number) ? BigInt(number) : undefined;
}

/** Whether a flag is set, as the server reads one: `true` or a number other than 0. */
export function isSet(field: Field | undefined): boolean {
  const number = asNumber(field);
  return number !== undefined && number !== 0;
}
