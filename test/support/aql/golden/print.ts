/** Widest line; what is longer is broken into its members. */
const WIDTH = 120;

/** What is printed as it stands. */
export class Text {
  constructor(readonly text: string) {}
}

/** A value as JSON without needless quotes: on one line where it fits, else one member a line. */
export function print(value: unknown, indent = ''): string {
  const line = onOneLine(value);
  if (line.length + indent.length <= WIDTH || typeof value !== 'object' || value === null) return line;
  if (value instanceof Text || value instanceof Date) return line;
  const inner = `${indent} `;
  const members = Array.isArray(value)
    ? value.map((member) => `${inner}${print(member, inner)}`)
    : Object.entries(value).map(([key, member]) => `${inner}${keyText(key)}: ${print(member, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open ?? ''}\n${members.join(',\n')}\n${indent}${close ?? ''}`;
}

function onOneLine(value: unknown): string {
  if (value instanceof Text) return value.text;
  if (value instanceof Date) return `Date(${value.toISOString()})`;
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${keyText(key)}: ${onOneLine(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function keyText(key: string): string {
  return /^[$\w]+$/.test(key) ? key : JSON.stringify(key);
}
