/** One client connection: messages in, replies out, one at a time. */
import type { Socket } from 'node:net';
import { fields } from './bson-slice.js';
import { readCommand, readLegacyQuery, type Command } from './command.js';
import { FrameReader, legacyReplyHead, MAX_MESSAGE_BYTES, messageHead, OPCODE } from './frame.js';
import type { Front } from './front.js';
import { isHello } from './hello.js';
import { CommandError, errorReply } from './replies.js';

/** Serves a socket until it closes. A stream that cannot be understood closes it. */
export class Connection {
  readonly #socket: Socket;
  readonly #front: Front;
  readonly #number: number;
  readonly #reader = new FrameReader();
  readonly #wakers = new Set<() => void>();
  #isBusy = false;
  #lastReplyId = 0;

  /** `number`: the connection id that the client is told. */
  constructor(socket: Socket, front: Front, number: number) {
    this.#socket = socket;
    this.#front = front;
    this.#number = number;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.#reader.push(chunk);
      // a client that sends on without reading its replies
      if (this.#isBusy && this.#reader.pendingBytes > MAX_MESSAGE_BYTES) socket.pause();
      void this.#pump();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const wake of this.#wakers) wake();
      front.connectionClosed(this);
    });
  }

  async #pump(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      let message = this.#reader.next();
      while (message !== null && !this.#socket.destroyed) {
        await this.#handle(message);
        message = this.#reader.next();
      }
      if (this.#socket.isPaused()) this.#socket.resume();
    } catch {
      this.#socket.destroy();
    } finally {
      this.#isBusy = false;
    }
  }

  async #handle(message: Buffer): Promise<void> {
    if (message.readInt32LE(12) === OPCODE.query) {
      this.#answerLegacy(message);
      return;
    }
    const command = readCommand(message);
    if (isHello(command.name)) {
      await this.#answerHello(command);
      return;
    }
    const reply = await this.#front.answer(command, this);
    if (!command.isUnacknowledged) this.#send(reply, command.requestId, false);
  }

  async #answerHello(command: Command): Promise<void> {
    const { hello } = this.#front;
    const waitMs = hello.awaitMs(command.body);
    if (waitMs !== null) await this.#pause(waitMs);
    let responseTo = command.requestId;
    const streams = command.isExhaustAllowed && waitMs !== null;
    this.#send(hello.reply(this.#number), responseTo, streams);
    while (streams && !this.#socket.destroyed) {
      responseTo = this.#lastReplyId;
      await this.#pause(waitMs);
      this.#send(hello.reply(this.#number), responseTo, true);
    }
  }

  #answerLegacy(message: Buffer): void {
    const { requestId, body } = readLegacyQuery(message);
    const reply = isHello(fields(body)[0]?.name ?? '')
      ? this.#front.hello.reply(this.#number)
      : errorReply(new CommandError(352, 'only the handshake may come as OP_QUERY'));
    this.#lastReplyId += 1;
    const head = legacyReplyHead(reply.length, { requestId: this.#lastReplyId, responseTo: requestId });
    this.#write(head, reply);
  }

  #send(reply: Buffer, responseTo: number, moreToCome: boolean): void {
    this.#lastReplyId += 1;
    this.#write(messageHead(reply.length, { requestId: this.#lastReplyId, responseTo, moreToCome }), reply);
  }

  #write(head: Buffer, body: Buffer): void {
    if (this.#socket.destroyed) return;
    this.#socket.cork();
    this.#socket.write(head);
    this.#socket.write(body);
    this.#socket.uncork();
  }

  /** Waits, but no longer than the socket lives. */
  #pause(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#wakers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, waitMs);
      this.#wakers.add(wake);
    });
  }
}
