import { CdrError } from '../../openehr/base/errors.js';
import type { JsonValue } from '../../openehr/base/json.js';
import { inflated } from '../inflated.js';
import { decodedCell } from '../version-text.js';

/** Characters of the whole objects of one row. */
export const MAX_ROW_LENGTH = 128 * 1024 * 1024;
/** Characters that are decoded at a time: the rows of one step of the database may become a hundred times as long. */
const DECODED_AT_ONCE = 8 * 1024 * 1024;

/** Cells of a row as a pipeline gives them. */
interface Cells {
  readonly row: readonly JsonValue[];
}

/**
 * The same rows with the texts of VERSIONs as text, some at a time.
 * @throws unprocessable for a row that is longer than `MAX_ROW_LENGTH`; Error of zlib
 */
export function* decodedRows<Row extends Cells>(rows: readonly Row[]): Generator<readonly Row[], void> {
  let batch: Row[] = [];
  let length = 0;
  for (const found of rows) {
    const texts = new RowTexts();
    const row = found.row.map((cell) => decodedCell(cell, (bytes) => texts.textOf(bytes)) as JsonValue);
    batch.push({ ...found, row });
    length += texts.length;
    if (length < DECODED_AT_ONCE) continue;
    yield batch;
    [batch, length] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** The texts of one row: columns that are the same object have one text together. */
class RowTexts {
  length = 0;
  readonly #known: (readonly [bytes: Uint8Array, text: string])[] = [];

  textOf(bytes: Uint8Array): string {
    const same = this.#known.find(([known]) => Buffer.compare(known, bytes) === 0);
    const text = same === undefined ? inflated(bytes) : same[1];
    this.length += text.length;
    if (this.length > MAX_ROW_LENGTH)
      throw new CdrError(
        'unprocessable',
        `a row is too large for one answer, more than ${MAX_ROW_LENGTH} characters: select fewer whole objects`,
      );
    if (same === undefined) this.#known.push([bytes, text]);
    return text;
  }
}
