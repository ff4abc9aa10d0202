/** A query that was run in this tab. */
export interface PastQuery {
  readonly q: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Queries that are kept. */
const KEPT = 30;
/** Of each, characters that the list shows. */
const SHOWN = 80;

/** The history with one more query, newest first; one that is run again moves up. */
export function withRun(history: readonly PastQuery[], q: string, at: number): readonly PastQuery[] {
  return [{ q, at }, ...history.filter((past) => past.q !== q)].slice(0, KEPT);
}

/** A query in one line. */
export function oneLine(q: string): string {
  const line = q.replaceAll(/\s+/g, ' ').trim();
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}
