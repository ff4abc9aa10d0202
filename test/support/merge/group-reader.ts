import type { Random } from '../random.js';
import { BUSY, ENDED, type Asked, type Part } from './asked.js';
import type { GroupWriter } from './group-writer.js';
import { queryQuestions } from './query-questions.js';
import { resourceQuestions } from './resource-questions.js';

/** An answer that is of no moment between question and answer. */
export interface Wrong {
  readonly question: string;
  readonly found: string;
  /** By state that was possible, what of it is missing (-) and what is no part of it (+). */
  readonly possible: readonly string[];
}

/** What was answered: something, that the server is busy, or what broke off. `wrong`: what of it was never so; known when the change beside it is done. */
export interface Asking {
  readonly question: string;
  readonly kind: 'answered' | typeof BUSY | typeof ENDED;
  readonly wrong: Promise<Wrong | null>;
}

/** Asks about a group in all ways. */
export class GroupReader {
  constructor(
    private readonly urls: readonly string[],
    private readonly random: Random,
    private readonly group: GroupWriter,
  ) {}

  /** Asks one question. */
  async ask(): Promise<Asking> {
    const { recorded, ehrIds } = this.group;
    const { now, changes } = recorded;
    const about: Asked = { url: this.random.pick(this.urls), ehrIds, now, changes };
    const kind = this.random.pick([resourceQuestions, queryQuestions]);
    const { name, ask, of } = this.random.pick(kind(about, this.random));
    const asked = performance.now();
    const found = await ask();
    const answered = performance.now();
    // Only what is sent while it is read may break off.
    if (found === BUSY || (found === ENDED && /stream|CSV/.test(name)))
      return { question: name, kind: found, wrong: Promise.resolve(null) };
    const parts: readonly Part[] = typeof found === 'string' ? [{ found, of }] : found;
    return { question: name, kind: 'answered', wrong: this.#judged(name, parts, [asked, answered]) };
  }

  async #judged(
    question: string,
    parts: readonly Part[],
    [asked, answered]: readonly [number, number],
  ): Promise<Wrong | null> {
    const states = await this.group.recorded.between(asked, answered);
    for (const { found, of } of parts) {
      if (states.some((state) => of(state) === found)) continue;
      const possible = states.map((state) => `after ${state.after}: ${difference(of(state), found)}`);
      return { question, found: shortened(found), possible };
    }
    return null;
  }
}

const MOST_SHOWN = 500;

function shortened(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

function difference(wanted: string, found: string): string {
  const [all, there] = [wanted.split(' '), found.split(' ')];
  const missing = all.filter((one) => !there.includes(one)).map((one) => `-${one}`);
  const more = there.filter((one) => !all.includes(one)).map((one) => `+${one}`);
  return shortened(`${all.length} of ${there.length}: ${[...missing, ...more].join(' ')}`);
}
