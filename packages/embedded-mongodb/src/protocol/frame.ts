/** Cutting a byte stream into messages of the MongoDB wire protocol, and writing replies. */

/** Opcodes of the wire protocol. */
export const OPCODE = { reply: 1, query: 2004, message: 2013 } as const;

/** Largest message: that of the server plus its room for internal fields. */
export const MAX_MESSAGE_BYTES = 48_000_000 + 16 * 1024;

const HEADER_BYTES = 16;
/** Largest message of a client that has not logged in yet: handshakes are far smaller. */
export const MAX_LOGIN_MESSAGE_BYTES = 16 * 1024;
const SMALLEST_BYTES = HEADER_BYTES + 5;

/** A byte stream that cannot be understood: its connection is to be closed. */
export class FrameError extends Error {}

/** Collects chunks of any size and gives whole messages. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;

  /** `maxBytes`: largest message that is taken. */
  constructor(public maxBytes = MAX_MESSAGE_BYTES) {}

  /** Bytes received and not yet given out. */
  get pendingBytes(): number {
    return this.#length;
  }

  /** Adds what was received. */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** The next whole message, null when there is none yet. @throws FrameError on an impossible length or opcode. */
  next(): Buffer | null {
    if (this.#length < HEADER_BYTES) return null;
    const first = this.#firstWithHeader();
    const length = first.readInt32LE(0);
    if (length < SMALLEST_BYTES || length > this.maxBytes) {
      throw new FrameError(`a message has the impossible length ${length}`);
    }
    const opcode = first.readInt32LE(12);
    if (opcode !== OPCODE.message && opcode !== OPCODE.query) {
      throw new FrameError(`a message has the unknown opcode ${opcode}`);
    }
    return this.#length < length ? null : this.#take(length);
  }

  /** The first chunk, joined with the following ones when it is shorter than a header. */
  #firstWithHeader(): Buffer {
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= HEADER_BYTES) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }

  #take(length: number): Buffer {
    const all = this.#chunks.length === 1 ? this.#firstWithHeader() : Buffer.concat(this.#chunks);
    this.#length -= length;
    this.#chunks = this.#length === 0 ? [] : [all.subarray(length)];
    return all.subarray(0, length);
  }
}

/** How a reply is framed. */
export interface ReplyFrame {
  readonly requestId: number;
  readonly responseTo: number;
  /** Another reply to the same request follows. */
  readonly moreToCome?: boolean;
}

/** The 21 bytes in front of the BSON body of an OP_MSG reply. */
export function messageHead(bodyLength: number, frame: ReplyFrame): Buffer {
  const head = Buffer.allocUnsafe(21);
  head.writeInt32LE(21 + bodyLength, 0);
  head.writeInt32LE(frame.requestId, 4);
  head.writeInt32LE(frame.responseTo, 8);
  head.writeInt32LE(OPCODE.message, 12);
  head.writeUInt32LE(frame.moreToCome === true ? 2 : 0, 16);
  head[20] = 0;
  return head;
}

/** The 36 bytes in front of the one document of an OP_REPLY. */
export function legacyReplyHead(bodyLength: number, frame: ReplyFrame): Buffer {
  const head = Buffer.alloc(36);
  head.writeInt32LE(36 + bodyLength, 0);
  head.writeInt32LE(frame.requestId, 4);
  head.writeInt32LE(frame.responseTo, 8);
  head.writeInt32LE(OPCODE.reply, 12);
  head.writeInt32LE(1, 32); // documents returned; flags, cursor id and start stay 0
  return head;
}
