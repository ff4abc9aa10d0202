/** Write concern outside of transactions, where the engine waits for its journal only if `w` is a number. */
import { asDocument, asText, fieldOf, isSet } from '../protocol/bson-slice.js';
import { encode, withFields } from '../protocol/bson-write.js';
import { buildMessage, sequenceDocuments, type Command } from '../protocol/command.js';

const WRITES: ReadonlySet<string> = new Set([
  'insert',
  'update',
  'delete',
  'bulkWrite',
  'findAndModify',
  'findandmodify',
]);
const NONE = encode({});

/**
 * A command with `w: "majority"` of a write (a replica set's default, too) said as what it means where
 * one member is the majority: `w: 1, j: true`. A client's own `j: false` stands.
 * @throws BsonError when a sequence is malformed.
 */
export function journaled(command: Command): Command {
  const { name, sequences } = command;
  if (!WRITES.has(name)) return command;
  const concern = asDocument(fieldOf(command.body, 'writeConcern')) ?? NONE;
  const w = fieldOf(concern, 'w');
  if (w !== undefined && asText(w) !== 'majority') return command;
  const j = fieldOf(concern, 'j');
  const waits = j === undefined || isSet(j);
  const body = withFields(command.body, { writeConcern: withFields(concern, { w: 1, j: waits }) });
  const message = buildMessage(
    body,
    sequences.map((sequence) => ({ name: sequence.name, documents: sequenceDocuments(sequence) })),
  );
  return { ...command, body, message };
}
