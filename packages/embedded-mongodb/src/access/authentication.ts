/** Logging in over one connection, and refusing everything before that. */
import { asDocument, asNumber, asText, BSON, fieldOf, isSet, valueBytes } from '../protocol/bson-slice.js';
import { RawValue, type BsonValue } from '../protocol/bson-write.js';
import type { Command } from '../protocol/command.js';
import { CommandError, errorReply, okReply } from '../protocol/replies.js';
import { MECHANISM, ScramConversation, ScramError, type ScramCredentials } from './scram.js';

/** Failed logins after which a connection is closed. */
export const MAX_LOGIN_ATTEMPTS = 3;
const CONVERSATION_ID = 1;
const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;

type ReplyFields = Readonly<Record<string, BsonValue>>;

/** The state of one connection. */
export class Authentication {
  readonly #credentials: ScramCredentials;
  readonly #log: (line: string) => void;
  #conversation: ScramConversation | null = null;
  /** Whether the client asked to leave out the last, empty exchange. */
  #isShort = false;
  #isDone = false;
  #failures = 0;

  /** `credentials`: those of the only user. */
  constructor(credentials: ScramCredentials, log: (line: string) => void) {
    this.#credentials = credentials;
    this.#log = log;
  }

  /** Whether the client has proven that it knows the password. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Whether too many logins failed: the connection is to be closed. */
  get isExhausted(): boolean {
    return this.#failures >= MAX_LOGIN_ATTEMPTS;
  }

  /** The reply to any command but the handshake; null for one that may go on to the front. */
  answer(command: Command): Buffer | null {
    switch (command.name) {
      case 'saslStart':
        return this.#attempt(() => this.#start(command.body, command.database));
      case 'saslContinue':
        return this.#attempt(() => this.#continue(command.body));
      case 'logout':
        this.#isDone = false;
        return okReply();
      default: {
        if (this.#isDone) return null;
        return errorReply(new CommandError(UNAUTHORIZED, `Command ${command.name} requires authentication`));
      }
    }
  }

  /** What the handshake answers about logging in: the mechanisms, and the first step when it comes with it. */
  handshake(body: Buffer): Readonly<Record<string, BsonValue | undefined>> {
    const asksMechanisms = fieldOf(body, 'saslSupportedMechs') !== undefined;
    return {
      saslSupportedMechs: asksMechanisms ? [MECHANISM] : undefined,
      speculativeAuthenticate: this.#speculative(asDocument(fieldOf(body, 'speculativeAuthenticate'))),
    };
  }

  /** A first step that cannot be taken is left out of the handshake; the client then begins anew and gets the reason. */
  #speculative(start: Buffer | undefined): ReplyFields | undefined {
    if (start === undefined || fieldOf(start, 'saslStart') === undefined) return undefined;
    try {
      return this.#start(start, asText(fieldOf(start, 'db')) ?? '');
    } catch (error) {
      if (error instanceof ScramError) return undefined;
      throw error;
    }
  }

  #attempt(step: () => ReplyFields): Buffer {
    try {
      return okReply(step());
    } catch (error) {
      if (!(error instanceof ScramError)) throw error;
      this.#conversation = null;
      this.#failures += 1;
      this.#log(`warning: a login was refused: ${error.message}`);
      return errorReply(new CommandError(AUTHENTICATION_FAILED, 'Authentication failed.'));
    }
  }

  #start(body: Buffer, database: string): ReplyFields {
    this.#conversation = null;
    if (asText(fieldOf(body, 'mechanism')) !== MECHANISM)
      throw new ScramError(`the mechanism is not ${MECHANISM}`);
    if (database !== 'admin') throw new ScramError('the database of the user is admin');
    const conversation = new ScramConversation(this.#credentials);
    const reply = conversation.first(payloadOf(body));
    const options = asDocument(fieldOf(body, 'options'));
    this.#isShort = options !== undefined && isSet(fieldOf(options, 'skipEmptyExchange'));
    this.#conversation = conversation;
    return step(reply, false);
  }

  #continue(body: Buffer): ReplyFields {
    const conversation = this.#conversation;
    if (conversation === null || asNumber(fieldOf(body, 'conversationId')) !== CONVERSATION_ID) {
      throw new ScramError('there is no login that it belongs to');
    }
    const payload = payloadOf(body);
    if (this.#isDone && payload === '') {
      this.#conversation = null;
      return step('', true);
    }
    const reply = conversation.final(payload);
    this.#isDone = true;
    if (this.#isShort) this.#conversation = null;
    return step(reply, this.#isShort);
  }
}

function step(payload: string, done: boolean): ReplyFields {
  return { conversationId: CONVERSATION_ID, done, payload: binary(Buffer.from(payload)) };
}

function payloadOf(body: Buffer): string {
  const payload = fieldOf(body, 'payload');
  if (payload?.type !== BSON.binary) throw new ScramError('the payload is not binary');
  return valueBytes(payload).toString('utf8', 5);
}

function binary(content: Buffer): RawValue {
  const head = Buffer.alloc(5);
  head.writeInt32LE(content.length, 0);
  return new RawValue(BSON.binary, Buffer.concat([head, content]));
}
