/** The database engine inside this process: whole wire messages in, reply documents out. */
import { buildMessage } from '../protocol/command.js';
import { asBigInt, asDocument, asDocuments, fieldOf } from '../protocol/bson-slice.js';
import { encode, type BsonValue } from '../protocol/bson-write.js';
import { failureOf, isSuccess } from '../protocol/replies.js';

/** The part of the native package that is used. */
export interface NativeEngine {
  roundTrip(message: Buffer): Promise<{ readonly response: Buffer }>;
  close(): Promise<void>;
}

/** Document sequences sent beside a command's body. */
export type Sequences = readonly { readonly name: string; readonly documents: readonly Buffer[] }[];

/** A command of the front's own that the engine refused. */
export class EngineError extends Error {
  /** `code`: server error code. */
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** Runs commands; the engine works on several at a time. */
export class Engine {
  readonly #native: NativeEngine;

  /** `native`: the opened engine. */
  constructor(native: NativeEngine) {
    this.#native = native;
  }

  /** Hands a finished OP_MSG over and answers the reply's body. */
  async forward(message: Buffer): Promise<Buffer> {
    const { response } = await this.#native.roundTrip(message);
    return response;
  }

  /** Runs a command and answers its reply, successful or not. */
  attempt(
    command: Readonly<Record<string, BsonValue | undefined>>,
    sequences: Sequences = [],
  ): Promise<Buffer> {
    return this.forward(buildMessage(encode(command), sequences));
  }

  /** Runs a command that has to succeed. @throws EngineError */
  async run(
    command: Readonly<Record<string, BsonValue | undefined>>,
    sequences: Sequences = [],
  ): Promise<Buffer> {
    const reply = await this.attempt(command, sequences);
    if (!isSuccess(reply)) {
      const { code, message } = failureOf(reply);
      throw new EngineError(code, message);
    }
    return reply;
  }

  /** Runs a command that answers a cursor and hands over every document of it, batch by batch. @throws EngineError */
  async eachBatch(
    command: Readonly<Record<string, BsonValue | undefined>>,
    visit: (documents: readonly Buffer[]) => void,
  ): Promise<void> {
    let cursor = asDocument(fieldOf(await this.run(command), 'cursor'));
    const collection = Object.values(command)[0];
    while (cursor !== undefined) {
      visit(asDocuments(fieldOf(cursor, 'firstBatch') ?? fieldOf(cursor, 'nextBatch')));
      const id = asBigInt(fieldOf(cursor, 'id')) ?? 0n;
      if (id === 0n) return;
      const more = { getMore: id, collection, $db: command['$db'] };
      cursor = asDocument(fieldOf(await this.run(more), 'cursor'));
    }
  }

  /** All documents of a command that answers a cursor. @throws EngineError */
  async documents(command: Readonly<Record<string, BsonValue | undefined>>): Promise<Buffer[]> {
    const all: Buffer[] = [];
    await this.eachBatch(command, (batch) => all.push(...batch));
    return all;
  }

  /** Closes the data files after the running commands. */
  close(): Promise<void> {
    return this.#native.close();
  }
}
