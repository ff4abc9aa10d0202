/**
 * Reads with the read concern `snapshot` outside of transactions. The engine keeps no moment for the later batches of a
 * cursor, so such a read is taken whole while no transaction runs, within its `maxTimeMS`, and held until the client has
 * fetched it.
 */
import { asBigInt, asDocument, asNumber, asText, fieldOf, fields } from '../protocol/bson-slice.js';
import { encode, rawValue } from '../protocol/bson-write.js';
import { buildMessage, readCommand, type Command } from '../protocol/command.js';
import type { Engine } from '../engine/engine.js';
import { splitNamespace } from '../engine/namespaces.js';
import { CommandError, isSuccess, okReply } from '../protocol/replies.js';
import type { ConnectionKey } from '../transaction/transactions.js';
import { HeldBatches } from './held-batches.js';

const READS: ReadonlySet<string> = new Set(['aggregate', 'find']);

/** How long a result is held that nobody fetches, ms: as long as a server keeps an idle cursor. */
const IDLE_MS = 600_000;

/** Hands a command to the engine so that it ends when its connection is closed. */
type Forward = (command: Command, connection: ConnectionKey) => Promise<Buffer>;

/** The results that are held, by the cursor that clients know them by. */
export class HeldReads {
  readonly #byCursor = new Map<bigint, HeldBatches>();
  readonly #draining = new Map<ConnectionKey, boolean>();

  /** `engine`: where the reads run; `forward`: how. */
  constructor(
    private readonly engine: Engine,
    private readonly forward: Forward,
  ) {}

  /** Runs a command outside of transactions; while the caller holds a share of the lock a snapshot is read to its end. */
  async run(command: Command, connection: ConnectionKey): Promise<Buffer> {
    const reply = await this.forward(command, connection);
    const cursor = isSnapshotRead(command) ? openCursor(reply) : null;
    return cursor === null ? reply : this.#hold(command, { reply, cursor }, connection);
  }

  /** The answer to a command about a cursor that is held; null: it is about another one. */
  async answer(command: Command): Promise<Buffer | null> {
    if (this.#byCursor.size === 0) return null;
    if (command.name === 'getMore') return this.#next(asBigInt(fieldOf(command.body, 'getMore')) ?? 0n);
    if (command.name !== 'killCursors') return null;
    const named = asDocument(fieldOf(command.body, 'cursors'));
    const ids = named === undefined ? [] : fields(named).map((field) => asBigInt(field) ?? 0n);
    if (ids.length === 0 || !ids.every((id) => this.#byCursor.has(id))) return null;
    for (const id of ids) await this.#forget(id);
    return okReply({ cursorsKilled: ids, cursorsNotFound: [], cursorsAlive: [], cursorsUnknown: [] });
  }

  /** What is being read for this connection need not be read to its end. */
  connectionClosed(connection: ConnectionKey): void {
    if (this.#draining.has(connection)) this.#draining.set(connection, false);
  }

  /** Forgets all. */
  async close(): Promise<void> {
    for (const id of [...this.#byCursor.keys()]) await this.#forget(id);
  }

  /** The first reply once all others are held; else the one that says why not. */
  async #hold(
    command: Command,
    { reply: first, cursor }: { readonly reply: Buffer; readonly cursor: OpenCursor },
    connection: ConnectionKey,
  ): Promise<Buffer> {
    const batches = new HeldBatches(IDLE_MS, () => void this.#forget(cursor.id));
    const more = getMore(command, cursor);
    const end = performance.now() + (command.maxTimeMs || Infinity);
    this.#draining.set(connection, true);
    try {
      for (let isOpen = true; isOpen;) {
        if (this.#draining.get(connection) === false) throw new CommandError(11601, 'the client is gone');
        // The engine counts its own work alone, and transactions wait for all of it.
        if (performance.now() > end) throw new CommandError(50, 'operation exceeded time limit');
        const reply = await this.forward(readCommand(Buffer.from(more)), connection);
        if (!isSuccess(reply)) {
          await batches.close();
          return reply;
        }
        await batches.add(reply);
        isOpen = openCursor(reply) !== null;
      }
      this.#byCursor.set(cursor.id, batches);
      return first;
    } catch (error) {
      await batches.close();
      await this.engine.attempt({
        killCursors: cursor.collection,
        cursors: [cursor.id],
        $db: command.database,
      });
      throw error;
    } finally {
      this.#draining.delete(connection);
    }
  }

  async #next(id: bigint): Promise<Buffer | null> {
    const batches = this.#byCursor.get(id);
    if (batches === undefined) return null;
    const reply = await batches.take();
    if (batches.isEmpty) await this.#forget(id);
    return reply;
  }

  async #forget(id: bigint): Promise<void> {
    const batches = this.#byCursor.get(id);
    this.#byCursor.delete(id);
    await batches?.close();
  }
}

interface OpenCursor {
  readonly id: bigint;
  readonly collection: string;
}

function isSnapshotRead({ name, body }: Command): boolean {
  if (!READS.has(name)) return false;
  const concern = asDocument(fieldOf(body, 'readConcern'));
  return concern !== undefined && asText(fieldOf(concern, 'level')) === 'snapshot';
}

/** The cursor of a reply that has more; null when it is whole, or a failure. */
function openCursor(reply: Buffer): OpenCursor | null {
  const cursor = asDocument(fieldOf(reply, 'cursor'));
  const id = cursor === undefined ? 0n : (asBigInt(fieldOf(cursor, 'id')) ?? 0n);
  if (cursor === undefined || id === 0n) return null;
  return { id, collection: splitNamespace(asText(fieldOf(cursor, 'ns')) ?? '').collection };
}

/** The message that fetches the next batch, as large as the client wants them. */
function getMore({ body, database }: Command, { id, collection }: OpenCursor): Buffer {
  const batchSize = asNumber(fieldOf(asDocument(fieldOf(body, 'cursor')) ?? body, 'batchSize')) ?? 0;
  const comment = fieldOf(body, 'comment');
  return buildMessage(
    encode({
      getMore: id,
      collection,
      batchSize: batchSize > 0 ? batchSize : undefined,
      comment: comment === undefined ? undefined : rawValue(comment),
      $db: database,
    }),
  );
}
