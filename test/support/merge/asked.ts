import { V1 } from '../resources.js';
import { ADMIN } from '../tokens.js';
import { SIDES, type GroupState, type Side } from './recorded.js';
import type { GroupIds } from './group-stored.js';

/** One kind of question, and what its answer is in a state, as one text. */
export interface Question {
  readonly name: string;
  readonly ask: () => Promise<Answer>;
  readonly of: (state: GroupState) => string;
}

/** As one text; or in parts, each of a moment of its own, of an answer that says that it is. */
export type Answer = string | readonly Part[];

/** Something that is answered, and what it is in a state. */
export interface Part {
  readonly found: string;
  readonly of: (state: GroupState) => string;
}

export const MERGED = 'merged';
/** An answer that broke off because of what was changed meanwhile: it was never given as whole. */
export const ENDED = 'ended';
/** 503: nothing was said of any moment. */
export const BUSY = 'busy';
export const NONE = 'none';
/** A logical deletion. */
export const DELETED = 'deleted';

export const NDJSON = 'application/x-ndjson';
export const CSV = 'text/csv';
const JSON_TYPE = 'application/json';

/** Where and of what a group is asked. */
export interface Asked {
  /** A server for this question. */
  readonly url: string;
  readonly ehrIds: GroupIds;
  readonly now: GroupState;
  readonly changes: number;
}

/** An answer of `GET path`; `read` makes the text of a body. */
export async function got(url: string, path: string, read: (text: string) => string): Promise<Answer> {
  const isOfAdministrator = path.startsWith('/rest/admin');
  return broken(async () =>
    answered(
      await fetch(`${url}${path}`, { headers: isOfAdministrator ? { Authorization: ADMIN } : {} }),
      read,
    ),
  );
}

interface Query {
  readonly q: string;
  readonly ehr_id?: string;
  readonly as_of?: string;
}

/** The rows of an EHR in a state. */
export type RowsOfEach = (side: Side, state: GroupState) => readonly string[];

/** What of a stream whose EHRs are each of a moment of its own these hold. */
interface Streams {
  readonly accept: string;
  /** Of rows that end in the id of their EHR; absent: all of them are of one moment. */
  readonly ofEach?: RowsOfEach;
}

/** The rows that a query is answered with. */
export async function answerOf(
  { url, ehrIds }: Asked,
  query: Query,
  { accept, ofEach }: Streams = { accept: JSON_TYPE },
): Promise<Answer> {
  const headers = { 'Content-Type': JSON_TYPE, Accept: accept };
  const init = { method: 'POST', headers, body: JSON.stringify(query) };
  return broken(async () =>
    answered(await fetch(`${url}${V1}/query/aql`, init), (text) => {
      if (accept === JSON_TYPE) return sorted((JSON.parse(text) as { rows: unknown[] }).rows.map(String));
      const [head = '', ...lines] = text.trimEnd().split(/\r?\n/);
      if (accept === CSV) return sorted(lines);
      const rows = lines.map((line) => (JSON.parse(line) as unknown[]).map(String));
      if (ofEach === undefined || !head.includes('"_snapshot":false')) return sorted(rows.map(String));
      return partsOf(rows, ehrIds, ofEach);
    }),
  );
}

async function broken(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    // fetch is of another realm than this file's TypeError.
    if ((error as Error).name === 'TypeError') return ENDED;
    throw error;
  }
}

async function answered(response: Response, read: (text: string) => Answer): Promise<Answer> {
  const text = await response.text();
  if (response.status === 200) return read(text);
  if (response.status === 204) return DELETED;
  if (response.status === 503) return BUSY;
  if (response.status !== 404) return `${response.status} ${text}`;
  return response.headers.get('Link')?.includes('successor-version') === true ? MERGED : NONE;
}

/** The rows of each EHR, and that none stands there twice, as what went from one EHR to another might. */
function partsOf(rows: readonly string[][], ehrIds: GroupIds, ofEach: RowsOfEach): Part[] {
  const ofSides = SIDES.map((side) => ({
    found: sorted(rows.filter((row) => row.at(-1) === ehrIds[side]).map(String)),
    of: (state: GroupState) => sorted(ofEach(side, state)),
  }));
  const twice = rows.map((row) => row.slice(0, -1).join()).filter((row, at, all) => all.indexOf(row) < at);
  return [...ofSides, { found: `twice: ${sorted(twice)}`, of: () => 'twice: ' }];
}

/** Texts in an order that does not depend on that of the answer. */
export function sorted(texts: readonly string[]): string {
  return texts.toSorted().join(' ');
}
