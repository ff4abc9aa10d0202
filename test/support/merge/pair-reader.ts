import type { Random } from '../random.js';
import { V1, type Json } from '../resources.js';
import type { PairWriter } from './pair-writer.js';
import { heldBy, type Held, type PairState, type Side } from './recorded.js';

/** One kind of question, and what its answer is in a state, as one text. */
interface Question {
  readonly name: string;
  readonly ask: () => Promise<string>;
  readonly of: (state: PairState) => string;
}

const MERGED = 'merged';
/** A stream that says that it is of several moments. */
const TORN = 'torn';
/** 503: nothing was said of any moment. */
const BUSY = 'busy';
const NONE = 'none';
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
    private readonly url: string,
    private readonly random: Random,
    private readonly pair: PairWriter,
  ) {}

  /** Asks one question; null: the answer is of a moment. */
  async ask(): Promise<Wrong | null> {
    const { name, ask, of } = this.random.pick(this.#questions());
    const asked = performance.now();
    const found = await ask();
    const possible = this.pair.recorded.between(asked, performance.now()).map(of);
    return found === TORN || found === BUSY || possible.includes(found)
      ? null
      : { question: name, found, possible: [...new Set(possible)] };
  }

  #questions(): Question[] {
    const side = this.random.pick(['source', 'target'] as const);
    const ehrId = this.pair.ehrIds[side];
    const id = this.random.pick([...this.pair.recorded.now.held.keys()]);
    return [...this.#resources(side, ehrId, id), ...this.#queries(side, ehrId), ...this.#ofBoth()];
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
      this.#query(`stream of ${side}`, select, { ehr_id: ehrId, isStream: true }, uids),
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
        (['source', 'target'] as const).flatMap((side) =>
          (heldBy(side, state) ?? []).map(([, { uid }]) => cells(uid, this.pair.ehrIds[side])),
        ),
      );
    const select = `SELECT c/uid/value, e/ehr_id/value ${COMPOSITIONS} ${where}`;
    const rows = all((uid, ehrId) => `${uid},${ehrId}`);
    return [
      this.#query('rows of both', select, {}, rows),
      this.#query('stream of both', select, { isStream: true }, rows),
      this.#query('ordered rows of both', `${select} ORDER BY c/uid/value LIMIT 1000`, {}, rows),
      this.#query(`groups of both`, `SELECT c/name/value, COUNT(*) ${COMPOSITIONS} ${where}`, {}, (state) =>
        state.held.size === 0 ? '' : `Minimal,${state.held.size}`,
      ),
    ];
  }

  #get(
    name: string,
    path: string,
    read: (text: string) => string,
    of: (state: PairState) => string,
  ): Question {
    return { name, of, ask: async () => answered(await fetch(`${this.url}${path}`), read) };
  }

  #query(
    name: string,
    q: string,
    { isStream, ...further }: { readonly ehr_id?: string; readonly isStream?: boolean },
    of: (state: PairState) => string,
  ): Question {
    const Accept = isStream === true ? 'application/x-ndjson' : 'application/json';
    const headers = { 'Content-Type': 'application/json', Accept };
    const body = JSON.stringify({ q, ...further });
    const rows = (text: string): unknown[][] =>
      isStream === true
        ? text
            .split('\n')
            .slice(1, -1)
            .map((line) => JSON.parse(line) as unknown[])
        : (JSON.parse(text) as { rows: unknown[][] }).rows;
    const ask = async (): Promise<string> =>
      answered(await fetch(`${this.url}${V1}/query/aql`, { method: 'POST', headers, body }), (text) =>
        isTorn(text) ? TORN : sorted(rows(text).map((row) => row.join())),
      );
    return { name, of, ask };
  }
}

async function answered(response: Response, read: (text: string) => string): Promise<string> {
  const text = await response.text();
  if (response.status === 200) return read(text);
  if (response.status === 503) return BUSY;
  if (response.status !== 404) return `${response.status} ${text}`;
  return response.headers.get('Link')?.includes('successor-version') === true ? MERGED : NONE;
}

/** Of the first line, or of all. */
function isTorn(text: string): boolean {
  return text.split('\n', 1)[0]!.includes('"_snapshot":false');
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
