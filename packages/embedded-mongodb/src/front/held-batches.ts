/** Replies that wait for their client: the first of them in memory, what is more in a file without a name. */
import { randomUUID } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Of one result in memory, so that memory stays flat however large it is. */
const MEMORY_BYTES = 32 * 1024 * 1024;
const PRIVATE = 0o600;

/** Where in the file a reply stands. */
interface Place {
  readonly at: number;
  readonly length: number;
}

/** A queue of replies. Its calls come one after another. */
export class HeldBatches {
  readonly #replies: (Buffer | Place)[] = [];
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;
  #file: FileHandle | null = null;
  #end = 0;

  /** `onIdle` is called when nothing was added or taken for `idleMs`. */
  constructor(idleMs: number, onIdle: () => void) {
    this.#timer = setTimeout(onIdle, idleMs).unref();
  }

  /** Whether all have been taken. */
  get isEmpty(): boolean {
    return this.#replies.length === 0;
  }

  /** Appends one. @throws Error when the disk is full */
  async add(reply: Buffer): Promise<void> {
    this.#timer.refresh();
    if (this.#bytes + reply.length <= MEMORY_BYTES) {
      this.#bytes += reply.length;
      this.#replies.push(reply);
      return;
    }
    this.#file ??= await namelessFile();
    const place = { at: this.#end, length: reply.length };
    await this.#file.write(reply, 0, reply.length, place.at);
    this.#end += reply.length;
    this.#replies.push(place);
  }

  /** Takes the first one. @throws Error when there is none, or the file cannot be read */
  async take(): Promise<Buffer> {
    this.#timer.refresh();
    const first = this.#replies.shift();
    if (first === undefined) throw new Error('no reply is held');
    if (Buffer.isBuffer(first)) {
      this.#bytes -= first.length;
      return first;
    }
    const reply = Buffer.allocUnsafe(first.length);
    const { bytesRead } = (await this.#file?.read(reply, 0, first.length, first.at)) ?? { bytesRead: 0 };
    if (bytesRead !== first.length) throw new Error('a held reply cannot be read');
    return reply;
  }

  /** Drops what is left, the file too. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#replies.length = 0;
    await this.#file?.close();
    this.#file = null;
  }
}

/** Of this user alone, and gone with the process, however that ends. */
async function namelessFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `mongodb-rows-${randomUUID()}`);
  const file = await open(path, 'wx+', PRIVATE);
  await unlink(path);
  return file;
}
