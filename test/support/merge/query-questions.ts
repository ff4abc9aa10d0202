import type { Random } from '../random.js';
import {
  answerOf,
  CSV,
  MERGED,
  NDJSON,
  sorted,
  type Asked,
  type Question,
  type RowsOfEach,
} from './asked.js';
import { heldBy, liveOf, SIDES, uidOf, type GroupState, type Held, type Side } from './recorded.js';

/** COMPOSITIONs of which pairs are made, and changes after which there are too many versions to evaluate. */
const MOST_PAIRED = 60;
const MOST_EVALUATED = 300;
const COMPOSITIONS = 'FROM EHR e CONTAINS COMPOSITION c';

/** What is asked by AQL, of one EHR and of all of a group. */
export function queryQuestions(asked: Asked, random: Random): Question[] {
  const side = random.pick(SIDES);
  const { versions } = random.pick([...asked.now.held.values()]);
  const queries = new Queries(asked, side);
  return [
    ...queries.ofOne(),
    ...queries.ofAll(),
    ...queries.ofVersions(random.pick(versions).time),
    ...queries.ofParts(),
    ...queries.pairs(),
    ...queries.evaluated(),
  ];
}

class Queries {
  readonly #ehrId: string;
  readonly #where: string;

  constructor(
    private readonly asked: Asked,
    private readonly side: Side,
  ) {
    const { ehrIds } = asked;
    this.#ehrId = ehrIds[side];
    const all = SIDES.map((one) => `'${ehrIds[one]}'`);
    this.#where = `WHERE e/ehr_id/value matches {${all.join()}}`;
  }

  ofOne(): Question[] {
    const { side } = this;
    const uids = this.#one((state) => liveOf(side, state)!.map(([, one]) => uidOf(one)));
    const select = `SELECT c/uid/value ${COMPOSITIONS}`;
    return [
      this.#ask(`rows of ${side}`, select, uids),
      this.#ask(`stream of ${side}`, select, uids, NDJSON),
      this.#ask(`CSV of ${side}`, select, uids, CSV),
      this.#ask(`ordered rows of ${side}`, `${select} ORDER BY c/uid/value`, uids),
      this.#ask(
        `count of ${side}`,
        `SELECT COUNT(*) ${COMPOSITIONS}`,
        this.#one((state) => [String(liveOf(side, state)!.length)]),
      ),
    ];
  }

  ofAll(): Question[] {
    const select = `SELECT c/uid/value, e/ehr_id/value ${COMPOSITIONS} ${this.#where}`;
    return [
      this.#ofAll('rows of all', select, this.#rows),
      this.#ofAll('stream of all', select, this.#rows, NDJSON),
      this.#ofAll('ordered rows of all', `${select} ORDER BY c/uid/value LIMIT 1000`, this.#rows),
      this.#of('groups of all', `SELECT c/name/value, COUNT(*) ${COMPOSITIONS} ${this.#where}`, (state) => {
        const live = [...state.held.values()].filter(({ versions }) => versions.at(-1)!.hasContent);
        const lists = live.filter(({ isList }) => isList).length;
        const groups = { Minimal: live.length - lists, 'Persistent minimal': lists };
        return sorted(
          Object.entries(groups).flatMap(([name, count]) => (count > 0 ? [`${name},${count}`] : [])),
        );
      }),
    ];
  }

  /** VERSIONs, all of them and those of a moment. */
  ofVersions(time: number): Question[] {
    const { side } = this;
    const all = (one: Held): string[] =>
      one.versions.flatMap(({ uid, hasContent }) => (hasContent ? [uid] : []));
    const then = ({ versions }: Held): string[] => {
      const version = versions.findLast((each) => each.time <= time);
      return version?.hasContent === true ? [version.uid] : [];
    };
    const of = (uids: (one: Held) => readonly string[]) =>
      this.#one((state) => heldBy(side, state)!.flatMap(([, one]) => uids(one)));
    const rowsAt: RowsOfEach = (each, state) =>
      (heldBy(each, state) ?? []).flatMap(([, one]) =>
        then(one).map((uid) => `${uid},${this.asked.ehrIds[each]}`),
      );
    const asOf = new Date(time).toISOString();
    const select = `SELECT c/uid/value, e/ehr_id/value ${COMPOSITIONS} ${this.#where}`;
    const versions = `SELECT v/uid/value FROM EHR e CONTAINS VERSION v`;
    const questions = [
      this.#ask(
        `VERSIONs of ${side}`,
        `${versions} CONTAINS COMPOSITION c`,
        of((one) => (one.versions.at(-1)!.hasContent ? [uidOf(one)] : [])),
      ),
      this.#ask(
        `COMPOSITIONs of ${side} then`,
        { q: `SELECT c/uid/value ${COMPOSITIONS}`, as_of: asOf },
        of(then),
      ),
      this.#ofAll('COMPOSITIONs of all then', { q: select, as_of: asOf }, rowsAt),
    ];
    if (this.asked.changes > MOST_EVALUATED) return questions;
    const everything = `${versions}[all_versions] CONTAINS COMPOSITION c`;
    return [
      ...questions,
      this.#ask(`all VERSIONs of ${side}`, everything, of(all)),
      this.#ask(`stream of all VERSIONs of ${side}`, everything, of(all), NDJSON),
    ];
  }

  /** EHR_STATUS and directory, beside COMPOSITIONs. */
  ofParts(): Question[] {
    const { side } = this;
    const statuses: RowsOfEach = (each, { into, status }) =>
      into[each] === undefined ? [`${status[each]},${this.asked.ehrIds[each]}`] : [];
    const folders: RowsOfEach = (each, { into, directory }) =>
      into[each] === undefined && directory[each] !== null
        ? [`${directory[each]},${this.asked.ehrIds[each]}`]
        : [];
    const select = 'e/ehr_id/value FROM EHR e CONTAINS';
    return [
      this.#ofAll('EHR_STATUS of all', `SELECT s/uid/value, ${select} EHR_STATUS s ${this.#where}`, statuses),
      this.#ofAll(
        'directories of all',
        `SELECT DISTINCT v/uid/value, ${select} VERSION v CONTAINS FOLDER f ${this.#where}`,
        folders,
      ),
      this.#ask(
        `EHR_STATUS and rows of ${side}`,
        'SELECT c/uid/value, s/uid/value FROM EHR e CONTAINS (EHR_STATUS s AND COMPOSITION c)',
        this.#one((state) => liveOf(side, state)!.map(([, one]) => `${uidOf(one)},${state.status[side]}`)),
      ),
    ];
  }

  /** Streams of more rows than one command of the database gives, while that is not too many. */
  pairs(): Question[] {
    if (this.asked.now.held.size > MOST_PAIRED) return [];
    const { side } = this;
    const select = 'SELECT c/uid/value, d/uid/value, e/ehr_id/value';
    const from = 'FROM EHR e CONTAINS (COMPOSITION c AND COMPOSITION d)';
    const pairs: RowsOfEach = (each, state) => {
      const uids = (liveOf(each, state) ?? []).map(([, one]) => uidOf(one));
      return uids.flatMap((one) => uids.map((other) => `${one},${other},${this.asked.ehrIds[each]}`));
    };
    const ofOne = this.#one((state) => pairs(side, state));
    const query = { q: `${select} ${from}`, ehr_id: this.#ehrId };
    return [
      {
        name: `stream of pairs of ${side}`,
        of: ofOne,
        ask: () => answerOf(this.asked, query, { accept: NDJSON, ofEach: pairs }),
      },
      this.#ofAll('stream of pairs of all', `${select} ${from} ${this.#where}`, pairs, NDJSON),
    ];
  }

  /** Queries of whole objects, which the evaluator answers by all versions, while these are not too many. */
  evaluated(): Question[] {
    if (this.asked.changes > MOST_EVALUATED) return [];
    const { side } = this;
    const select = 'SELECT c/uid/value, e/ehr_id/value, COUNT(DISTINCT c/content)';
    const counted: RowsOfEach = (each, state) => this.#rows(each, state).map((row) => `${row},1`);
    return [
      this.#ask(
        `contents of ${side}`,
        `${select} ${COMPOSITIONS}`,
        this.#one((state) => counted(side, state)),
      ),
      this.#ofAll('contents of all', `${select} ${COMPOSITIONS} ${this.#where}`, counted),
    ];
  }

  readonly #rows: RowsOfEach = (each, state) =>
    (liveOf(each, state) ?? []).map(([, one]) => `${uidOf(one)},${this.asked.ehrIds[each]}`);

  /** Rows of the one EHR, unless it is merged. */
  #one(rows: (state: GroupState) => readonly string[]): (state: GroupState) => string {
    return (state) => (state.into[this.side] === undefined ? sorted(rows(state)) : MERGED);
  }

  #ask(
    name: string,
    query: string | Dated,
    of: (state: GroupState) => string,
    accept = 'application/json',
  ): Question {
    const asked = { ...dated(query), ehr_id: this.#ehrId };
    return { name, of, ask: () => answerOf(this.asked, asked, { accept }) };
  }

  #ofAll(name: string, query: string | Dated, ofEach: RowsOfEach, accept = 'application/json'): Question {
    const of = (state: GroupState): string => sorted(SIDES.flatMap((side) => ofEach(side, state)));
    return { name, of, ask: () => answerOf(this.asked, dated(query), { accept, ofEach }) };
  }

  #of(name: string, q: string, of: (state: GroupState) => string): Question {
    return { name, of, ask: () => answerOf(this.asked, { q }) };
  }
}

/** A query, and as of when it is asked. */
interface Dated {
  readonly q: string;
  readonly as_of: string;
}

function dated(query: string | Dated): { readonly q: string; readonly as_of?: string } {
  return typeof query === 'string' ? { q: query } : query;
}
