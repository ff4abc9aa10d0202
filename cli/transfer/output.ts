import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { openPrivate } from './private-file.js';

/** Where lines go: a file or stdout, with back pressure. */
export interface Output {
  write(text: string): Promise<void>;
  /** Resolves once everything is written. */
  end(): Promise<void>;
}

/**
 * A file of this user alone (0600), or stdout without one; the file is made with the first text or the end, so that what fails before leaves an
 * older one as it was. A reader that stops reading (`| head`) ends the process quietly.
 */
export function openOutput(file: string | undefined): Output {
  let failure: Error | null = null;
  let opened: Writable | null = null;
  const streamOf = (): Writable => {
    if (opened !== null) return opened;
    opened = file === undefined ? process.stdout : createWriteStream(file, { fd: openPrivate(file, 'w') });
    return opened.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' && file === undefined) process.exit(0);
      failure = error;
    });
  };
  const unlessFailed = (): void => {
    if (failure !== null) throw failure;
  };
  return {
    async write(text) {
      unlessFailed();
      const stream = streamOf();
      if (!stream.write(text)) await once(stream, 'drain');
      unlessFailed();
    },
    async end() {
      if (file !== undefined) {
        const stream = streamOf();
        stream.end();
        if (failure === null) await once(stream, 'finish');
      }
      unlessFailed();
    },
  };
}
