import { textTable } from '../output.js';
import { writeShown } from '../shown.js';

/** An option of every command that answers something. */
export interface JsonOption {
  readonly json?: true;
}

/** How `--json` is declared. */
export const JSON_FLAG = ['--json', 'as JSON instead of text'] as const;

/** Writes an answer: as JSON where that is wanted, else in the words of `text`. */
export function print({ json }: JsonOption, value: unknown, text: () => string): void {
  const answer = json === true ? JSON.stringify(value, null, 2) : text();
  writeShown(process.stdout, `${answer}\n`);
}

/** Objects as a table of these members; what an object lacks is an empty cell. */
export function tableOf(columns: readonly string[], objects: readonly object[]): string {
  return textTable(
    columns,
    objects.map((object) => columns.map((name) => (object as Readonly<Record<string, unknown>>)[name] ?? '')),
  );
}
