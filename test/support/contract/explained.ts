import { CHANGES } from './changes.js';
import { differencesOf, type Replayed } from './replay.js';

/** Any uuid. */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Judges the answers of one recording in their order, and remembers which changes it met. */
export class Judge {
  /** `told` of each change that explained something. */
  readonly met = new Set<string>();
  /** Ids in requests that had another outcome than before: what is asked of those later differs as well. */
  readonly #otherwise = new Set<string>();

  /** Whether each difference is one that is meant, or follows from one. */
  isExplained(replayed: Replayed): boolean {
    let { then, now } = replayed;
    let differences = replayed.differences;
    for (const change of CHANGES) {
      if (!('without' in change)) continue;
      then = change.without(then);
      now = change.without(now);
      const left = differencesOf(then, now);
      if (left.length < differences.length || (left.length > 0 && then.body !== replayed.then.body))
        this.met.add(change.told);
      differences = left;
    }
    if (differences.length === 0) return true;
    const plain = { ...replayed, then, now, differences };
    const change = CHANGES.find((known) => 'isOf' in known && known.isOf(plain));
    if (change !== undefined) {
      this.met.add(change.told);
      if (isDone(then.status) !== isDone(now.status)) this.#remember(replayed);
    }
    return change !== undefined || this.#follows(replayed);
  }

  /** What a request was about: what it names, and what it made. */
  #remember({ exchange, then, now }: Replayed): void {
    const made = [then, now].map(({ headers }) => headers['location'] ?? '').join(' ');
    for (const id of `${exchange.url} ${made}`.match(UUID) ?? []) this.#otherwise.add(id);
  }

  #follows({ exchange, then, now }: Replayed): boolean {
    const named = `${exchange.url} ${then.body} ${now.body}`.match(UUID) ?? [];
    return named.some((id) => this.#otherwise.has(id));
  }
}

const isDone = (status: number): boolean => status < 400;
