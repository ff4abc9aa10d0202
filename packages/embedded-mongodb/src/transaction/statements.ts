/** The single writes inside the commands `insert`, `update`, `delete`, `bulkWrite` and `findAndModify`. */
import {
  asDocument,
  asDocuments,
  asNumber,
  asText,
  BSON,
  BsonError,
  fieldBytes,
  fieldOf,
  fields,
  isSet,
  type Field,
} from '../protocol/bson-slice.js';
import { documentOf, encodeField, newObjectId, rawValue, type RawValue } from '../protocol/bson-write.js';
import { sequenceDocuments, type Command } from '../protocol/command.js';

/** One write of one command. */
export interface Statement {
  readonly kind: 'insert' | 'update' | 'delete';
  /** `database.collection` */
  readonly namespace: string;
  /** The statement as it is to be sent. */
  readonly raw: Buffer;
  /** Whether `raw` differs from what came. */
  readonly isRewritten: boolean;
  /** The only `_id` that the statement can touch; null when it is not known from the statement alone. */
  readonly id: RawValue | null;
  readonly isMulti: boolean;
  readonly isUpsert: boolean;
  readonly names: StatementNames;
}

/** Names under which a kind of command carries filter and changes. */
interface StatementNames {
  readonly filter: string;
  readonly changes: string;
}

/** A command's writes and the name of the field or sequence that carries them. */
export interface Writes {
  readonly list: string;
  readonly statements: readonly Statement[];
}

const CLASSIC: StatementNames = { filter: 'q', changes: 'u' };
const BULK: StatementNames = { filter: 'filter', changes: 'updateMods' };
const FIND_AND_MODIFY: StatementNames = { filter: 'query', changes: 'update' };

/** The writes of an `insert`, `update`, `delete` or `bulkWrite` in their order. @throws BsonError */
export function readWrites(command: Command): Writes {
  switch (command.name) {
    case 'insert':
      return listed(command, 'documents', (raw) => insertion(raw, collectionOf(command)));
    case 'update':
      return listed(command, 'updates', (raw) => changing(raw, 'update', collectionOf(command)));
    case 'delete':
      return listed(command, 'deletes', (raw) => changing(raw, 'delete', collectionOf(command)));
    default: {
      const namespaces = listOf(command, 'nsInfo').map((info) => asText(fieldOf(info, 'ns')) ?? '');
      return listed(command, 'ops', (raw) => bulkOperation(raw, namespaces));
    }
  }
}

/** The one write of a `findAndModify`; its `raw` is the whole body. */
export function readFindAndModify(command: Command): Statement {
  const { body } = command;
  return {
    kind: isSet(fieldOf(body, 'remove')) ? 'delete' : 'update',
    namespace: collectionOf(command),
    raw: body,
    isRewritten: false,
    id: idEquality(body, FIND_AND_MODIFY),
    isMulti: false,
    isUpsert: isSet(fieldOf(body, 'upsert')),
    names: FIND_AND_MODIFY,
  };
}

/** `database.collection` that a command names with its first field. @throws BsonError when that is no text. */
export function collectionOf(command: Command): string {
  const collection = asText(fields(command.body)[0]);
  if (collection === undefined) throw new BsonError(`${command.name} names no collection`);
  return `${command.database}.${collection}`;
}

function listed(command: Command, list: string, read: (raw: Buffer) => Statement): Writes {
  return { list, statements: listOf(command, list).map(read) };
}

function listOf(command: Command, name: string): Buffer[] {
  const sequence = command.sequences.find((candidate) => candidate.name === name);
  return sequence === undefined ? asDocuments(fieldOf(command.body, name)) : sequenceDocuments(sequence);
}

const NO_NAMES: StatementNames = { filter: '', changes: '' };
const INSERTION = { kind: 'insert', isMulti: false, isUpsert: false, names: NO_NAMES } as const;

function insertion(raw: Buffer, namespace: string): Statement {
  const id = fieldOf(raw, '_id');
  if (id !== undefined) return { ...INSERTION, namespace, raw, isRewritten: false, id: rawValue(id) };
  const added = newObjectId();
  return { ...INSERTION, namespace, raw: withIdInFront(raw, added), isRewritten: true, id: added };
}

/** `document` with an `_id` as its first field. */
export function withIdInFront(document: Buffer, id: RawValue): Buffer {
  return documentOf([encodeField('_id', id), document.subarray(4, document.length - 1)]);
}

function changing(raw: Buffer, kind: 'update' | 'delete', namespace: string): Statement {
  return {
    kind,
    namespace,
    raw,
    isRewritten: false,
    id: idEquality(raw, CLASSIC),
    isMulti: kind === 'update' ? isSet(fieldOf(raw, 'multi')) : asNumber(fieldOf(raw, 'limit')) === 0,
    isUpsert: isSet(fieldOf(raw, 'upsert')),
    names: CLASSIC,
  };
}

function bulkOperation(raw: Buffer, namespaces: readonly string[]): Statement {
  const head = fields(raw)[0];
  const namespace = namespaces[asNumber(head) ?? -1];
  if (head === undefined || namespace === undefined)
    throw new BsonError('a bulkWrite operation has no namespace');
  if (head.name === 'insert') return bulkInsertion(raw, namespace);
  return {
    kind: head.name === 'update' ? 'update' : 'delete',
    namespace,
    raw,
    isRewritten: false,
    id: idEquality(raw, BULK),
    isMulti: isSet(fieldOf(raw, 'multi')),
    isUpsert: isSet(fieldOf(raw, 'upsert')),
    names: BULK,
  };
}

function bulkInsertion(raw: Buffer, namespace: string): Statement {
  const document = asDocument(fieldOf(raw, 'document'));
  if (document === undefined) throw new BsonError('an insert operation has no document');
  const inner = insertion(document, namespace);
  if (!inner.isRewritten) return { ...inner, raw };
  const parts = fields(raw).map((field) =>
    field.name === 'document' ? encodeField('document', inner.raw) : fieldBytes(field),
  );
  return { ...inner, raw: documentOf(parts) };
}

/** The `_id` that a filter demands beside whatever else; null when it demands none or a collation applies. */
function idEquality(raw: Buffer, names: StatementNames): RawValue | null {
  const filter = asDocument(fieldOf(raw, names.filter));
  if (filter === undefined || fieldOf(raw, 'collation') !== undefined) return null;
  const id = fieldOf(filter, '_id');
  return id === undefined ? null : equalityValue(id);
}

const NO_EQUALITY: ReadonlySet<number> = new Set([BSON.undefined, BSON.array, BSON.regex]);

function equalityValue(condition: Field): RawValue | null {
  const inner = condition.type === BSON.document ? fields(asDocument(condition) ?? condition.source) : [];
  const first = inner[0];
  if (first?.name.startsWith('$') !== true) {
    return NO_EQUALITY.has(condition.type) ? null : rawValue(condition);
  }
  const isEquality = first.name === '$eq' && inner.length === 1 && !NO_EQUALITY.has(first.type);
  return isEquality ? rawValue(first) : null;
}
