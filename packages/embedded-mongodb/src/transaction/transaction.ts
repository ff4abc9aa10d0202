/** One transaction: owner of the lock from its first command to its end. */
import { asBigInt, asDocument, asText, BsonError, fieldOf } from '../protocol/bson-slice.js';
import type { Command } from '../protocol/command.js';
import { EngineError, type Engine } from '../engine/engine.js';
import type { FrontLimits } from '../front/limits.js';
import type { JournalPace } from '../undo/journal-pace.js';
import type { PhaseFairLock } from '../front/lock.js';
import { splitNamespace, type Namespaces } from '../engine/namespaces.js';
import { Recorder } from '../undo/recorder.js';
import { CommandError, errorReply, isSuccess, okReply, TRANSIENT } from '../protocol/replies.js';
import { restore } from '../undo/restore.js';
import { collectionOf } from './statements.js';
import { forbiddenStage, runFindAndModify, runWrites } from './transaction-writes.js';
import { UndoLog, type UndoStore } from '../undo/undo-log.js';

/** What every transaction of a front uses. */
export interface TransactionContext {
  readonly engine: Engine;
  readonly lock: PhaseFairLock;
  readonly namespaces: Namespaces;
  readonly limits: FrontLimits;
  readonly journal: JournalPace;
  /** A place for the undo records of one transaction; null keeps them in memory. */
  readonly makeStore: () => UndoStore | null;
  /** Called when the engine can neither commit nor put back: only a new start, with its recovery, can help. */
  readonly onFatal: (error: unknown) => void;
}

const READS: ReadonlySet<string> = new Set(['find', 'aggregate', 'distinct', 'getMore', 'killCursors']);
const WRITES: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'bulkWrite']);

/** State and work of one transaction. Its commands run one after another. */
export class Transaction {
  readonly #context: TransactionContext;
  readonly #undo: UndoLog;
  readonly #recorder: Recorder;
  readonly #cursors = new Map<bigint, string>();
  readonly #timer: NodeJS.Timeout;
  #state: 'open' | 'committed' | 'aborted' = 'open';
  #reason = '';
  #ownsLock = false;
  #queue: Promise<unknown> = Promise.resolve();

  /** `number`: the session's transaction number. `onEnd` is called once, when the lock is free again. */
  constructor(
    context: TransactionContext,
    readonly number: bigint,
    readonly onEnd: () => void,
  ) {
    this.#context = context;
    this.#undo = new UndoLog(context.makeStore(), context.limits.undoBytes);
    this.#recorder = new Recorder(context.engine, context.namespaces, this.#undo);
    this.#timer = setTimeout(() => {
      void this.abort('it was open for too long');
    }, context.limits.lifetimeMs);
  }

  /** Whether it is neither committed nor aborted. */
  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Runs a command after those before it. @throws CommandError */
  run(command: Command): Promise<Buffer> {
    return this.#enqueue(async () => {
      if (this.#state !== 'open') throw this.#noLongerOpen();
      await this.#takeLock();
      const reply = await this.#attempt(command);
      if (!isSuccess(reply)) await this.#rollBack(`the command ${command.name} failed`);
      return reply;
    });
  }

  /** `commitTransaction`. @throws CommandError 251 */
  commit(): Promise<Buffer> {
    return this.#enqueue(async () => {
      if (this.#state === 'aborted') throw this.#noLongerOpen();
      if (this.#state === 'open') await this.#commit();
      return okReply();
    });
  }

  /** `abortTransaction`. @throws CommandError 251, 256 */
  abortByClient(): Promise<Buffer> {
    return this.#enqueue(async () => {
      if (this.#state === 'committed') throw new CommandError(256, 'the transaction has been committed');
      if (this.#state === 'aborted') throw this.#noLongerOpen();
      await this.#rollBack('the client aborted it');
      return okReply();
    });
  }

  /** Aborts it, if it is still open, after the running command. */
  abort(reason: string): Promise<void> {
    return this.#enqueue(async () => {
      if (this.#state === 'open') await this.#rollBack(reason);
    });
  }

  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(task);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  async #takeLock(): Promise<void> {
    if (this.#ownsLock) return;
    this.#ownsLock = await this.#context.lock.own(this.#context.limits.slotWaitMs);
    if (this.#ownsLock) return;
    this.#end('aborted', 'other transactions took too long');
    throw new CommandError(24, 'the transactions before this one took too long', [TRANSIENT]);
  }

  async #attempt(command: Command): Promise<Buffer> {
    try {
      return await this.#dispatch(command);
    } catch (error) {
      return errorReply(asCommandError(error));
    }
  }

  async #dispatch(command: Command): Promise<Buffer> {
    const { engine } = this.#context;
    const writing = { engine, recorder: this.#recorder };
    if (READS.has(command.name)) return this.#read(command);
    if (WRITES.has(command.name)) return this.#noteCursor(command, await runWrites(writing, command));
    switch (command.name) {
      case 'findAndModify':
      case 'findandmodify':
        return runFindAndModify(writing, command);
      case 'create':
        await this.#recorder.collection(collectionOf(command));
        return engine.forward(command.message);
      case 'createIndexes':
        await this.#recorder.indexes(collectionOf(command));
        return engine.forward(command.message);
      default:
        throw new CommandError(263, `cannot run ${command.name} in a transaction`);
    }
  }

  async #read(command: Command): Promise<Buffer> {
    const stage = command.name === 'aggregate' ? forbiddenStage(command) : undefined;
    if (stage !== undefined) throw new CommandError(263, `cannot use ${stage} in a transaction`);
    return this.#noteCursor(command, await this.#context.engine.forward(command.message));
  }

  #noteCursor(command: Command, reply: Buffer): Buffer {
    const cursor = asDocument(fieldOf(reply, 'cursor'));
    if (cursor === undefined) return reply;
    const id = asBigInt(fieldOf(cursor, 'id')) ?? 0n;
    const namespace = asText(fieldOf(cursor, 'ns')) ?? '';
    if (id !== 0n) this.#cursors.set(id, namespace);
    else if (command.name === 'getMore')
      this.#cursors.delete(asBigInt(fieldOf(command.body, 'getMore')) ?? 0n);
    return reply;
  }

  /**
   * The next transaction need not wait for the journal: its writes come later in it, so none of them can survive
   * a crash without this commit. The client's answer does wait. Where nobody waits for the lock and the journal is quick, a
   * command is saved by waiting with the lock.
   */
  async #commit(): Promise<void> {
    const { journal, lock } = this.#context;
    const isAtOnce = journal.isQuick && !lock.isAwaited;
    try {
      await journal.timed(isAtOnce, () => this.#undo.clear(isAtOnce));
      await this.#killCursors();
      this.#end('committed', '');
      if (!isAtOnce) await journal.timed(true, () => this.#undo.durable());
    } catch (error) {
      this.#context.onFatal(error);
      throw error;
    }
  }

  async #rollBack(reason: string): Promise<void> {
    if (this.#ownsLock) {
      try {
        await this.#killCursors();
        await restore(this.#context.engine, this.#undo.records);
        await this.#undo.clear();
      } catch (error) {
        this.#context.onFatal(error);
        throw error;
      }
      this.#context.namespaces.forget();
    }
    this.#end('aborted', reason);
  }

  async #killCursors(): Promise<void> {
    for (const [id, namespace] of this.#cursors) {
      const { database, collection } = splitNamespace(namespace);
      await this.#context.engine.attempt({ killCursors: collection, cursors: [id], $db: database });
    }
    this.#cursors.clear();
  }

  #end(state: 'committed' | 'aborted', reason: string): void {
    this.#state = state;
    this.#reason = reason;
    clearTimeout(this.#timer);
    if (this.#ownsLock) this.#context.lock.disown();
    this.#ownsLock = false;
    this.onEnd();
  }

  #noLongerOpen(): CommandError {
    return this.#state === 'committed'
      ? noSuchTransaction('it has been committed')
      : noSuchTransaction(this.#reason);
  }
}

/** The failure of a command whose transaction does not exist or no longer. */
export function noSuchTransaction(reason: string): CommandError {
  return new CommandError(251, `there is no such open transaction: ${reason}`, [TRANSIENT]);
}

function asCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  if (error instanceof EngineError) return new CommandError(error.code, error.message);
  if (error instanceof BsonError) return new CommandError(22, error.message);
  throw error;
}
