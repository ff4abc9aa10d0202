import Table from 'cli-table3';

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
  return table.toString().replace(/ +$/gm, '');
}

function cell(value: unknown): Table.CellOptions {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const content = text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL - 1)}…` : text;
  return { content, hAlign: typeof value === 'number' ? 'right' : 'left' };
}
