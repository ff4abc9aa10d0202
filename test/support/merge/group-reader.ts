import type { Random } from '../random.js';
import { V1, type Json } from '../resources.js';
import type { PairWriter } from './pair-writer.js';
import { heldBy, type Held, type PairState, type Side } from './recorded.js';

/** One kind of question, and what its answer is in a state, as one text. */
interface Question {
  readonly name: string;
  readonly ask: () => Promise<Answer>;
  readonly of: (state: PairState) => string;
}

/** As one text; of a stream that says that each EHR is of a moment of its own, the rows of each. */
type Answer = string | { readonly ofEach: ReadonlyMap<string, string> };

const SIDES = ['source', 'target'] as const;
const MERGED = 'merged';
/** A stream that ended because of what was changed meanwhile. */
const ENDED = 'ended';
/** 503: nothing was said of any moment. */
const BUSY = 'busy';
const NONE = 'none';
/** COMPOSITIONs of which pairs are made, and changes after which there are too many versions to evaluate. */
const MOST_PAIRED = 60;
const MOST_EVALUATED = 300;
const COMPOSITIONS = 'FROM EHR e CONTAINS COMPOSITION c';

/** An answer that is of no moment between question and answer. */
export interface Wrong {
  readonly question: string;
  readonly found: string;
  readonly possible: readonly string[];
}

/** Asks about a pair in all ways. */
export class PairReader {
  constructor(
    private readonly urls: readonly string[],
    private readonly random: Random,
    private readonly pair: PairWriter,
  ) {}

  /** Asks one question; null: the answer is of a moment. */
  async ask(): Promise<Wrong | null> {
    const { name, ask, of } = this.random.pick(this.#questions());
    const asked = performance.now();
    const found = await ask();
    const states = this.pair.recorded.between(asked, performance.now());
    if (typeof found !== 'string') return wrongOfEach(name, found.ofEach, states, this.pair.ehrIds);
    const possible = states.map(of);
    return found === ENDED || found === BUSY || possible.includes(found)
      ? null
      : { question: name, found, possible: [...new Set(possible)] };
  }

  get #url(): string {
    return this.random.pick(this.urls);
  }

  #questions(): Question[] {
    const side = this.random.pick(SIDES);
    const ehrId = this.pair.ehrIds[side];
    const id = this.random.pick([...this.pair.recorded.now.held.keys()]);
    return [
      ...this.#resources(side, ehrId, id),
      ...this.#queries(side, ehrId),
      ...this.#ofBoth(),
      ...this.#pairs(side, ehrId),
      ...this.#evaluated(side, ehrId),
    ];
  }

  #resources(side: Side, ehrId: string, id: string): Question[] {
    const path = `${V1}/ehr/${ehrId}`;
    const lists = (text: string, member: string): string =>
      sorted(((JSON.parse(text) as Json)[member] as Json[]).map((ref) => String(ref.id.value)));
    return [
      this.#get(
        `EHR of ${side}`,
        path,
        () => 'there',
        whole(side, () => 'there'),
      ),
      this.#get(
        `include of ${side}`,
        `${path}?include=compositions,contributions,ehr_status`,
        (text) => lists(text, 'compositions'),
        whole(side, (held) => sorted(held.map(([one]) => one))),
      ),
      this.#get(
        `tags of ${side}`,
        `${path}/tags`,
        (text) => sorted((JSON.parse(text) as Json[]).map((tag) => String(tag.target.value))),
        whole(side, (held) => sorted(held.flatMap(([one, { isTagged }]) => (isTagged ? [one] : [])))),
      ),
      this.#get(
        `COMPOSITION of ${side}`,
        `${path}/composition/${id}`,
        (text) => String((JSON.parse(text) as Json).uid.value),
        part(side, id, ({ uid }) => uid),
      ),
      this.#get(
        `history of ${side}`,
        `${path}/versioned_composition/${id}/revision_history`,
        (text) => String(((JSON.parse(text) as Json).items as Json[]).at(-1)!.version_id.value),
        part(side, id, ({ uid }) => uid),
      ),
    ];
  }

  #queries(side: Side, ehrId: string): Question[] {
    const uids = whole(side, (held) => sorted(held.map(([, { uid }]) => uid)));
    const select = `SELECT c/uid/value ${COMPOSITIONS}`;
    return [
      this.#query(`rows of ${side}`, select, { ehr_id: ehrId }, uids),
      this.#query(`stream of ${side}`, select, { ehr_id: ehrId, accept: NDJSON }, uids),
      this.#query(`CSV of ${side}`, select, { ehr_id: ehrId, accept: CSV }, uids),
      this.#query(`ordered rows of ${side}`, `${select} ORDER BY c/uid/value`, { ehr_id: ehrId }, uids),
      this.#query(
        `count of ${side}`,
        `SELECT COUNT(*) ${COMPOSITIONS}`,
        { ehr_id: ehrId },
        whole(side, (held) => String(held.length)),
      ),
    ];
  }

  #ofBoth(): Question[] {
    const { source, target } = this.pair.ehrIds;
    const where = `WHERE e/ehr_id/value matches {'${source}','${target}'}`;
    const all = (cells: (uid: string, ehrId: string) => string) => (state: PairState) =>
      sorted(
        SIDES.flatMap((side) =>
          (heldBy(side, state) ?? []).map(([, { uid }]) => cells(uid, this.pair.ehrIds[side])),
        ),
      );
    const select = `SELECT c/uid/value, e/ehr_id/value ${COMPOSITIONS} ${where}`;
    const rows = all((uid, ehrId) => `${uid},${ehrId}`);
    return [
      this.#query('rows of both', select, {}, rows),
      this.#query('stream of both', select, { accept: NDJSON }, rows),
      this.#query('ordered rows of both', `${select} ORDER BY c/uid/value LIMIT 1000`, {}, rows),
      this.#query(`groups of both`, `SELECT c/name/value, COUNT(*) ${COMPOSITIONS} ${where}`, {}, (state) =>
        state.held.size === 0 ? '' : `Minimal,${state.held.size}`,
      ),
    ];
  }

  /** Streams of more rows than one command of the database gives, while that is not too many. */
  #pairs(side: Side, ehrId: string): Question[] {
    const { ehrIds, recorded } = this.pair;
    if (recorded.now.held.size > MOST_PAIRED) return [];
    const select = 'SELECT c/uid/value, d/uid/value, e/ehr_id/value';
    const from = 'FROM EHR e CONTAINS (COMPOSITION c AND COMPOSITION d)';
    const where = `WHERE e/ehr_id/value matches {'${ehrIds.source}','${ehrIds.target}'}`;
    return [
      this.#query(
        `stream of pairs of ${side}`,
        `${select} ${from}`,
        { ehr_id: ehrId, accept: NDJSON },
        (state) => (heldBy(side, state) === null ? MERGED : sorted(pairsOf(side, ehrId, state))),
      ),
      this.#query('stream of pairs of both', `${select} ${from} ${where}`, { accept: NDJSON }, (state) =>
        sorted(SIDES.flatMap((each) => pairsOf(each, ehrIds[each], state))),
      ),
    ];
  }

  /** Queries of whole objects, which the evaluator answers by all versions, while these are not too many. */
  #evaluated(side: Side, ehrId: string): Question[] {
    const { ehrIds, recorded } = this.pair;
    if (recorded.changes > MOST_EVALUATED) return [];
    const select = 'SELECT c/uid/value, e/ehr_id/value, COUNT(DISTINCT c/content)';
    const where = `WHERE e/ehr_id/value matches {'${ehrIds.source}','${ehrIds.target}'}`;
    const of = (each: Side, state: PairState): string[] =>
      rowsOf(each, ehrIds[each], state).map((row) => `${row},1`);
    return [
      this.#query(`contents of ${side}`, `${select} ${COMPOSITIONS}`, { ehr_id: ehrId }, (state) =>
        heldBy(side, state) === null ? MERGED : sorted(of(side, state)),
      ),
      this.#query('contents of both', `${select} ${COMPOSITIONS} ${where}`, {}, (state) =>
        sorted(SIDES.flatMap((each) => of(each, state))),
      ),
    ];
  }

  #get(
    name: string,
    path: string,
    read: (text: string) => string,
    of: (state: PairState) => string,
  ): Question {
    return { name, of, ask: async () => answered(await fetch(`${this.#url}${path}`), read) };
  }

  #query(
    name: string,
    q: string,
    { accept = 'application/json', ...further }: { readonly ehr_id?: string; readonly accept?: string },
    of: (state: PairState) => string,
  ): Question {
    const headers = { 'Content-Type': 'application/json', Accept: accept };
    const body = JSON.stringify({ q, ...further });
    const ask = async (): Promise<Answer> => {
      try {
        const response = await fetch(`${this.#url}${V1}/query/aql`, { method: 'POST', headers, body });
        return await answered(response, (text) => rowsIn(text, accept));
      } catch (error) {
        // What ends in the middle was never given as whole. fetch is of another realm than this file's TypeError.
        if (accept !== 'application/json' && (error as Error).name === 'TypeError') return ENDED;
        throw error;
      }
    };
    return { name, of, ask };
  }
}

const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';

/** The rows of an answer as one text; where each EHR, whose id ends a row, is of a moment of its own, those of each. */
function rowsIn(text: string, accept: string): Answer {
  if (accept === 'application/json') return sorted((JSON.parse(text) as { rows: Json[] }).rows.map(String));
  const [head = '', ...lines] = text.trimEnd().split(/\r?\n/);
  if (accept === CSV) return sorted(lines);
  const rows = lines.map((line) => JSON.parse(line) as string[]);
  if (!head.includes('"_snapshot":false')) return sorted(rows.map(String));
  const ofEach = new Map<string, string[]>();
  for (const row of rows) ofEach.set(row.at(-1)!, [...(ofEach.get(row.at(-1)!) ?? []), row.join()]);
  return { ofEach: new Map([...ofEach].map(([ehrId, own]) => [ehrId, sorted(own)])) };
}

/** What of a stream whose EHRs are each of a moment of its own is of none. */
function wrongOfEach(
  question: string,
  ofEach: ReadonlyMap<string, string>,
  states: readonly PairState[],
  ehrIds: Readonly<Record<Side, string>>,
): Wrong | null {
  for (const side of SIDES) {
    const of = question.includes('pairs') ? pairsOf : rowsOf;
    const possible = states.map((state) => sorted(of(side, ehrIds[side], state)));
    const found = ofEach.get(ehrIds[side]) ?? '';
    if (!possible.includes(found)) return { question, found, possible: [...new Set(possible)] };
  }
  return null;
}

function rowsOf(side: Side, ehrId: string, state: PairState): string[] {
  return (heldBy(side, state) ?? []).map(([, { uid }]) => `${uid},${ehrId}`);
}

function pairsOf(side: Side, ehrId: string, state: PairState): string[] {
  const uids = (heldBy(side, state) ?? []).map(([, { uid }]) => uid);
  return uids.flatMap((one) => uids.map((other) => `${one},${other},${ehrId}`));
}

async function answered(response: Response, read: (text: string) => Answer): Promise<Answer> {
  const text = await response.text();
  if (response.status === 200) return read(text);
  if (response.status === 503) return BUSY;
  if (response.status !== 404) return `${response.status} ${text}`;
  return response.headers.get('Link')?.includes('successor-version') === true ? MERGED : NONE;
}

function whole(side: Side, of: (held: [string, Held][]) => string): (state: PairState) => string {
  return (state) => {
    const held = heldBy(side, state);
    return held === null ? MERGED : of(held);
  };
}

function part(side: Side, id: string, of: (one: Held) => string): (state: PairState) => string {
  return whole(side, (held) => {
    const [, one] = held.find(([each]) => each === id) ?? [];
    return one === undefined ? NONE : of(one);
  });
}

function sorted(texts: readonly string[]): string {
  return texts.toSorted().join(' ');
}
