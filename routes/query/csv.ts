import type { JsonValue } from '../../base/json.js';

/** The header line of a CSV answer. RFC 4180. */
export function csvHeader(names: readonly string[]): string {
  return `${names.map(quoted).join(',')}\r\n`;
}

/** A row of cells as JSON text becomes a CSV line: objects as JSON, missing values empty. */
export function csvLine(rowText: string): string {
  const cells = JSON.parse(rowText) as JsonValue[];
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: JsonValue): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return quoted(cell);
  return quoted(typeof cell === 'object' ? JSON.stringify(cell) : String(cell));
}

/** Quotes where a separator, quote or line break would be misread. */
function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
