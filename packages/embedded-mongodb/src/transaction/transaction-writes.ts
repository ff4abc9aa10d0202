/** Write commands inside a transaction: recorded first, then run. */
import { asDocument, asNumber, fieldOf, fields, isSet } from '../protocol/bson-slice.js';
import { encode, rawValue, withFields, type BsonValue } from '../protocol/bson-write.js';
import { buildMessage, sequenceDocuments, type Command } from '../protocol/command.js';
import type { Engine } from '../engine/engine.js';
import { limitTo, pinTo, planUpsert } from './pin.js';
import { UNDO_NAMESPACE } from '../undo/persistent-undo.js';
import type { Recorder } from '../undo/recorder.js';
import { isSuccess } from '../protocol/replies.js';
import { readFindAndModify, readWrites, type Statement, type Writes } from './statements.js';
import {
  drained,
  mergeBulkReplies,
  mergeReplies,
  upsertsIn,
  withoutInserts,
  type PartReply,
} from './write-replies.js';

/** What the writes of one transaction need. */
export interface WriteContext {
  readonly engine: Engine;
  readonly recorder: Recorder;
}

/** Neighbouring statements that are sent together. */
interface Part {
  readonly statements: readonly Statement[];
  readonly offset: number;
}

/** A recorded statement and whether the `_id` of its upsert is only known afterwards. */
interface Prepared {
  readonly statement: Statement;
  readonly isLate: boolean;
}

/** Records and runs `insert`, `update`, `delete` or `bulkWrite`. @throws CommandError, EngineError, BsonError */
export async function runWrites(context: WriteContext, command: Command): Promise<Buffer> {
  const writes = readWrites(command);
  const parts = partsOf(writes.statements);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && isForwardable(only)) {
    return runKnown(context, command, only.statements);
  }
  const replies: PartReply[] = [];
  for (const part of parts) {
    const reply = await runPart(context, command, writes, part);
    if (asNumber(fieldOf(reply, 'ok')) !== 1) return reply;
    replies.push({ reply, offset: part.offset });
    if (!isSuccess(reply)) break;
  }
  if (command.name !== 'bulkWrite') return mergeReplies(replies);
  return mergeBulkReplies(replies, isSet(fieldOf(command.body, 'errorsOnly')));
}

/** Statements that are forwarded as they came: those of an ordered `bulkWrite` take their records with them. */
async function runKnown(
  { engine, recorder }: WriteContext,
  command: Command,
  statements: readonly Statement[],
): Promise<Buffer> {
  const ops = command.sequences.find(({ name }) => name === 'ops');
  const namespaces = command.sequences.find(({ name }) => name === 'nsInfo');
  const isOrdered = isSet(fieldOf(command.body, 'ordered'));
  if (command.name !== 'bulkWrite' || ops === undefined || namespaces === undefined || !isOrdered) {
    await recorder.statements(statements);
    return engine.forward(command.message);
  }
  const records = await recorder.carried(statements);
  if (records.length === 0) return engine.forward(command.message);
  const place = sequenceDocuments(namespaces).length;
  const inserts = records.map((document) => encode({ insert: place, document }));
  const message = buildMessage(command.body, [
    { name: 'nsInfo', documents: [namespaces.documents, encode({ ns: UNDO_NAMESPACE })] },
    { name: 'ops', documents: [...inserts, ops.documents] },
  ]);
  const reply = await drained(engine, await engine.forward(message));
  return withoutInserts(reply, inserts.length);
}

/** Records and runs `findAndModify`. @throws CommandError, EngineError, BsonError */
export async function runFindAndModify(context: WriteContext, command: Command): Promise<Buffer> {
  const statement = readFindAndModify(command);
  if (statement.id !== null) {
    await context.recorder.statements([statement]);
    return context.engine.forward(command.message);
  }
  const prepared = await prepare(context, command, statement);
  const reply = await context.engine.forward(buildMessage(prepared.statement.raw));
  await recordLate(context, [statement], prepared.isLate, reply);
  return reply;
}

function isForwardable(part: Part): boolean {
  return part.statements.every((statement) => statement.id !== null && !statement.isRewritten);
}

/** Statements with known ids run together; each other one runs alone, since it sees those before it. */
function partsOf(statements: readonly Statement[]): Part[] {
  const parts: { statements: Statement[]; offset: number }[] = [];
  statements.forEach((statement, offset) => {
    const last = parts.at(-1);
    const joins = statement.id !== null && last !== undefined && last.statements[0]?.id !== null;
    if (joins) last.statements.push(statement);
    else parts.push({ statements: [statement], offset });
  });
  return parts;
}

async function runPart(context: WriteContext, command: Command, writes: Writes, part: Part): Promise<Buffer> {
  const first = part.statements[0];
  let prepared: readonly Statement[] = part.statements;
  let isLate = false;
  if (first !== undefined && first.id === null) {
    const one = await prepare(context, command, first);
    prepared = [one.statement];
    isLate = one.isLate;
  } else {
    await context.recorder.statements(part.statements);
  }
  const reply = await context.engine.forward(partMessage(command, writes, prepared, isLate));
  const whole = command.name === 'bulkWrite' ? await drained(context.engine, reply) : reply;
  await recordLate(context, part.statements, isLate, whole);
  return whole;
}

/** The command with only these statements. */
function partMessage(
  command: Command,
  writes: Writes,
  statements: readonly Statement[],
  isLate: boolean,
): Buffer {
  const changes: Record<string, BsonValue | undefined> = { [writes.list]: undefined };
  // the reply has the `_id` of the upsert
  if (isLate && command.name === 'bulkWrite') changes['errorsOnly'] = false;
  const others = command.sequences
    .filter((sequence) => sequence.name !== writes.list)
    .map((sequence) => ({ name: sequence.name, documents: [sequence.documents] }));
  const own = { name: writes.list, documents: statements.map((statement) => statement.raw) };
  return buildMessage(withFields(command.body, changes), [...others, own]);
}

/** Records one statement whose `_id`s its own query has to find, and binds it to what was found. */
async function prepare(
  { recorder }: WriteContext,
  command: Command,
  statement: Statement,
): Promise<Prepared> {
  const ids = await recorder.hits(statement.namespace, queryOf(command, statement));
  const [first] = ids;
  if (first !== undefined) {
    if (!statement.isMulti) return { statement: pinTo(statement, first), isLate: false };
    return { statement: isRandom(statement) ? limitTo(statement, ids) : statement, isLate: false };
  }
  if (!statement.isUpsert) return { statement, isLate: false };
  const planned = planUpsert(statement);
  if (planned.id !== null) await recorder.absent(statement.namespace, [planned.id]);
  // a pipeline may still set an `_id` of its own, so the reply is looked at in any case
  return { statement: planned.statement, isLate: true };
}

/** `find` options with which a statement finds its documents. */
function queryOf(command: Command, statement: Statement): Record<string, BsonValue | undefined> {
  const query: Record<string, BsonValue | undefined> = {
    filter: asDocument(fieldOf(statement.raw, statement.names.filter)) ?? {},
    limit: statement.isMulti ? undefined : 1,
  };
  for (const name of ['collation', 'hint', 'sort']) {
    const field = fieldOf(statement.raw, name);
    if (field !== undefined) query[name] = rawValue(field);
  }
  const variables = fieldOf(command.body, 'let');
  if (variables !== undefined) query['let'] = rawValue(variables);
  return query;
}

function isRandom(statement: Statement): boolean {
  const filter = asDocument(fieldOf(statement.raw, statement.names.filter));
  return filter !== undefined && (filter.includes('$rand') || filter.includes('$sampleRate'));
}

async function recordLate(
  { recorder }: WriteContext,
  statements: readonly Statement[],
  isLate: boolean,
  reply: Buffer,
): Promise<void> {
  if (!isLate) return;
  for (const { index, id } of upsertsIn(reply)) {
    const namespace = statements[index]?.namespace;
    if (namespace !== undefined) await recorder.absent(namespace, [id]);
  }
}

const FORBIDDEN_STAGES: ReadonlySet<string> = new Set([
  '$out',
  '$merge',
  '$changeStream',
  '$currentOp',
  '$collStats',
  '$indexStats',
]);

/** The first stage of an aggregation that no transaction may use; undefined when there is none. */
export function forbiddenStage(command: Command): string | undefined {
  const pipeline = asDocument(fieldOf(command.body, 'pipeline'));
  if (pipeline === undefined) return undefined;
  return fields(pipeline)
    .map((stage) => fields(asDocument(stage) ?? pipeline)[0]?.name ?? '')
    .find((name) => FORBIDDEN_STAGES.has(name));
}
