/**
 * Rewriting a statement so that the document it touches is known before it runs: by its `_id` when there is
 * one, by an `_id` of the front's choice when an upsert is going to make one.
 */
import {
  asDocument,
  BSON,
  fieldBytes,
  fieldOf,
  fields,
  valueBytes,
  type Field,
} from '../protocol/bson-slice.js';
import {
  documentOf,
  encodeField,
  newObjectId,
  RawValue,
  rawValue,
  withFields,
} from '../protocol/bson-write.js';
import { withIdInFront, type Statement } from './statements.js';

/** The statement with a filter that only the document `id` can meet. */
export function pinTo(statement: Statement, id: RawValue): Statement {
  const { filter } = statement.names;
  const conditions = asDocument(fieldOf(statement.raw, filter)) ?? documentOf([]);
  const pinned =
    fieldOf(conditions, '_id') === undefined
      ? documentOf([...fields(conditions).map(fieldBytes), encodeField('_id', { $eq: id })])
      : documentOf([encodeField('$and', [conditions, { _id: { $eq: id } }])]);
  return rewritten(statement, { [filter]: pinned });
}

/** The multi statement limited to the documents `ids`, for filters that may choose others a second time. */
export function limitTo(statement: Statement, ids: readonly RawValue[]): Statement {
  const { filter } = statement.names;
  const conditions = asDocument(fieldOf(statement.raw, filter)) ?? documentOf([]);
  return rewritten(statement, { [filter]: { $and: [conditions, { _id: { $in: ids } }] } });
}

/** An upsert without a hit. */
export interface PlannedUpsert {
  readonly statement: Statement;
  /** `_id` of the new document; null: only the reply will have it. */
  readonly id: RawValue | null;
}

/** Chooses or finds the `_id` of the document that an upsert without a hit is going to make. */
export function planUpsert(statement: Statement): PlannedUpsert {
  const filter = asDocument(fieldOf(statement.raw, statement.names.filter));
  const changes = fieldOf(statement.raw, statement.names.changes);
  const document = asDocument(changes);
  const mayNameId = filter === undefined || fields(filter).some((field) => concernsId(field));
  if (mayNameId || changes === undefined || document === undefined) return { statement, id: null };
  if (changes.type === BSON.array) return plannedPipeline(statement, document);
  const all = fields(document);
  return all[0]?.name.startsWith('$') === true
    ? plannedOperators(statement, document, all)
    : plannedReplacement(statement, document);
}

/** Conditions from which the server may take an `_id`. */
function concernsId(condition: Field): boolean {
  const { name } = condition;
  return name === '$and' || name === '$or' || isIdPath(name);
}

function isIdPath(path: string): boolean {
  return path === '_id' || path.startsWith('_id.');
}

function plannedReplacement(statement: Statement, document: Buffer): PlannedUpsert {
  const own = fieldOf(document, '_id');
  if (own !== undefined) return { statement, id: rawValue(own) };
  const id = newObjectId();
  return { statement: withChanges(statement, withIdInFront(document, id)), id };
}

function plannedOperators(statement: Statement, document: Buffer, all: readonly Field[]): PlannedUpsert {
  const touching = all.flatMap((operator) =>
    fields(asDocument(operator) ?? documentOf([]))
      .filter((field) => isIdPath(field.name))
      .map((field) => ({ operator: operator.name, field })),
  );
  const [only] = touching;
  if (only !== undefined) {
    const isPlain =
      touching.length === 1 && only.field.name === '_id' && /^\$set(OnInsert)?$/.test(only.operator);
    return { statement, id: isPlain ? rawValue(only.field) : null };
  }
  const id = newObjectId();
  const present = asDocument(fieldOf(document, '$setOnInsert')) ?? documentOf([]);
  const changes = withFields(document, { $setOnInsert: withFields(present, { _id: id }) });
  return { statement: withChanges(statement, changes), id };
}

function plannedPipeline(statement: Statement, pipeline: Buffer): PlannedUpsert {
  const id = newObjectId();
  const stages = fields(pipeline).map((stage) => new RawValue(stage.type, valueBytes(stage)));
  const last = { $set: { _id: { $ifNull: ['$_id', id] } } };
  return { statement: rewritten(statement, { [statement.names.changes]: [...stages, last] }), id };
}

function withChanges(statement: Statement, changes: Buffer): Statement {
  return rewritten(statement, { [statement.names.changes]: changes });
}

function rewritten(statement: Statement, changes: Parameters<typeof withFields>[1]): Statement {
  return { ...statement, raw: withFields(statement.raw, changes), isRewritten: true };
}
