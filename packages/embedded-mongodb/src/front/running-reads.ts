/** Reads that are at work for clients, so that one whose client goes away ends, as a server would end it. */
import { setTimeout as pause } from 'node:timers/promises';
import { asDocument, asDocuments, fieldOf } from '../protocol/bson-slice.js';
import { rawValue, withFields, type RawValue } from '../protocol/bson-write.js';
import { buildMessage, type Command } from '../protocol/command.js';
import type { Engine } from '../engine/engine.js';
import type { ConnectionKey } from '../transaction/transactions.js';

const READS: ReadonlySet<string> = new Set(['aggregate', 'count', 'distinct', 'explain', 'find', 'getMore']);
/** The engine lists a command only once it has begun, so it is looked for again. */
const LOOK_AGAIN_MS = 100;

interface RunningRead {
  readonly comment: RawValue;
  isRunning: boolean;
}

/** The engine knows no clients: what a read does is found by its `comment`, which should belong to it alone. */
export class RunningReads {
  readonly #engine: Engine;
  readonly #byConnection = new Map<ConnectionKey, RunningRead>();

  /** `engine`: where the reads run. */
  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Hands a command of a connection to the engine; a connection has one at a time. */
  async forward(command: Command, connection: ConnectionKey): Promise<Buffer> {
    const { name, body, message } = command;
    const explained = name === 'explain' ? asDocument(fieldOf(body, name)) : undefined;
    const field = READS.has(name) ? fieldOf(explained ?? body, 'comment') : undefined;
    if (field === undefined) return this.#engine.forward(message);
    const read = { comment: rawValue(field), isRunning: true };
    this.#byConnection.set(connection, read);
    try {
      // Of a long command the engine lists the comment at its top only.
      return await this.#engine.forward(
        explained === undefined ? message : buildMessage(withFields(body, { comment: read.comment })),
      );
    } finally {
      read.isRunning = false;
      this.#byConnection.delete(connection);
    }
  }

  /** Ends what runs for a connection that is gone. */
  async connectionClosed(connection: ConnectionKey): Promise<void> {
    const read = this.#byConnection.get(connection);
    while (read?.isRunning === true) {
      await this.#end(read.comment);
      await pause(LOOK_AGAIN_MS);
    }
  }

  async #end(comment: RawValue): Promise<void> {
    const reply = await this.#engine.attempt({ currentOp: 1, 'command.comment': comment, $db: 'admin' });
    for (const operation of asDocuments(fieldOf(reply, 'inprog'))) {
      const opid = fieldOf(operation, 'opid');
      if (opid !== undefined) await this.#engine.attempt({ killOp: 1, op: rawValue(opid), $db: 'admin' });
    }
  }
}
