import { createWriteStream, closeSync, fchmodSync, fstatSync, openSync } from 'node:fs';
import { once } from 'node:events';
import { Writable, type Duplex } from 'node:stream';
import Table from 'cli-table3';
import { writeShown, shown } from './shown.js';

/** Where lines go: a file or stdout, with back pressure. */
export interface Output {
  write(text: string): Promise<void>;
  /** Resolves once everything is written. */
  end(): Promise<void>;
}

/**
 * A file of this user alone (0600), or stdout without one; the file is made with the first text or the end, so that what fails before leaves an
 * older one as it was. A reader that stops reading (`| head`) ends the process quietly. `through`: makes what the text goes through, such as what
 * compresses it.
 */
export function openOutput(file: string | undefined, ...through: (() => Duplex)[]): Output {
  let failure: Error | null = null;
  let opened: Writable | null = null;
  const fail = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE' && file === undefined) process.exit(0);
    failure = error;
  };
  const streamOf = (): Writable => {
    if (opened !== null) return opened;
    const end = file === undefined ? process.stdout : createWriteStream(file, { fd: openPrivate(file, 'w') });
    const [first, ...others] = through.map((make) => make());
    opened = first === undefined ? end.on('error', fail) : piped(end, [first, ...others], fail);
    return opened;
  };
  const unlessFailed = (): void => {
    if (failure !== null) throw failure;
  };
  return {
    async write(text) {
      unlessFailed();
      const stream = streamOf();
      const isShown = file === undefined && through.length === 0;
      if (!(isShown ? writeShown(process.stdout, text) : stream.write(text))) await once(stream, 'drain');
      unlessFailed();
    },
    async end() {
      if (file !== undefined || through.length > 0) {
        const stream = streamOf();
        stream.end();
        if (failure === null) await once(stream, 'finish');
      }
      unlessFailed();
    },
  };
}

/** A stream into others, one behind the other, and into `end`; stdout stays open. `fail`: told when one fails. */
function piped(
  end: Writable,
  [first, ...others]: readonly [Duplex, ...Duplex[]],
  fail: (error: Error) => void,
): Writable {
  const last = others.at(-1) ?? first;
  const stream = new Writable({
    decodeStrings: false,
    write(text: string, _, done) {
      if (first.write(text)) done();
      else first.once('drain', done);
    },
    final(done) {
      last.once('end', () => {
        if (end === process.stdout) done();
        else end.end(done);
      });
      first.end();
    },
  });
  // Whoever waits for it waits no longer.
  const failed = (error: Error): void => {
    fail(error);
    stream.destroy(error);
  };
  for (const one of [first, ...others, end]) one.on('error', failed);
  for (const [index, one] of others.entries()) (others[index - 1] ?? first).pipe(one);
  last.pipe(end, { end: false });
  return stream.on('error', () => undefined);
}

/**
 * Opens a file that only this user may read, also one that was there and open to others: what is exported are records
 * of patients. Pipes and devices are taken as they are. Answers the descriptor.
 * @throws the system's error, also when the file belongs to somebody else
 */
export function openPrivate(file: string, flags: 'w' | 'a'): number {
  const descriptor = openSync(file, flags, 0o600);
  try {
    const state = fstatSync(descriptor);
    if (state.isFile() && (state.mode & 0o077) !== 0) fchmodSync(descriptor, 0o600);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

const LONGEST_CELL = 64;
const FRAME = ['top', 'bottom', 'left', 'right'].flatMap((side) => [side, `${side}-mid`]);
const CORNERS = ['top-left', 'top-right', 'bottom-left', 'bottom-right'];
/** No frame: hyphens below the header, two spaces between columns. */
const CHARS = {
  ...Object.fromEntries([...FRAME, ...CORNERS].map((name) => [name, ''])),
  ...{ mid: '-', 'mid-mid': '  ', middle: '  ' },
};
const STYLE = { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': 0 };

/** Rows as a text table with a header line; long cells are cut, numbers stand right. */
export function textTable(columns: readonly string[], rows: readonly (readonly unknown[])[]): string {
  // Below a header without rows the line is the table's lower one.
  const chars = rows.length > 0 ? CHARS : { ...CHARS, bottom: '-', 'bottom-mid': '  ' };
  const table = new Table({ head: [...columns], style: STYLE, chars });
  for (const row of rows) table.push(row.map(cell));
  return table.toString().replace(/(?<! ) +$/gm, '');
}

function cell(value: unknown): Table.CellOptions {
  const text = shown(typeof value === 'string' ? value : JSON.stringify(value));
  const content = text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL - 1)}…` : text;
  return { content, hAlign: typeof value === 'number' ? 'right' : 'left' };
}
