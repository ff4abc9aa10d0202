/**
 * One command as it came over the wire. Only the top level of its body is read; the session fields, which the
 * engine refuses, are cut out inside the received buffer.
 */
import {
  asBigInt,
  asDocument,
  asNumber,
  asText,
  BSON,
  BsonError,
  documentLength,
  fields,
  isSet,
  valueBytes,
  type Field,
} from './bson-slice.js';
import { documentOf } from './bson-write.js';
import { OPCODE } from './frame.js';

/** A document sequence beside the body (OP_MSG section of kind 1). */
export interface Sequence {
  readonly name: string;
  readonly documents: Buffer;
}

/** A command without its session fields, and what these said. */
export interface Command {
  readonly requestId: number;
  readonly name: string;
  readonly database: string;
  /** The session's 16 byte id as latin1 text. */
  readonly session: string | null;
  readonly txnNumber: bigint | null;
  readonly isInTransaction: boolean;
  readonly startsTransaction: boolean;
  readonly maxTimeMs: number | null;
  /** No reply is wanted. */
  readonly isUnacknowledged: boolean;
  /** Several replies to this one request are accepted. */
  readonly isExhaustAllowed: boolean;
  /** The message to hand to the engine. */
  readonly message: Buffer;
  readonly body: Buffer;
  readonly sequences: readonly Sequence[];
}

const SESSION_FIELDS: ReadonlySet<string> = new Set(['lsid', 'txnNumber', 'autocommit', 'startTransaction']);
const CHECKSUM_PRESENT = 1;
const MORE_TO_COME = 2;
const EXHAUST_ALLOWED = 0x10000;
const FIRST_SECTION = 20;

/** Reads an OP_MSG. Its bytes are changed. @throws BsonError when it is malformed. */
export function readCommand(received: Buffer): Command {
  const flags = received.readUInt32LE(16);
  const end = received.length - ((flags & CHECKSUM_PRESENT) === 0 ? 0 : 4);
  const bytes = received.subarray(0, end);
  const bodyAt = bodyOffset(bytes);
  const body = bytes.subarray(bodyAt, bodyAt + documentLength(bytes, bodyAt));
  const all = fields(body);
  const first = all[0];
  if (first === undefined) throw new BsonError('a command has no name');
  const session = sessionFields(all);
  const gaps = all.filter((field) => SESSION_FIELDS.has(field.name));
  const message = cut(bytes, bodyAt, joinGaps(gaps, bodyAt));
  message.writeUInt32LE(0, 16);
  return {
    requestId: received.readInt32LE(4),
    name: first.name,
    ...session,
    isUnacknowledged: (flags & MORE_TO_COME) !== 0,
    isExhaustAllowed: (flags & EXHAUST_ALLOWED) !== 0,
    message,
    ...sections(message),
  };
}

type SessionPart = Pick<
  Command,
  'database' | 'session' | 'txnNumber' | 'isInTransaction' | 'startsTransaction' | 'maxTimeMs'
>;

function sessionFields(all: readonly Field[]): SessionPart {
  const byName = new Map(all.map((field) => [field.name, field]));
  const autocommit = byName.get('autocommit');
  return {
    database: asText(byName.get('$db')) ?? 'admin',
    session: sessionId(asDocument(byName.get('lsid'))),
    txnNumber: asBigInt(byName.get('txnNumber')) ?? null,
    isInTransaction: autocommit !== undefined && !isSet(autocommit),
    startsTransaction: isSet(byName.get('startTransaction')),
    maxTimeMs: asNumber(byName.get('maxTimeMS')) ?? null,
  };
}

/** The id in an `lsid` document, null without one. */
export function sessionId(lsid: Buffer | undefined): string | null {
  if (lsid === undefined) return null;
  const id = fields(lsid).find((field) => field.name === 'id' && field.type === BSON.binary);
  return id === undefined ? null : valueBytes(id).toString('latin1', 5);
}

/** Neighbouring fields as one gap; offsets from the start of the message. */
function joinGaps(gaps: readonly Field[], bodyAt: number): [start: number, end: number][] {
  const joined: [number, number][] = [];
  for (const gap of gaps) {
    const last = joined.at(-1);
    if (last?.[1] === gap.start + bodyAt) last[1] = gap.end + bodyAt;
    else joined.push([gap.start + bodyAt, gap.end + bodyAt]);
  }
  return joined;
}

/** Removes the gaps by moving whichever side of the message is the smaller one. */
function cut(bytes: Buffer, bodyAt: number, gaps: readonly [number, number][]): Buffer {
  const bodyLength = bytes.readInt32LE(bodyAt);
  let start = 0;
  let end = bytes.length;
  let removed = 0;
  for (const [gapStart, gapEnd] of gaps.toReversed()) {
    // earlier steps moved the head by `start`, so this gap moved with it
    const from = gapStart + start;
    const to = gapEnd + start;
    const size = to - from;
    if (from - start <= end - to) {
      bytes.copyWithin(start + size, start, from);
      start += size;
    } else {
      bytes.copyWithin(from, to, end);
      end -= size;
    }
    removed += size;
  }
  const message = bytes.subarray(start, end);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(bodyLength - removed, bodyAt);
  return message;
}

function bodyOffset(bytes: Buffer): number {
  let at = FIRST_SECTION;
  while (at + 5 <= bytes.length) {
    if (bytes[at] === 0) return at + 1;
    at += 1 + sectionSize(bytes, at);
  }
  throw new BsonError('a message has no body');
}

/** Bytes of a section without its kind byte. */
function sectionSize(bytes: Buffer, at: number): number {
  if (bytes[at] === 0) return documentLength(bytes, at + 1);
  if (bytes[at] !== 1) throw new BsonError('a section has an unknown kind');
  const size = bytes.readInt32LE(at + 1);
  if (size < 5 || at + 1 + size > bytes.length) throw new BsonError('a section has the wrong length');
  return size;
}

function sections(message: Buffer): { body: Buffer; sequences: Sequence[] } {
  const sequences: Sequence[] = [];
  let body: Buffer = Buffer.alloc(0);
  let at = FIRST_SECTION;
  while (at < message.length) {
    const end = at + 1 + sectionSize(message, at);
    if (message[at] === 0) body = message.subarray(at + 1, end);
    else sequences.push(sequenceOf(message.subarray(at + 5, end)));
    at = end;
  }
  return { body, sequences };
}

function sequenceOf(content: Buffer): Sequence {
  const nameEnd = content.indexOf(0);
  if (nameEnd < 0) throw new BsonError('a document sequence has no name');
  return { name: content.toString('utf8', 0, nameEnd), documents: content.subarray(nameEnd + 1) };
}

/** The documents of a sequence. @throws BsonError when it is malformed. */
export function sequenceDocuments(sequence: Sequence): Buffer[] {
  const documents: Buffer[] = [];
  let at = 0;
  while (at < sequence.documents.length) {
    const length = documentLength(sequence.documents, at);
    documents.push(sequence.documents.subarray(at, at + length));
    at += length;
  }
  return documents;
}

/** An OP_MSG of a body and document sequences. */
export function buildMessage(
  body: Buffer,
  sequences: readonly { readonly name: string; readonly documents: readonly Buffer[] }[] = [],
): Buffer {
  const parts: Buffer[] = [Buffer.alloc(21), body];
  for (const { name, documents } of sequences) {
    const head = Buffer.alloc(6 + Buffer.byteLength(name));
    head[0] = 1;
    head.writeInt32LE(
      documents.reduce((sum, document) => sum + document.length, head.length - 1),
      1,
    );
    head.write(name, 5);
    parts.push(head, ...documents);
  }
  const message = Buffer.concat(parts);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(OPCODE.message, 12);
  return message;
}

/** The command inside an OP_QUERY (only the handshake of old drivers comes this way). @throws BsonError */
export function readLegacyQuery(message: Buffer): { readonly requestId: number; readonly body: Buffer } {
  const nameEnd = message.indexOf(0, 20);
  const at = nameEnd + 1 + 8;
  if (nameEnd < 0) throw new BsonError('a query has no collection name');
  const body = message.subarray(at, at + documentLength(message, at));
  return { requestId: message.readInt32LE(4), body: body.length === 5 ? documentOf([]) : body };
}
