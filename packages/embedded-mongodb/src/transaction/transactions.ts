/** The transactions of all sessions: which one a command belongs to, and who ends it unasked. */
import type { Command } from '../protocol/command.js';
import { CommandError } from '../protocol/replies.js';
import type { Session, Sessions } from './sessions.js';
import { noSuchTransaction, Transaction, type TransactionContext } from './transaction.js';

/** A client connection, by identity. */
export type ConnectionKey = object;

/** Starts, finds and ends transactions. */
export class Transactions {
  readonly #context: TransactionContext;
  readonly #sessions: Sessions;
  /** Connections on which each open transaction was seen. */
  readonly #connections = new Map<Transaction, Set<ConnectionKey>>();

  /** `sessions` is shared with the retryable writes, which count in the same numbers. */
  constructor(context: TransactionContext, sessions: Sessions) {
    this.#context = context;
    this.#sessions = sessions;
  }

  /** Answers a command with `autocommit: false`. @throws CommandError */
  async run(command: Command, connection: ConnectionKey): Promise<Buffer> {
    const { session: id, txnNumber: number } = command;
    if (id === null || number === null) {
      throw new CommandError(72, 'autocommit needs lsid and txnNumber');
    }
    const session = this.#sessions.get(id);
    const transaction = command.startsTransaction
      ? await this.#start(session, number)
      : openedAs(session, number);
    this.#connections.get(transaction)?.add(connection);
    switch (command.name) {
      case 'commitTransaction':
        return transaction.commit();
      case 'abortTransaction':
        return transaction.abortByClient();
      default:
        return transaction.run(command);
    }
  }

  /** Aborts the open transaction of a session. */
  async abortOf(id: string, reason: string): Promise<void> {
    await this.#sessions.find(id)?.transaction?.abort(reason);
  }

  /** Aborts what was seen on no other connection than this closed one. */
  connectionClosed(connection: ConnectionKey): void {
    for (const [transaction, connections] of this.#connections) {
      if (connections.delete(connection) && connections.size === 0) {
        void transaction.abort('its client went away');
      }
    }
  }

  /** Aborts all that is open. */
  async abortAll(reason: string): Promise<void> {
    await Promise.all([...this.#connections.keys()].map((transaction) => transaction.abort(reason)));
  }

  async #start(session: Session, number: bigint): Promise<Transaction> {
    if (number < session.last) throw tooOld(number, session.last);
    if (number === session.last) {
      throw new CommandError(117, `the transaction number ${number.toString()} has been used`);
    }
    const older = session.transaction;
    const transaction = new Transaction(this.#context, number, () => {
      this.#connections.delete(transaction);
    });
    this.#connections.set(transaction, new Set());
    session.last = number;
    session.transaction = transaction;
    session.reply = null;
    await older?.abort('the session started another one');
    return transaction;
  }
}

function openedAs(session: Session, number: bigint): Transaction {
  const { transaction } = session;
  if (transaction?.number !== number) throw noSuchTransaction('it was never started');
  return transaction;
}

/** The failure of a command with a number below one already used. */
export function tooOld(number: bigint, last: bigint): CommandError {
  return new CommandError(
    225,
    `the number ${number.toString()} is below ${last.toString()}, which has been used`,
  );
}
