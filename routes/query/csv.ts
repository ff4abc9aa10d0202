import { stringify, type Options } from 'csv-stringify/sync';
import type { JsonValue } from '../../openehr/base/json.js';

/** A sheet opens a text that starts like a formula as text, by an apostrophe before it. RFC 4180 else. */
const OPTIONS: Options = {
  escape_formulas: true,
  record_delimiter: 'windows',
  quoted_match: /[\r\n]/,
  cast: { boolean: String },
};
const BYTE_ORDER_MARK = '\ufeff';

/** The header line of a CSV answer; `bom`: after a byte order mark, by which Excel knows UTF-8. */
export function csvHeader(names: readonly string[], bom: boolean): string {
  return (bom ? BYTE_ORDER_MARK : '') + csvRecord(names);
}

/** A row of cells as JSON text becomes a CSV line: objects as JSON, missing values empty. */
export function csvLine(rowText: string): string {
  return csvRecord(JSON.parse(rowText) as JsonValue[]);
}

function csvRecord(cells: readonly JsonValue[]): string {
  return stringify([cells], OPTIONS);
}
