/** A record that was opened in this tab. */
export interface OpenedRecord {
  readonly ehrId: string;
  /** What it is called. */
  readonly name: string;
}

/** As many as one remembers. */
const MOST = 8;

/** The records with one that is opened now, newest first, none twice. */
export function withOpened(before: readonly OpenedRecord[], opened: OpenedRecord): readonly OpenedRecord[] {
  return [opened, ...before.filter(({ ehrId }) => ehrId !== opened.ehrId)].slice(0, MOST);
}
