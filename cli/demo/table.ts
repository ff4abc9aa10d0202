/** Rows as a text table with a header line; long cells are cut, numbers stand right. */
export function textTable(columns: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cells = rows.map((row) => row.map(cellText));
  const widths = columns.map((name, index) =>
    Math.max(name.length, ...cells.map((row) => (row[index] ?? '').length)),
  );
  const line = (row: readonly string[], align: (index: number) => boolean): string =>
    row
      .map((cell, index) => pad(cell, widths[index] ?? 0, align(index)))
      .join('  ')
      .trimEnd();
  const isNumber = (row: readonly unknown[], index: number): boolean => typeof row[index] === 'number';
  return [
    line(columns, () => false),
    widths.map((width) => '-'.repeat(width)).join('  '),
    ...cells.map((row, position) => line(row, (index) => isNumber(rows[position] ?? [], index))),
  ].join('\n');
}

const LONGEST_CELL = 64;

function cellText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL - 1)}…` : text;
}

function pad(text: string, width: number, right: boolean): string {
  return right ? text.padStart(width) : text.padEnd(width);
}
