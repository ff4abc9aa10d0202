import { createHash } from 'node:crypto';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** A line of an export with other ids, the same ones for each id and number, and another subject than `subject`. */
export function renamed(line: string, index: number, subject = 'p'): string {
  const other = (id: string): string => {
    const hex = createHash('sha256').update(`${index} ${id}`).digest('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  };
  return line.replaceAll(UUID, other).replaceAll(`"value":"${subject}"`, `"value":"${subject}-${index}"`);
}

/** Sections of EHRs in lines of an export: each from its `ehr` line on. */
export function sections(all: readonly string[]): string[][] {
  const found: string[][] = [];
  for (const line of all) {
    if (line.startsWith('{"kind":"ehr"')) found.push([]);
    if (!line.startsWith('{"kind":"end"')) found.at(-1)?.push(line);
  }
  return found;
}
