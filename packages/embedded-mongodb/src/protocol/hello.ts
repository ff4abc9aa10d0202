/** The handshake: the front presents itself as the primary of a replica set with one member. */
import { randomBytes } from 'node:crypto';
import { asBigInt, asDocument, asNumber, BSON, fieldOf, valueBytes } from './bson-slice.js';
import { newObjectId, RawValue, type BsonValue } from './bson-write.js';
import { okReply } from './replies.js';

/** The engine refuses a command of more than 33,619,968 bytes; clients split what is larger than `hello` says. */
const MAX_ENGINE_MESSAGE_BYTES = 32 * 1024 * 1024;

/** Name of the replica set. */
export const REPLICA_SET = 'rs0';

/** What the engine says of itself. */
export interface EngineFacts {
  readonly version: string;
  readonly minWireVersion: number;
  readonly maxWireVersion: number;
}

/** Answers `hello`, `isMaster` and the few commands that ask about the replica set. */
export class Hello {
  readonly #processId = newObjectId();
  readonly #electionId = new RawValue(BSON.objectId, Buffer.from('7fffffff0000000000000001', 'hex'));
  readonly #startedAt = new Date();

  /** `address`: `host:port` or path of a socket that clients connect to. */
  constructor(
    readonly address: string,
    readonly facts: EngineFacts,
  ) {}

  /** The hello document for one connection; `login`: what it answers about logging in. */
  reply(connectionId: number, login: Readonly<Record<string, BsonValue | undefined>> = {}): Buffer {
    return okReply({
      helloOk: true,
      ismaster: true,
      isWritablePrimary: true,
      secondary: false,
      setName: REPLICA_SET,
      setVersion: 1,
      hosts: [this.address],
      primary: this.address,
      me: this.address,
      electionId: this.#electionId,
      lastWrite: {
        opTime: { ts: timestamp(1), t: 1n },
        lastWriteDate: this.#startedAt,
        majorityOpTime: { ts: timestamp(1), t: 1n },
        majorityWriteDate: this.#startedAt,
      },
      topologyVersion: { processId: this.#processId, counter: 0n },
      maxBsonObjectSize: 16_777_216,
      maxMessageSizeBytes: MAX_ENGINE_MESSAGE_BYTES,
      maxWriteBatchSize: 100_000,
      localTime: new Date(),
      logicalSessionTimeoutMinutes: 30,
      connectionId,
      minWireVersion: this.facts.minWireVersion,
      maxWireVersion: this.facts.maxWireVersion,
      readOnly: false,
      // Our own: a snapshot read outside of transactions is taken whole, and others wait for it.
      holdsSnapshots: true,
      ...login,
    });
  }

  /** How long a hello is to wait: null when it is to be answered at once. */
  awaitMs(body: Buffer): number | null {
    const known = asDocument(fieldOf(body, 'topologyVersion'));
    const waitMs = asNumber(fieldOf(body, 'maxAwaitTimeMS'));
    if (known === undefined || waitMs === undefined) return null;
    const processId = fieldOf(known, 'processId');
    const isSame =
      processId !== undefined &&
      valueBytes(processId).equals(this.#processId.bytes) &&
      asBigInt(fieldOf(known, 'counter')) === 0n;
    return isSame ? waitMs : null;
  }

  /** Answer of a small command about sessions or the replica set; null when `name` is none of these. */
  small(name: string): Buffer | null {
    switch (name) {
      case 'ping':
      case 'refreshSessions':
        return okReply();
      case 'startSession':
        return okReply({ id: { id: newUuid() }, timeoutMinutes: 30 });
      case 'connectionStatus':
        return okReply({ authInfo: { authenticatedUsers: [], authenticatedUserRoles: [] } });
      case 'replSetGetStatus':
        return this.#status();
      case 'replSetGetConfig':
        return okReply({
          config: { _id: REPLICA_SET, version: 1, members: [{ _id: 0, host: this.address, priority: 1 }] },
        });
      default:
        return null;
    }
  }

  #status(): Buffer {
    const member = { _id: 0, name: this.address, health: 1, state: 1, stateStr: 'PRIMARY', self: true };
    return okReply({ set: REPLICA_SET, date: new Date(), myState: 1, term: 1n, members: [member] });
  }
}

function timestamp(seconds: number): RawValue {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(1, 0);
  bytes.writeUInt32LE(seconds, 4);
  return new RawValue(BSON.timestamp, bytes);
}

function newUuid(): RawValue {
  const id = randomBytes(16);
  id[6] = ((id[6] ?? 0) & 0x0f) | 0x40;
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
  return new RawValue(BSON.binary, Buffer.concat([Buffer.from([16, 0, 0, 0, 4]), id]));
}

/** Whether a command is the handshake, under its present or an older name. */
export function isHello(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'hello' || lower === 'ismaster';
}
