/** Writing BSON documents from plain values and from slices of other documents. BSON specification 1.1. */
import { randomBytes } from 'node:crypto';
import { BSON, fieldBytes, fields, valueBytes, type Field } from './bson-slice.js';

/** A value of any type as it stands in some document. */
export class RawValue {
  /** `type`: BSON type number; `bytes`: the value without type and name. */
  constructor(
    readonly type: number,
    readonly bytes: Buffer,
  ) {}

  /** Text that two values share exactly when type and bytes are equal. */
  key(): string {
    return String.fromCharCode(this.type) + this.bytes.toString('latin1');
  }
}

/** What `encode` can write: a Buffer is a finished document, a bigint an int64, an integer an int32. */
export type BsonValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Date
  | Buffer
  | RawValue
  | readonly BsonValue[]
  | { readonly [name: string]: BsonValue | undefined };

/** An object as a BSON document; fields that are undefined are left out. */
export function encode(object: Readonly<Record<string, BsonValue | undefined>>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined) pushField(parts, name, value);
  }
  return documentOf(parts);
}

/** A document of finished fields (`fieldBytes`, `encodeField`). */
export function documentOf(parts: readonly Buffer[]): Buffer {
  let length = 5;
  for (const part of parts) length += part.length;
  const document = Buffer.allocUnsafe(length);
  document.writeInt32LE(length, 0);
  let at = 4;
  for (const part of parts) at += part.copy(document, at);
  document[at] = 0;
  return document;
}

/** One field, to be used in `documentOf`. */
export function encodeField(name: string, value: BsonValue): Buffer {
  const parts: Buffer[] = [];
  pushField(parts, name, value);
  return Buffer.concat(parts);
}

/** `document` with `changes` put in place of fields of these names, new names at the end, undefined removed. */
export function withFields(
  document: Buffer,
  changes: Readonly<Record<string, BsonValue | undefined>>,
): Buffer {
  const parts: Buffer[] = [];
  const names = new Set<string>();
  for (const field of fields(document)) {
    names.add(field.name);
    if (!Object.hasOwn(changes, field.name)) parts.push(fieldBytes(field));
    else pushOptional(parts, field.name, changes[field.name]);
  }
  for (const [name, value] of Object.entries(changes)) {
    if (!names.has(name)) pushOptional(parts, name, value);
  }
  return documentOf(parts);
}

/** The value of a field, independent of its document's other fields. */
export function rawValue(field: Field): RawValue {
  return new RawValue(field.type, valueBytes(field));
}

const processPart = randomBytes(5);
let counter = randomBytes(3).readUIntBE(0, 3);

/** A new ObjectId. */
export function newObjectId(): RawValue {
  const bytes = Buffer.allocUnsafe(12);
  bytes.writeUInt32BE(Math.floor(Date.now() / 1000), 0);
  processPart.copy(bytes, 4);
  counter = (counter + 1) & 0xffffff;
  bytes.writeUIntBE(counter, 9, 3);
  return new RawValue(BSON.objectId, bytes);
}

/** Binary data of subtype 0 as a value. */
export function binary(bytes: Buffer): RawValue {
  const value = Buffer.allocUnsafe(5 + bytes.length);
  value.writeInt32LE(bytes.length, 0);
  value[4] = 0;
  bytes.copy(value, 5);
  return new RawValue(BSON.binary, value);
}

function pushOptional(parts: Buffer[], name: string, value: BsonValue | undefined): void {
  if (value !== undefined) pushField(parts, name, value);
}

function pushField(parts: Buffer[], name: string, value: BsonValue): void {
  const raw = toRaw(value);
  const head = Buffer.allocUnsafe(2 + Buffer.byteLength(name));
  head[0] = raw.type;
  head.write(name, 1);
  head[head.length - 1] = 0;
  parts.push(head, raw.bytes);
}

function toRaw(value: BsonValue): RawValue {
  switch (typeof value) {
    case 'string':
      return textValue(value);
    case 'number':
      return numberValue(value);
    case 'bigint': {
      const bytes = Buffer.allocUnsafe(8);
      bytes.writeBigInt64LE(value);
      return new RawValue(BSON.int64, bytes);
    }
    case 'boolean':
      return new RawValue(BSON.boolean, Buffer.from([value ? 1 : 0]));
    default:
      return objectValue(value);
  }
}

function objectValue(value: Exclude<BsonValue, string | number | bigint | boolean>): RawValue {
  if (value === null) return new RawValue(BSON.null, Buffer.alloc(0));
  if (value instanceof RawValue) return value;
  if (Buffer.isBuffer(value)) return new RawValue(BSON.document, value);
  if (value instanceof Date) {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigInt64LE(BigInt(value.getTime()));
    return new RawValue(BSON.date, bytes);
  }
  if (isArray(value)) {
    const parts: Buffer[] = [];
    value.forEach((item, index) => {
      pushField(parts, String(index), item);
    });
    return new RawValue(BSON.array, documentOf(parts));
  }
  return new RawValue(BSON.document, encode(value));
}

/** `Array.isArray` does not narrow readonly arrays. */
function isArray(value: object): value is readonly BsonValue[] {
  return Array.isArray(value);
}

function textValue(text: string): RawValue {
  const length = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(length + 5);
  bytes.writeInt32LE(length + 1, 0);
  bytes.write(text, 4);
  bytes[length + 4] = 0;
  return new RawValue(BSON.string, bytes);
}

function numberValue(value: number): RawValue {
  if (Number.isInteger(value) && Math.abs(value) < 0x80000000) {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeInt32LE(value);
    return new RawValue(BSON.int32, bytes);
  }
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeDoubleLE(value);
  return new RawValue(BSON.double, bytes);
}
