import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseEhrId } from '../../openehr/base/object-version-id.js';
import { textOfUtf8 } from '../../openehr/base/utf8.js';

/** One record as it stands in the source. */
export interface SourceRecord {
  /** Line number, or number of the file; from 1. */
  readonly position: number;
  /** The file below the imported folder; null: a line. */
  readonly file: string | null;
  /** null: it is not UTF-8. */
  readonly text: string | null;
  /** Bytes of a line with its end, 1 for a file. */
  readonly size: number;
  /** EHR named by the folder the file lies in. */
  readonly ehrId: string | null;
}

/** What is to be imported: NDJSON (a file, or `-` for stdin) or a folder of JSON files. */
export interface ImportSource {
  readonly isFolder: boolean;
  /** Bytes of the file, or files of the folder; 0: not known. */
  readonly size: number;
  records(): AsyncIterable<SourceRecord>;
}

/** Opens a source. @throws Error when there is nothing to read */
export function openSource(path: string): ImportSource {
  if (path === '-')
    return { isFolder: false, size: 0, records: () => lines(process.stdin.setEncoding('latin1')) };
  const state = statSync(path);
  if (!state.isDirectory())
    return { isFolder: false, size: state.size, records: () => lines(createReadStream(path, 'latin1')) };
  const files = jsonFiles(path);
  return { isFolder: true, size: files.length, records: () => contents(path, files) };
}

/** From a stream of one character a byte. */
async function* lines(input: NodeJS.ReadableStream): AsyncGenerator<SourceRecord> {
  let position = 0;
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    position += 1;
    const text = textOfUtf8(Buffer.from(line, 'latin1'));
    if (text?.trim() !== '') yield { position, file: null, text, size: line.length + 1, ehrId: null };
  }
}

/** All `.json` files below a folder, in an order that is the same every time. */
function jsonFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return jsonFiles(path);
      return entry.isFile() && entry.name.endsWith('.json') ? [path] : [];
    });
}

async function* contents(folder: string, files: readonly string[]): AsyncGenerator<SourceRecord> {
  for (const [index, path] of files.entries()) {
    const ehrId = parseEhrId(basename(dirname(resolve(path))));
    await Promise.resolve();
    yield {
      position: index + 1,
      file: relative(folder, path),
      text: textOfUtf8(readFileSync(path)),
      size: 1,
      ehrId,
    };
  }
}
