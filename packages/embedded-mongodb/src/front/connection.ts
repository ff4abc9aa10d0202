/** One client connection: messages in, replies out, one at a time. */
import type { Socket } from 'node:net';
import type { Authentication } from '../access/authentication.js';
import { fields } from '../protocol/bson-slice.js';
import { readCommand, readLegacyQuery, type Command } from '../protocol/command.js';
import {
  FrameReader,
  legacyReplyHead,
  MAX_LOGIN_MESSAGE_BYTES,
  MAX_MESSAGE_BYTES,
  messageHead,
  OPCODE,
} from '../protocol/frame.js';
import type { Front } from './front.js';
import { isHello } from '../protocol/hello.js';
import { CommandError, errorReply } from '../protocol/replies.js';

/** What a connection gets when it is made. */
export interface ConnectionOptions {
  /** The connection id that `hello` answers. */
  readonly number: number;
  /** How the client logs in; null: whoever could connect may do everything. */
  readonly authentication: Authentication | null;
}

/** Serves a socket until it closes. A stream that cannot be understood closes it. */
export class Connection {
  readonly #socket: Socket;
  readonly #front: Front;
  readonly #number: number;
  readonly #authentication: Authentication | null;
  readonly #reader: FrameReader;
  readonly #wakers = new Set<() => void>();
  #isBusy = false;
  #lastReplyId = 0;

  /** Listens to the socket from now on. */
  constructor(socket: Socket, front: Front, { number, authentication }: ConnectionOptions) {
    this.#socket = socket;
    this.#front = front;
    this.#number = number;
    this.#authentication = authentication;
    this.#reader = new FrameReader(authentication === null ? MAX_MESSAGE_BYTES : MAX_LOGIN_MESSAGE_BYTES);
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
    if (this.#isLockedOut()) return;
    if (message.readInt32LE(12) === OPCODE.query) {
      this.#answerLegacy(message);
      return;
    }
    const command = readCommand(message);
    if (isHello(command.name)) {
      await this.#answerHello(command);
      return;
    }
    const reply = this.#loginReply(command) ?? (await this.#front.answer(command, this));
    if (!command.isUnacknowledged) this.#send(reply, command.requestId, false);
    if (this.#isLockedOut()) this.#socket.destroySoon();
  }

  #isLockedOut(): boolean {
    return this.#authentication?.isExhausted === true;
  }

  /** The reply of a server with a password to what belongs to logging in or comes before it. */
  #loginReply(command: Command): Buffer | null {
    const login = this.#authentication;
    const reply = login?.answer(command) ?? null;
    if (login !== null) this.#reader.maxBytes = login.isDone ? MAX_MESSAGE_BYTES : MAX_LOGIN_MESSAGE_BYTES;
    return reply;
  }

  #helloReply(body: Buffer): Buffer {
    return this.#front.hello.reply(this.#number, this.#authentication?.handshake(body));
  }

  async #answerHello(command: Command): Promise<void> {
    const { hello } = this.#front;
    const waitMs = hello.awaitMs(command.body);
    if (waitMs !== null) await this.#pause(waitMs);
    let responseTo = command.requestId;
    const streams = command.isExhaustAllowed && waitMs !== null;
    this.#send(this.#helloReply(command.body), responseTo, streams);
    while (streams && !this.#socket.destroyed) {
      responseTo = this.#lastReplyId;
      await this.#pause(waitMs);
      this.#send(hello.reply(this.#number), responseTo, true);
    }
  }

  #answerLegacy(message: Buffer): void {
    const { requestId, body } = readLegacyQuery(message);
    const reply = isHello(fields(body)[0]?.name ?? '')
      ? this.#helloReply(body)
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
