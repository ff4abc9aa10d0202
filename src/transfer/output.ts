import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Where lines go: a file or stdout, with back pressure. */
export interface Output {
  write(text: string): Promise<void>;
  /** Resolves once everything is written. */
  end(): Promise<void>;
}

/** Opens the file, or stdout without one. A reader that stops reading (`| head`) ends the process quietly. */
export function openOutput(file: string | undefined): Output {
  const stream: Writable = file === undefined ? process.stdout : createWriteStream(file);
  let failure: Error | null = null;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' && file === undefined) process.exit(0);
    failure = error;
  });
  const unlessFailed = (): void => {
    if (failure !== null) throw failure;
  };
  return {
    async write(text) {
      unlessFailed();
      if (!stream.write(text)) await once(stream, 'drain');
      unlessFailed();
    },
    async end() {
      if (file !== undefined) {
        stream.end();
        if (failure === null) await once(stream, 'finish');
      }
      unlessFailed();
    },
  };
}
