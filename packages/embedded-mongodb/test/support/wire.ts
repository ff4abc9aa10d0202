import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';

const { BSON } = mongoose.mongo;

/** A reply as it came over the wire. */
export interface WireReply {
  readonly requestId: number;
  readonly responseTo: number;
  readonly flags: number;
  readonly body: Record<string, unknown>;
}

/** A client that speaks the wire protocol itself, to say what no driver says. */
export class WireClient {
  readonly socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #lastId = 0;
  #wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    socket.on('error', () => undefined);
  }

  /** `address`: the path of a socket or `host:port`. */
  static async connect(address: string): Promise<WireClient> {
    const [host, port] = address.split(':');
    const socket = port === undefined ? connect(address) : connect(Number(port), host);
    await once(socket, 'connect');
    return new WireClient(socket);
  }

  /** Sends an OP_MSG and answers its request id. */
  send(body: Record<string, unknown>, flags = 0): number {
    this.#lastId += 1;
    const message = opMessage(this.#lastId, body, flags);
    this.socket.write(message);
    return this.#lastId;
  }

  /** The next reply; rejects when the server closes the connection instead. */
  async receive(): Promise<WireReply> {
    while (this.#received.length < 4 || this.#received.length < this.#received.readInt32LE(0)) {
      if (this.socket.destroyed) throw new Error('the connection was closed');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.socket.once('close', resolve);
      });
    }
    const length = this.#received.readInt32LE(0);
    const message = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    const bodyAt = message.readInt32LE(12) === 1 ? 36 : 21;
    return {
      requestId: message.readInt32LE(4),
      responseTo: message.readInt32LE(8),
      flags: message.readUInt32LE(16),
      body: BSON.deserialize(message.subarray(bodyAt)),
    };
  }

  /** Sends a command and answers the body of its reply. */
  async command(body: Record<string, unknown>): Promise<Record<string, unknown>> {
    this.send(body);
    return (await this.receive()).body;
  }

  close(): void {
    this.socket.destroy();
  }
}

/** An OP_MSG with one body section. */
export function opMessage(requestId: number, body: Record<string, unknown>, flags = 0): Buffer {
  const document = BSON.serialize(body);
  const message = Buffer.alloc(21 + document.length);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(requestId, 4);
  message.writeInt32LE(2013, 12);
  message.writeUInt32LE(flags, 16);
  message.set(document, 21);
  return message;
}

/** A new session id. */
export function newSession(): { readonly id: mongoose.mongo.UUID } {
  return { id: new mongoose.mongo.UUID(randomUUID()) };
}

/** The fields of a command inside a transaction. */
export function inSession(
  lsid: { readonly id: mongoose.mongo.UUID },
  txnNumber: number,
  options: { readonly starts?: boolean } = {},
): Record<string, unknown> {
  return {
    lsid,
    txnNumber: BSON.Long.fromNumber(txnNumber),
    autocommit: false,
    ...(options.starts === true && { startTransaction: true }),
  };
}
